#!/usr/bin/env python3
"""Which functions of the HSA runtime a library calls, one X(name) a line, for failing.cpp.

usage: imports.py NM LIBRARY OUTPUT"""
import re
import subprocess
import sys

nm, library, output = sys.argv[1:]
text = subprocess.run([nm, '-D', '--undefined-only', library], check=True, capture_output=True, text=True).stdout
names = sorted(set(re.findall(r'\bU (hsa_\w+)', text)))
if not names:
    sys.exit(f'{library} calls no function of the HSA runtime')
with open(output, 'w') as file:
    file.writelines(f'X({name})\n' for name in names)
