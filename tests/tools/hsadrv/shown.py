"""Checks that a page shows a command's output. The page has it indented by four, as the first such block under a heading; "…" there is
anything within a line. Usage: shown.py PAGE.md HEADING <OUTPUT"""
import pathlib
import re
import sys

page, heading = sys.argv[1:]
lines = pathlib.Path(page).read_text(encoding="utf-8").splitlines()
shown = []
for line in lines[lines.index(f"## {heading}") + 1:]:
    if line.startswith("    ") or (shown and not line):
        shown.append(line[4:])
    elif shown:
        break


def plain(text):
    """Columns are as wide as what stands in them."""
    return re.sub(r"[ \t]+", " ", text).strip()


printed = sys.stdin.read()
pattern = r"[^\n]*".join(re.escape(part) for part in plain("\n".join(shown)).split("…"))
if not shown or not re.fullmatch(pattern, plain(printed)):
    print(f"{page} shows, under {heading},\n" + "\n".join(shown) + f"\nand what is printed is\n{printed}")
    sys.exit(1)
