#!/usr/bin/env python3
"""Programs and libraries of the build run on releases other than the one they were built on: they need no library whose soname changes between them.

Usage: needed.py BUILD-FOLDER
Prints what is needed beyond SAME_EVERYWHERE by a target that is installed, and libfmt by any target. Targets that are not built are not checked."""
import json
import re
import subprocess
import sys
from pathlib import Path

# In Debian 12 and newer.
SAME_EVERYWHERE = re.compile(r"lib(c|m|stdc\+\+)\.so\.6|libpthread\.so\.0|libdl\.so\.2|librt\.so\.1|libgcc_s\.so\.1|ld-linux-.*\.so\.2"
                             r"|lib(hsa-runtime64|zstd|z|dw|elf)\.so\.1|lib(hsadrv|devicearray)\.so\.0|libkfdemu\.so")
CHANGES = re.compile(r"libfmt\.so")


def needed(file: Path) -> list[str]:
    said = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.+)\]", said)


def main() -> int:
    targets = json.loads(Path(sys.argv[1], "meson-info/intro-targets.json").read_text())
    passed, failed = 0, 0
    for target in targets:
        file = Path(target["filename"][0])
        if target["type"] not in ("executable", "shared library", "shared module") or not file.exists():
            continue
        wrong = [name for name in needed(file) if CHANGES.match(name) or target["installed"] and not SAME_EVERYWHERE.fullmatch(name)]
        if wrong:
            print(f"{file} needs {', '.join(wrong)}")
        failed, passed = failed + bool(wrong), passed + (not wrong)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
