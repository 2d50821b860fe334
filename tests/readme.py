#!/usr/bin/env python3
"""The README tells the truth: its program is examples/vector_add.cpp word for word, the folders of its map exist, and
its links lead somewhere. Usage: readme.py SOURCE-ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
readme = (root / "README.md").read_text(encoding="utf-8")
checks = []

program = (root / "examples/vector_add.cpp").read_text(encoding="utf-8")
checks.append((f"```cpp\n{program}```" in readme, "its program is examples/vector_add.cpp, word for word"))
for folder in re.findall(r"^\| `([^`]+/)` \|", readme, re.M):
    checks.append(((root / folder).is_dir(), f"its map names {folder}, which is there"))
for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", readme):
    checks.append(((root / link).exists(), f"its link to {link} leads somewhere"))

for right, what in checks:
    if not right:
        print("FAILED:", what)
passed = sum(right for right, _ in checks)
print(f"{passed} passed, {len(checks) - passed} failed, 0 skipped")
sys.exit(passed != len(checks))
