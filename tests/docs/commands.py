#!/usr/bin/env python3
"""Runs the shell commands of a page, from top to bottom, in a folder with the files that the page shows, and compares what each
block prints with the page. Usage: commands.py [--clone SOURCE-ROOT BUILD-ROOT] PAGE.md [VARIABLE=VALUE...]

Blocks are described in snippets.py; those that are skipped are named. A block of commands fails if one of its commands does; with a
text after it, the entire output is compared, where "…" stands for anything within a line, and as the last line for all following lines.

--clone: the folder looks like the clone, with the build folder as build/. tools/demo and tools/test are not run: they made it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from snippets import fail, read

BUILDERS = re.compile(r"^tools/(demo|test)\b.*\n", re.M)


def pattern(text):
    """For the whole output. Runs of blanks are equal: the width of columns depends on their figures."""
    text = re.sub(r"[ \t]+", " ", text)
    open_end = text.endswith("…\n")
    parts = [re.escape(part) for part in text.removesuffix("…\n" if open_end else "").split("…")]
    return re.compile(r"[^\n]*".join(parts) + (r".*" if open_end else ""), re.S)


def show_clone(folder, source, build):
    for path in source.resolve().iterdir():
        if path.name != "build" and not path.name.startswith("."):
            (folder / path.name).symlink_to(path)
    (folder / "build").symlink_to(build.resolve())


def run(page, folder, environment):
    """Runs the page in the folder: the numbers of its blocks that passed and that were skipped."""
    blocks, _ = read(page)
    expected = {}  # of each block of commands: the text after it
    for before, block in zip([None, *blocks], blocks):
        if block.kind == "text":
            if before is None or before.kind != "sh":
                fail(page, block.line, "there are no commands before it that could print it")
            expected[before] = block
    passed = skipped = 0
    for block in blocks:
        if match := re.fullmatch(r"\w+ in (.*)", block.kind):
            (folder / match[1]).write_text(block.text, encoding="utf-8")
        elif block.needs and not pathlib.Path(block.needs).exists():
            print(f"SKIPPED: {page}:{block.line}: there is no {block.needs}")
            skipped += 1
        elif block.kind == "sh":
            commands = BUILDERS.sub("", block.text)
            if not commands.strip():
                continue
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
            if done.returncode != 0:
                fail(page, block.line, f"exit status {done.returncode}; it printed\n{done.stdout}")
            text = expected.get(block)
            if text and not pattern(text.text).fullmatch(re.sub(r"[ \t]+", " ", done.stdout)):
                fail(page, text.line, f"the commands before it printed\n{done.stdout}instead of\n{text.text}")
            passed += 1
        elif block.kind != "text":
            fail(page, block.line, f"a block of the kind '{block.kind}' on a page of commands would only be shown")
    return passed, skipped


def main(*arguments):
    roots = []
    if arguments[0] == "--clone":
        roots = [pathlib.Path(root) for root in arguments[1:3]]
        arguments = arguments[3:]
    page, *variables = arguments
    environment = os.environ | dict(variable.split("=", 1) for variable in variables)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        if roots:
            show_clone(pathlib.Path(folder), *roots)
        passed, skipped = run(page, pathlib.Path(folder), environment)
    print(f"{passed} passed, 0 failed, {skipped} skipped")
    return passed == 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] == "--clone" and len(sys.argv) < 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
