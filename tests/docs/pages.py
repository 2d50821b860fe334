#!/usr/bin/env python3
"""The README and the pages of docs/ hold together: their links lead to files and headings that are there, and the names in the tables
for those who come from HIP and from Numba are names of the headers. Usage: pages.py SOURCE-ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
headers = "\n".join(path.read_text(encoding="utf-8") for folder in ("hsadrv", "devicearray", "shared")
                    for path in (root / folder).rglob("*.hpp"))
checks = []


def prose(page):
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page):
    """As GitHub makes them of headings."""
    titles = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


for page in pages:
    for link, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose(page)):
        target = page.parent / link if link else page
        good = target.exists() and (not anchor or anchor in anchors(target))
        checks.append((good, f"{page.relative_to(root)}: its link to {link}#{anchor} leads somewhere"))
for row in re.findall(r"^\| `.*$", (root / "docs/README.md").read_text(encoding="utf-8"), re.M):
    for name in re.findall(r"`([\w:]+)`", row.split("|")[2]):
        good = all(re.search(rf"\b{part}\b", headers) for part in name.split("::"))
        checks.append((good, f"docs/README.md: {name} is a name of the headers"))

for good, what in checks:
    if not good:
        print("FAILED:", what)
passed = sum(good for good, _ in checks)
print(f"{passed} passed, {len(checks) - passed} failed, 0 skipped")
sys.exit(passed != len(checks) or len(checks) < 50)
