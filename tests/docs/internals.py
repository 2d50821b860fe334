#!/usr/bin/env python3
"""The pages of docs/internals name what is there: each linked file exists, and each name in backticks of a step is an
identifier of one of the files that the step links, outside of comments and strings; of `Class::function` the class may
be in the header of the same stem. Names elsewhere on a page are those of any file that the page links, and what a list
item quotes beside a link to a test is in that test. Usage: internals.py SOURCE-ROOT"""
import functools
import os
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
STEP, ITEM = re.compile(r"\d+\. "), re.compile(r"(\d+\.|-) ")
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")
NAME = re.compile(r"^~?[A-Za-z_]\w*(?:::~?[A-Za-z_]\w*)*$")
# Text that is not code: comments and strings.
PROSE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)
COMPILED = {".c", ".h", ".cpp", ".hpp", ".inc"}
HEADERS = (".hpp", ".h")
checks = []


def shown(path):
    return os.path.relpath(path, root)


@functools.cache
def text_of(path):
    return path.read_text(encoding="utf-8") if path.is_file() else ""


@functools.cache
def identifiers(path):
    text = text_of(path)
    return frozenset(re.findall(r"[A-Za-z_]\w*", PROSE.sub(" ", text) if path.suffix in COMPILED else text))


def with_header(path):
    found = set(identifiers(path))
    for suffix in HEADERS:
        found |= identifiers(path.with_suffix(suffix))
    return found


def missing(name, files):
    """The parts of the name that no file has; empty if one file has all of them."""
    *scopes, last = name.replace("~", "").split("::")
    lacks = []
    for path in files:
        lacks.append([part for part in scopes if part not in with_header(path)] + [last] * (last not in identifiers(path)))
    return min(lacks, key=len) if lacks else scopes + [last]


def blocks(page):
    """Its list items, paragraphs and headings: (first line, lines). Fenced blocks are left out."""
    begin, lines, fenced = 0, [], False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines() + [""], 1):
        if line.startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced:
            line = ""
        if lines and (not line.strip() or ITEM.match(line) or line.startswith("#")):
            yield begin, lines
            lines = []
        if line.strip():
            begin = begin if lines else number
            lines.append(line)


def check(good, where, what):
    checks.append((good, f"{where}: {what}"))


def check_page(page):
    parts, everything, steps = list(blocks(page)), [], 0
    for first, lines in parts:
        for offset, line in enumerate(lines):
            for _, link in LINK.findall(line):
                path = (page.parent / link).resolve()
                check(path.exists(), f"{shown(page)}:{first + offset}", f"{shown(path)} is not there")
                if path.is_file() and path.suffix != ".md":
                    everything.append(path)
    check(everything, shown(page), "it names no file of the sources")
    for first, lines in parts:
        text = "\n".join(lines)
        links = [(page.parent / link).resolve() for _, link in LINK.findall(text)]
        files = [path for path in links if path.is_file() and path.suffix != ".md"]
        step = STEP.match(lines[0]) is not None
        steps += step
        if step:
            check(files, f"{shown(page)}:{first}", "the step links no file")
        searched = files if step else everything
        for offset, line in enumerate(lines):
            for name in re.findall(r"`([^`]+)`", LINK.sub("", line)):
                name = re.sub(r"<[^>]*>|\(\)$", "", name)
                if not NAME.match(name):
                    continue
                lacks = missing(name, searched)
                among = ", ".join(shown(path) for path in files) if step else "any one file that the page links"
                whole = "" if lacks == [name] else f", of {name},"
                check(not lacks, f"{shown(page)}:{first + offset}", f"{' and '.join(lacks)}{whole} is not in {among}")
        tests = [path for path in files if path.is_relative_to(root / "tests")]
        if ITEM.match(lines[0]) and tests:
            for title in re.findall(r'"([^"]+)"', re.sub(r"\s+", " ", text)):
                check(any(title in text_of(path) for path in tests), f"{shown(page)}:{first}",
                      f'"{title}" is not in {", ".join(shown(path) for path in tests)}')
    check(steps, shown(page), "it has no steps")


pages = sorted((root / "docs/internals").glob("*.md"))
for page in pages:
    check_page(page)
for good, what in checks:
    if not good:
        print("FAILED:", what)
passed = sum(bool(good) for good, _ in checks)
print(f"{passed} passed, {len(checks) - passed} failed, 0 skipped")
sys.exit(passed != len(checks) or not pages)
