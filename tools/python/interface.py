#!/usr/bin/env python3
"""The C headers as ctypes: writes hsadrv/_interface.py, or with --check says whether it is what they declare.

usage: interface.py [--check] SOURCE-ROOT"""
import re
import sys
from pathlib import Path

PLAIN = {'void': 'None', 'int': 'c_int', 'char': 'c_char', 'size_t': 'c_size_t', 'hsadrv_result': 'c_int'}
PLAIN |= {f'{sign}int{bits}_t': f'c_{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)}


def python_name(name):
    """hsadrv_device_facts -> DeviceFacts"""
    return ''.join(word.capitalize() for word in name.removeprefix('hsadrv_').split('_'))


class Headers:
    def __init__(self, root):
        files = [*sorted((root / 'hsadrv/c').glob('*.h')), *sorted((root / 'devicearray/c').glob('*.h'))]
        text = '\n'.join(file.read_text() for file in files)
        text = re.sub(r'/\*.*?\*/', '', text, flags=re.DOTALL)
        self.text = re.sub(r'#define.*?(?<!\\)\n', '\n', text, flags=re.DOTALL)
        self.handles = set(re.findall(r'typedef struct \w+\* (hsadrv_\w+);', self.text))
        self.callbacks = {name: (result.strip(), given) for result, name, given
                          in re.findall(r'typedef ([\w* ]+?)\(\*(hsadrv_\w+)\)\(([^)]*)\);', self.text)}
        self.structures = dict(re.findall(r'typedef struct (hsadrv_\w+) \{(.*?)\} \1;', self.text, flags=re.DOTALL))
        self.numbers = {}
        for body in re.findall(r'enum \w*\s*\{(.*?)\}', self.text, flags=re.DOTALL):
            for name, value in re.findall(r'(HSADRV_\w+) = (\d+)', body):
                self.numbers[name] = int(value)

    def type_of(self, declared):
        """The ctypes type of a C type, without its name."""
        declared = re.sub(r'\b(const|struct)\b|\s', '', declared)
        base = declared.rstrip('*')
        stars = len(declared) - len(base)
        if base == 'char' and stars:
            base, stars, kind = 'char*', stars - 1, 'c_char_p'
        elif base == 'void' and stars:
            base, stars, kind = 'void*', stars - 1, 'c_void_p'
        elif base in self.handles:
            kind = 'c_void_p'
        elif base in self.structures or base in self.callbacks:
            kind = python_name(base)
        else:
            kind = PLAIN[base]
        return 'POINTER(' * stars + kind + ')' * stars

    def parameters(self, text):
        given = [part.strip() for part in text.split(',')]
        return [] if given == ['void'] else [self.type_of(re.fullmatch(r'(.*?)\w+', part, re.DOTALL).group(1)) for part in given]

    def fields(self, body):
        for declaration in filter(None, (part.strip() for part in body.split(';'))):
            kind, names = re.fullmatch(r'(.*?[\s*])(\w+(?:\[\w+\])?(?:,\s*\w+(?:\[\w+\])?)*)', declaration, re.DOTALL).groups()
            for name, size in re.findall(r'(\w+)(?:\[(\w+)\])?', names):
                yield name, self.type_of(kind) + (f' * {self.numbers.get(size, size)}' if size else '')

    def python(self):
        yield '"""The C interface. Written by interface.py from the headers, which document it."""'
        yield '# pylint: disable-all'
        yield 'from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint16,'
        yield '                    c_uint32, c_uint64, c_void_p, sizeof)'
        yield ''
        for name, value in self.numbers.items():
            yield f'{name.removeprefix("HSADRV_")} = {value}'
        for name, (result, given) in self.callbacks.items():
            yield f'{python_name(name)} = CFUNCTYPE({", ".join([self.type_of(result), *self.parameters(given)])})'
        for name, body in self.structures.items():
            fields = list(self.fields(body))
            yield ''
            yield ''
            yield f'class {python_name(name)}(Structure):'
            yield '    _fields_ = ['
            yield from (f"        ('{field}', {kind})," for field, kind in fields)
            yield '    ]'
            if fields[0][0] == 'struct_size':
                yield ''
                yield '    def __init__(self, **fields):'
                yield '        super().__init__(struct_size=sizeof(type(self)), **fields)'
        yield ''
        yield ''
        yield 'FUNCTIONS = {  # name: (result, parameters)'
        for result, name, given in re.findall(r'HSADRV_API ([\w* ]+?)\b(hsadrv_\w+)\(([^)]*)\)', self.text):
            yield f"    '{name}': ({self.type_of(result)}, [{', '.join(self.parameters(given))}]),"
        yield '}'


def main():
    check, root = '--check' in sys.argv, Path(sys.argv[-1])
    made = ''.join(line + '\n' for line in Headers(root).python())
    file = root / 'tools/python/hsadrv/_interface.py'
    if not check:
        file.write_text(made)
    elif not file.exists() or file.read_text() != made:
        sys.exit(f'{file} is not what the C headers declare: tools/python/interface.py {root}\n0 passed, 1 failed')
    print('1 passed, 0 failed')


main()
