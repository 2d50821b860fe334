#!/usr/bin/env python3
"""What the parts of the house include of each other: the rules 1 to 3 of CONTRIBUTING.md, and by what names. Each line that breaks one is printed.

Usage: doors.py SOURCE-ROOT
wings.py checks includes inside hsadrv/ and tools/kfdemu/."""
import re
import sys
from pathlib import Path

from wings import SUFFIXES

INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]')
GENERATED = ["imports.inc"]
PARTS = ["hsadrv", "devicearray", "shared", "tools", "examples"]
# An include that these parts do not have, why, and where they do, because …
RULES = [
    (r"hsa/", ["devicearray", "shared", "tools", "examples"], "hsadrv/ is the only access to HSA",
     {"tools/trace/record": "a tool that the HSA runtime loads: it wraps the runtime's functions and knows no hsadrv"}),
    (r"hsadrv/\w+/", ["devicearray", "examples"], "internal headers are hsadrv's own",
     {"devicearray/dlpack_import.cpp": "hsadrv/base/text.hpp writes addresses, inline, as hsadrv's messages do"}),
    (r"devicearray/", ["hsadrv", "shared"], "devicearray/ depends on hsadrv/, never the reverse", {}),
    (r"hsadrv/", ["shared", "tools/kfdemu"], "shared/ and tools/kfdemu/ use nothing of hsadrv/", {}),
    (r"(devicearray|shared)/", ["tools/kfdemu"], "tools/kfdemu/ shares no code with the libraries", {}),
    (r"tools/", ["hsadrv", "devicearray", "shared", "examples"], "the libraries use nothing of tools/", {}),
]


def includes(root: Path) -> list[tuple[str, int, str]]:
    """File, line and what it includes, of all parts."""
    found = []
    for part in PARTS:
        for file in sorted(file for file in (root / part).rglob("*") if file.suffix in (*SUFFIXES, ".c", ".cl")):
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if match := INCLUDE.match(line):
                    found.append((str(file.relative_to(root)), number, match[1]))
    return found


def misnamed(root: Path) -> list[str]:
    """Includes of the project's files by another name than the path from the source root."""
    found = []
    for part in ["hsadrv", "devicearray", "tools", "tests"]:
        for file in sorted(file for file in (root / part).rglob("*") if file.suffix in (*SUFFIXES, ".c")):
            if "kernels" in file.parts:
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = re.match(r'^\s*#\s*include\s+"([^">]+)"', line)
                if match and match[1] not in GENERATED and not (root / match[1]).is_file():
                    found.append(f"{file.relative_to(root)}:{number}: #include of {match[1]}: not a path from the source root")
    return found


def is_in(file: str, folders: list[str]) -> bool:
    return any(file == folder or file.startswith(folder + "/") for folder in folders)


def main() -> int:
    every = includes(Path(sys.argv[1]))
    failed = 0
    for pattern, folders, sentence, exceptions in RULES:
        named = [(file, number, name) for file, number, name in every if re.match(pattern, name) and is_in(file, folders)]
        for file, number, name in named:
            if not is_in(file, list(exceptions)):
                print(f"{file}:{number}: #include of {name}: {sentence}")
                failed += 1
        for folder in exceptions:
            if not any(is_in(file, [folder]) for file, _, _ in named):
                print(f"doors.py: {folder} is an exception to '{sentence}', and no longer needs to be")
                failed += 1
    for line in misnamed(Path(sys.argv[1])):
        print(line)
        failed += 1
    if not every:
        print("doors.py: no include was found")
        failed += 1
    print(f"{len(every) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
