#!/usr/bin/env python3
"""Writes a file's bytes as a C++ array: embed.py INPUT OUTPUT NAMESPACE NAME"""
import sys

source, target, namespace, name = sys.argv[1:]
with open(source, 'rb') as file:
    data = file.read()
lines = [','.join(map(str, data[at:at + 32])) for at in range(0, len(data), 32)]
with open(target, 'w') as file:
    file.write(f'namespace {namespace} {{\n'
               f'extern const unsigned char {name}[];\n'
               f'extern const unsigned long {name}_size;\n'
               f'const unsigned char {name}[] = {{\n' + ',\n'.join(lines) + '};\n'
               f'const unsigned long {name}_size = {len(data)};\n'
               '}\n')
