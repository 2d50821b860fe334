#!/usr/bin/env python3
"""Draws the wings of hsadrv/ and tools/kfdemu/ from their includes, as SVG on standard output.

Usage: picture.py SOURCE-ROOT            prints the picture
       picture.py --check SOURCE-ROOT    compares it with docs/internals/house.svg; fails if that is another one

A box is a wing: the wider, the more files. The wing at the bottom includes no other. An arc on the right joins a wing with one that it includes,
in one of three strengths: up to 9 includes, up to 29, more. So few commits change the picture."""
import math
import sys
from collections import Counter
from pathlib import Path

import wings

ROW, GAP, LEFT, TOP = 46, 14, 40, 60
WIDEST, ARCS = 300, 190
COLOURS = ["#4c6e91", "#5a8f7b", "#a3853f", "#a0594a", "#75608f", "#4f7f9b", "#8a6d52", "#5d7a4a"]


def count(house: Path, prefix: str, order: list[str]) -> tuple[Counter, Counter]:
    """Files of each wing, and includes from one wing to another."""
    where = wings.wing_of(house, order)
    files, includes = Counter(), Counter()
    for file in wings.sources(house):
        wing = where.get(str(file.relative_to(house)))
        if wing is None:
            continue
        files[wing] += 1
        for line in file.read_text().splitlines():
            match = wings.INCLUDE.match(line)
            target = where.get(match[1].removeprefix(prefix)) if match else None
            if target and target != wing:
                includes[wing, target] += 1
    return files, includes


def draw(x: int, name: str, order: list[str], files: Counter, includes: Counter) -> list[str]:
    """One house, with its left edge at x."""
    row = {wing: TOP + (len(order) - 1 - level) * (ROW + GAP) for level, wing in enumerate(order)}
    edge = x + LEFT + WIDEST
    out = [f'<text x="{x + LEFT}" y="{TOP - 22}" class="title">{name}/</text>']
    for (wing, target), number in sorted(includes.items(), key=lambda item: item[0]):
        level, depth = order.index(wing), order.index(wing) - order.index(target)
        start, end = row[wing] + ROW * 0.62, row[target] + ROW * 0.38
        reach = 24 + (ARCS - 40) * depth / len(order)
        colour = COLOURS[level % len(COLOURS)]
        out.append(f'<path d="M{edge},{start:.0f} C{edge + reach:.0f},{start:.0f} {edge + reach:.0f},{end:.0f} {edge},{end:.0f}" fill="none" '
                   f'stroke="{colour}" stroke-opacity="0.55" stroke-width="{1.2 if number < 10 else 2.6 if number < 30 else 4.5}">'
                   f'<title>{wing} includes {target}</title></path>')
    for level, wing in enumerate(order):
        y, width = row[wing], WIDEST * math.sqrt((files[wing] + 9) // 10 / ((max(files.values()) + 9) // 10))
        colour = COLOURS[level % len(COLOURS)]
        out.append(f'<rect x="{edge - width:.0f}" y="{y}" width="{width:.0f}" height="{ROW}" rx="5" fill="{colour}"/>')
        out.append(f'<text x="{edge - 14}" y="{y + 29}" class="wing" text-anchor="end">{wing}</text>')
    return out


def picture(root: Path) -> str:
    houses = [(name, wings.order_of(root / name)) for name in wings.HOUSES]
    width = len(houses) * (LEFT + WIDEST + ARCS) + 20
    height = TOP + max(len(order) for _, order in houses) * (ROW + GAP) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
           "<style>.title{font-size:20px;font-weight:bold;fill:#333}.wing{font-size:17px;font-weight:bold;fill:#fff}</style>",
           f'<rect width="{width}" height="{height}" fill="#fbfaf7"/>']
    tallest = max(len(order) for _, order in houses)
    for number, (name, order) in enumerate(houses):
        files, includes = count(root / name, f"{name}/", order)
        out.append(f'<g transform="translate(0,{(tallest - len(order)) * (ROW + GAP)})">')
        out += draw(number * (LEFT + WIDEST + ARCS), name, order, files, includes)
        out.append("</g>")
    return "\n".join(out + ["</svg>"]) + "\n"


def main() -> int:
    check = sys.argv[1] == "--check"
    root = Path(sys.argv[-1])
    text = picture(root)
    if not check:
        print(text, end="")
        return 0
    file = root / "docs/internals/house.svg"
    same = file.exists() and file.read_text() == text
    if not same:
        print(f"{file} shows another house: tests/house/picture.py . >docs/internals/house.svg")
    print(f"{int(same)} passed, {int(not same)} failed")
    return not same


if __name__ == "__main__":
    sys.exit(main())
