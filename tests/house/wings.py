#!/usr/bin/env python3
"""Includes of hsadrv/ and tools/kfdemu/ go down the list of wings and never back; each line that does is printed.

Usage: wings.py [--write] SOURCE-ROOT
A wing is a folder. The subdir() lines of its house's meson.build are the list. Its own meson.build begins with a paragraph on what it contains, and
lists its sources, and those of the flat public headers that are the wing's ('../NAME.hpp'). CONTRIBUTING.md has these paragraphs in the order of
the list; --write rewrites them there."""
import re
import sys
import textwrap
from pathlib import Path

HOUSES = ["hsadrv", "tools/kfdemu"]
# Sources in no wing.
OUTSIDE = {"hsadrv": ["hsadrv.hpp", "hsadrv.h", "precompiled/hsa.hpp"], "tools/kfdemu": ["kfdemu.h", "main.cpp", "precompiled/kfdemu.hpp"]}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


SUFFIXES = (".cpp", ".hpp", ".h", ".inc")


def order_of(house: Path) -> list[str]:
    """Its wings, from the ground up: a file includes what is in its own wing or in one before it."""
    return re.findall(r"^subdir\('(\w+)'\)", (house / "meson.build").read_text(), re.MULTILINE)


def paragraph_of(wing: Path) -> str:
    """What it contains, as its meson.build says first."""
    lines = re.match(r"(# .*\n)*", (wing / "meson.build").read_text())[0].splitlines()
    return " ".join(line[2:] for line in lines)


def entries(root: Path, house: str) -> str:
    """The house's list in CONTRIBUTING.md."""
    texts = [f"- `{wing}`: {paragraph_of(root / house / wing)}" for wing in order_of(root / house)]
    return "".join(textwrap.fill(text, 150, subsequent_indent="  ", break_on_hyphens=False) + "\n" for text in texts)


def check_map(root: Path, write: bool) -> list[str]:
    """CONTRIBUTING.md's lists."""
    file = root / "CONTRIBUTING.md"
    text = file.read_text()
    for house in HOUSES:
        heading = f"The wings of `{house}/`:\n\n"
        if heading not in text:
            return [f"{file} has no list after '{heading.strip()}'"]
        before, rest = text.split(heading, 1)
        text = before + heading + entries(root, house) + rest[rest.index("\n\n") + 1:]
    if text == file.read_text():
        return []
    if write:
        file.write_text(text)
        return []
    return [f"{file} does not list the wings as their meson.build do: tests/house/wings.py --write ."]


def sources(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.suffix in SUFFIXES)


def wing_of(house: Path, wings: list[str]) -> dict[str, str]:
    """Every file of the house, as includes name it, and its wing."""
    where = {}
    for wing in wings:
        for name in re.findall(r"'\.\./([a-z0-9_]+\.hpp)'", (house / wing / "meson.build").read_text()):
            if name in where:
                sys.exit(f"{house / name} is listed by the wings {where[name]} and {wing}")
            where[name] = wing
        for file in sources(house / wing):
            where[str(file.relative_to(house))] = wing
    return where


def check(house: Path, prefix: str, wings: list[str], outside: list[str]) -> tuple[int, list[str]]:
    where = wing_of(house, wings)
    seen, wrong = 0, []
    for file in sources(house):
        name = str(file.relative_to(house))
        if name not in where:
            if name not in outside:
                wrong.append(f"{file}: no wing's meson.build lists it")
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or not match[1].startswith(prefix):
                continue
            target = match[1].removeprefix(prefix)
            if target in outside:
                continue
            if target not in where:
                wrong.append(f"{file}:{number}: {line.strip()}: no wing has that file")
                continue
            seen += 1
            if wings.index(where[target]) > wings.index(where[name]):
                wrong.append(f"{file}:{number}: {line.strip()}: {where[name]} does not know {where[target]}")
    return seen, wrong


def main() -> int:
    write = sys.argv[1] == "--write"
    root = Path(sys.argv[-1])
    wrong, passed = check_map(root, write), 0
    for name in HOUSES:
        seen, ones = check(root / name, f"{name}/", order_of(root / name), OUTSIDE[name])
        wrong += ones if seen else [f"{name}: no include was found"]
        passed += seen - len(ones)
    for line in wrong:
        print(line)
    print(f"{passed} passed, {len(wrong)} failed")
    return len(wrong) != 0


if __name__ == "__main__":
    sys.exit(main())
