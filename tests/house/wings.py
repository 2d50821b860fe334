#!/usr/bin/env python3
"""Includes of hsadrv/ and tools/kfdemu/ go down the list of wings and never back; each line that does is printed.

Usage: wings.py SOURCE-ROOT
A wing is a folder. Its meson.build lists its sources, and those of the flat public headers that are the wing's ('../NAME.hpp')."""
import re
import sys
from pathlib import Path

# From the ground up: a file includes what is in its own wing or in one before it.
HOUSES = {
    "hsadrv": ["base", "code", "compile", "signal", "memory", "queue", "stream", "services", "launch", "driver", "c"],
    "tools/kfdemu": ["base", "gfx9", "jit", "check", "count", "dispatch", "resources", "queues", "kfd", "boundary", "lines", "tool"],
}
# Sources that lie in no wing.
OUTSIDE = {"hsadrv": ["hsadrv.hpp", "hsadrv.h", "precompiled/hsa.hpp"], "tools/kfdemu": ["kfdemu.h", "main.cpp", "precompiled/kfdemu.hpp"]}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


SUFFIXES = (".cpp", ".hpp", ".h", ".inc")


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


def named(include: str, file: Path, house: Path, prefix: str) -> str | None:
    """What the include names, as seen from the house; None: something else."""
    if include.startswith(prefix):
        return include[len(prefix):]
    for folder in (file.parent, house):
        path = (folder / include).resolve()
        if path.exists() and path.is_relative_to(house.resolve()):
            return str(path.relative_to(house.resolve()))
    return None


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
            target = match and named(match[1], file, house, prefix)
            if not target:
                continue
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
    root = Path(sys.argv[1])
    passed, failed = 0, 0
    for name, wings in HOUSES.items():
        seen, wrong = check(root / name, f"{name}/", wings, OUTSIDE[name])
        for line in wrong:
            print(line)
        failed += len(wrong)
        passed += seen - len(wrong)
        if seen == 0:
            print(f"{name}: no include was found")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
