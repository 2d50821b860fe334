#!/usr/bin/env python3
"""Compiles one program that includes every public header, with warnings as errors; with --alone, one for each header.

    strict.py [--alone] SOURCE-ROOT HEADER... -- COMPILER [FLAG...]"""
import concurrent.futures
import os
import subprocess
import sys

arguments = sys.argv[1:]
alone = arguments[0] == "--alone"
split = arguments.index("--")
root, headers, compiler = arguments[alone], arguments[alone + 1:split], arguments[split + 1:]
if not headers:
    sys.exit("strict.py: no header is given")
includes = [f"#include <{os.path.relpath(header, root)}>\n" for header in headers]


def compiles(program):
    command = [*compiler, "-fsyntax-only", "-I", root, "-x", "c++", "-"]
    return subprocess.run(command, input=program, text=True).returncode == 0


with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
    results = list(threads.map(compiles, includes if alone else ["".join(includes)]))
print(f"{sum(results)} passed, {len(results) - sum(results)} failed, 0 skipped")
sys.exit(not all(results))
