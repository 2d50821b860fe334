#!/usr/bin/env python3
"""Compiles one program that includes every public header, with warnings as errors. That each compiles alone is seen by
the test of the installed tree.

    strict.py SOURCE-ROOT HEADER... -- COMPILER [FLAG...]"""
import os
import subprocess
import sys

split = sys.argv.index("--")
root, headers, compiler = sys.argv[1], sys.argv[2:split], sys.argv[split + 1:]
if not headers:
    sys.exit("strict.py: no header is given")
program = "".join(f"#include <{os.path.relpath(header, root)}>\n" for header in headers)
sys.exit(subprocess.run([*compiler, "-fsyntax-only", "-I", root, "-x", "c++", "-"], input=program, text=True).returncode)
