#!/usr/bin/env python3
"""Every source that a unity build compiles together with others compiles alone, too, as in other builds.

Usage: alone.py BUILD-FOLDER FOLDER...
Checks the sources in the named folders, with the flags of their targets; prints the errors of those that do not compile."""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path


def without_output(arguments: list[str]) -> list[str]:
    """The command without its source, its output and its list of dependencies."""
    kept, rest = [], iter(arguments)
    for argument in rest:
        if argument in ("-o", "-MF", "-MQ", "-c"):
            next(rest)
        elif argument != "-MD":
            kept.append(argument)
    return kept


def commands(build: Path, folders: list[Path]) -> dict[Path, list[str]]:
    """For each source the command that checks it."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        together = build / entry["file"]
        if "-unity" not in together.name:
            continue
        command = without_output(shlex.split(entry["command"]))
        for name in re.findall(r'^#include\s*[<"](.+)[>"]', together.read_text(), re.MULTILINE):
            source = (build / name).resolve()
            if any(source.is_relative_to(folder) for folder in folders):
                found.setdefault(source, [*command, "-fsyntax-only", str(source)])
    return found


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    checks = commands(build, [Path(folder).resolve() for folder in sys.argv[2:]])
    if not checks:
        sys.exit("alone.py: no source of these folders is compiled together with others")

    def check(source: Path) -> str:
        done = subprocess.run(checks[source], cwd=build, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [errors for errors in pool.map(check, sorted(checks)) if errors]
    print("\n".join(failed), end="")
    print(f"{len(checks) - len(failed)} passed, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
