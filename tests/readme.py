#!/usr/bin/env python3
"""The README tells the truth: it is short, the folders of its map exist, tools/demo or a command above builds what its commands use,
and these run in the order written. docs/pages.py follows its links. Usage: readme.py SOURCE-ROOT BUILD-ROOT"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
root, build = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
sys.path.insert(0, str(root / "tests/docs"))
from commands import run, show_clone  # noqa: E402
from snippets import read  # noqa: E402

page = root / "README.md"
readme = page.read_text(encoding="utf-8")
count = {"passed": 0, "failed": 0, "skipped": 0}


def check(good, what):
    count["passed" if good else "failed"] += 1
    if not good:
        print("FAILED:", what)


def made_by(target):
    """The files that ninja's commands for a target name."""
    done = subprocess.run(["ninja", "-t", "commands", target], cwd=build, text=True, stdout=subprocess.PIPE, check=True)
    return set(done.stdout.split())


# What programs load when they run.
LOADED = {"tools/kfdemu/kfdemu": ["tools/kfdemu/libkfdemu.so", "tools/kfdemu/tool/libkfdemu-tool.so"]}


def check_what_commands_use():
    made, checked = made_by("demo"), set()
    for block in read(page)[0]:
        for line in block.lines if block.kind == "sh" else []:
            for used in re.findall(r"\bbuild/([\w./-]+)", line):
                for file in {used, *LOADED.get(used, [])} - checked:
                    checked.add(file)
                    check(file in made or (build / file).is_dir(), f"tools/demo or a command above builds {file}")
            if targets := re.match(r"ninja -C build ([^#]*)", line):
                made = made.union(*map(made_by, targets[1].split()))


def run_commands():
    # As in the shell of a reader: Meson sets LD_LIBRARY_PATH for its tests.
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    with tempfile.TemporaryDirectory() as folder:
        show_clone(pathlib.Path(folder), root, build)
        try:
            passed, skipped = run(page, pathlib.Path(folder), environment)
        except SystemExit as failure:
            return check(False, failure)
    count["passed"] += passed
    count["skipped"] += skipped


lines = len(readme.splitlines())
check(lines <= 150, f"it has at most 150 lines: {lines}")
for folder in re.findall(r"`([\w/-]+/)`", readme):
    check((root / folder).is_dir(), f"its map names {folder}, which is there")
check_what_commands_use()
run_commands()
print(", ".join(f"{number} {what}" for what, number in count.items()))
sys.exit(count["failed"] != 0)
