#!/usr/bin/env python3
"""Below C++20, the first error of a program that includes a public header says so, and the compiler stops there.

    below_cpp20.py SOURCE-ROOT HEADER... -- COMPILER [FLAG...] [-- COMPILER [FLAG...]]...

Each header is read as the preprocessor reads it: shared/cpp20.hpp comes before <coroutine> and before any declaration. Each compiler
compiles the two umbrella headers."""
import os
import pathlib
import re
import subprocess
import sys

CHECK = "shared/cpp20.hpp"
MESSAGE = 'hsadrv needs C++20: compile with -std=c++20'
STOP = "see the error above"
UMBRELLAS = ["hsadrv/hsadrv.hpp", "devicearray/devicearray.hpp"]


def split(words):
    parts = [[]]
    for word in words:
        if word == "--":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def code_lines(path):
    """The file's lines without comments and without the directives that declare nothing."""
    text = re.sub(r"//.*|/\*.*?\*/", "", path.read_text(encoding="utf-8"))
    return [line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*#\s*(pragma once|if|else|endif)", line)]


def first_met(path, root, seen):
    """What the preprocessor meets first: the check, or the line that comes before it; None where it meets neither."""
    if path.relative_to(root) == pathlib.Path(CHECK):
        return CHECK
    seen.add(path)
    for line in code_lines(path):
        include = re.fullmatch(r'#\s*include\s*(?:"(.+)"|<(.+)>)', line)
        if not include or include[2] == "coroutine":
            return f"{path.relative_to(root)}: {line}"
        if include[1]:
            found = next(file.resolve() for file in (path.parent / include[1], root / include[1]) if file.exists())
            met = first_met(found, root, seen) if found not in seen else None
            if met:
                return met
    return None


def errors(compiler, header, root):
    done = subprocess.run([*compiler, "-std=c++17", "-fsyntax-only", "-I", root, "-x", "c++", "-"], input=f"#include <{header}>\n",
                          text=True, capture_output=True, env=os.environ | {"LC_ALL": "C"})
    found = re.findall(r"error: (.*)", done.stderr)
    return found, done.stderr


def main():
    (root, *headers), *compilers = split(sys.argv[1:])
    root = pathlib.Path(root).resolve()
    wrong = checked = 0
    for header in headers:
        met = first_met(pathlib.Path(header).resolve(), root, set())
        checked += 1
        if met != CHECK:
            wrong += 1
            print(f"{os.path.relpath(header, root)}: {CHECK} must come first, before {met}")
    for compiler in compilers:
        for header in UMBRELLAS:
            found, said = errors(compiler, header, root)
            checked += 1
            if len(found) != 2 or MESSAGE not in found[0] or STOP not in found[1]:
                wrong += 1
                print(f"{' '.join(compiler)} -std=c++17, {header}: expected one error, '{MESSAGE}', and the end; it printed\n{said}")
    print(f"{checked - wrong} passed, {wrong} failed, 0 skipped")
    return 1 if wrong or not headers or not compilers else 0


sys.exit(main())
