"""Reads a test of GCC's libgomp: what its DejaGnu directives ask to compile, to run, and to find in the output.

    test = read(chroot, 'c:libgomp.c/target-1.c', gcc='12', gpu='gfx900')

Only what offloading to AMD GPUs needs: no scans of dumps or assembly, and one optimisation level in place of all. The flags are those
of libgomp/testsuite/lib/libgomp.exp and of the .exp file in each folder; the rules of the directives are those of DejaGnu's dg.exp
and of GCC's gcc/testsuite/lib/target-supports-dg.exp.
"""
import fnmatch
import re
import shlex

HOST = 'x86_64-pc-linux-gnu'
SOURCE = '/gcc-source'  # in the chroot: the parts of GCC's source that the tests include
FOLDER = SOURCE + '/libgomp/testsuite'
PARTS = ['include', 'libgomp', 'gcc/testsuite/*/goacc', 'gcc/testsuite/gfortran.fortran-torture']
LANGUAGES = {
    'libgomp.c': ['c'], 'libgomp.c++': ['c++'], 'libgomp.c-c++-common': ['c', 'c++'], 'libgomp.fortran': ['fortran'],
    'libgomp.oacc-c': ['c'], 'libgomp.oacc-c++': ['c++'], 'libgomp.oacc-c-c++-common': ['c', 'c++'], 'libgomp.oacc-fortran': ['fortran'],
}
COMPILERS = {'c': 'gcc', 'c++': 'g++', 'fortran': 'gfortran'}
FORTRAN = r'\.[fF](|90|95|03|08)$'
SUFFIXES = {part: r'\.C$' if part.endswith('-c++') or part.endswith('.c++') else FORTRAN if part.endswith('fortran') else r'\.c$'
            for part in LANGUAGES}  # of tests; other files are sources that tests name
HOLDS = {'offload_device', 'offload_device_nonshared_as', 'offload_target_amdgcn', 'offload_target_any', 'offload_device_gcn',
         'openacc_radeon_accel_selected', 'openacc_radeon_accel_present', 'alloca', 'tls', 'tls_runtime', 'pthread', 'lp64',
         'sync_int_long', 'sync_char_short', 'sync_int_long_runtime', 'lto', 'fopenmp', 'fopenacc', 'libatomic_available',
         'int128', 'float128', '__float128', 'dfp', 'c99_runtime', 'size32plus', 'vect_simd_clones', 'native', 'offloading_enabled',
         'weak_undefined', 'bitint', 'large_long_double', 'nonstandard_math_functions', 'fd_truncate', 'shared', 'fpic',
         '__OPTIMIZE__'}
DOES_NOT_HOLD = {'offload_target_nvptx', 'offload_device_nvptx', 'offload_device_intel_mic', 'offload_target_intelmic',
                 'offload_device_any_intel_mic', 'offload_device_shared_as', 'openacc_nvidia_accel_selected',
                 'openacc_nvidia_accel_configured', 'openacc_nvidia_accel_present', 'openacc_nvidia_accel_supported',
                 'openacc_host_selected', 'ilp32', 'ia32', 'x32', 'llp64', 'run_expensive_tests', 'openacc_cuda', 'openacc_cublas',
                 'openacc_cudart', 'hwloc', 'fgraphite', 'powerpc', 'offload_device_gcn_shared', 'aarch64_tiny',
                 'skip-all-targets', 'this-really-should-fail', 'iN-VAl-Id'}


class Test:
    """What to do for one test; `why_not` is a reason to skip it."""

    def __init__(self):
        self.why_not, self.compile, self.run, self.output = '', '', '', ''
        self.runs, self.fails = True, False
        self.compiles = True  # False: the compiler is expected to report errors

    def prints(self, text):
        """As in Tcl, a point matches newlines."""
        return re.search(self.output, text.replace('\r', ''), re.DOTALL) is not None


def host_has(feature):
    with open('/proc/cpuinfo', encoding='utf-8') as info:
        return re.search(rf'^flags.*\b{feature}\b', info.read(), re.MULTILINE) is not None


class Unknown(Exception):
    """A condition that no table names."""


def tests(release, gcc):
    """Unpacks the tests in the chroot; returns their names, "c:libgomp.c/target-1.c"."""
    root = release.cache / release.name
    if not (root / SOURCE.lstrip('/') / 'ready').exists():
        status, text = release.run('sh', '-c', f'rm -rf {SOURCE} && mkdir {SOURCE} && tar -xf /usr/src/gcc-{gcc}/gcc-{gcc}*.tar.xz '
                                   f'-C {SOURCE} --strip-components=1 --wildcards --no-wildcards-match-slash '
                                   f'{" ".join(f"{chr(34)}*/{part}{chr(34)}" for part in PARTS)} && touch {SOURCE}/ready')
        if status:
            raise SystemExit(f'distribution: the source of GCC {gcc} cannot be unpacked: {text.strip()}')
    names, folder = [], root / FOLDER.lstrip('/')
    for part, languages in LANGUAGES.items():
        for path in sorted((folder / part).rglob('*')):
            if re.search(SUFFIXES[part], path.name):
                names += [f'{language}:{path.relative_to(folder)}' for language in languages]
    return names


def holds(name, language):
    if name in ('c', 'c++', 'fortran'):
        return name == language
    if name.endswith('_runtime') and name.removesuffix('_runtime') in ('sse2', 'avx', 'avx2', 'avx512f'):
        return host_has(name.removesuffix('_runtime'))
    if '*' in name or '?' in name:
        return fnmatch.fnmatch(HOST, name)
    if name in HOLDS or name in DOES_NOT_HOLD:
        return name in HOLDS
    raise Unknown(name)


def condition(text, language):
    """The value of a selector's expression: names, patterns of targets, !, &&, || and braces. Names alone are alternatives."""
    tokens = re.findall(r'&&|\|\||[{}!]|[^\s{}!&|]+', text)

    def factor():
        token = tokens.pop(0)
        if token == '!':
            return not factor()
        if token == '{':
            value = alternatives()
            if tokens:
                tokens.pop(0)
            return value
        return holds(token, language)

    def alternatives():
        value = factor()
        while tokens and tokens[0] != '}':
            operator = tokens.pop(0) if tokens[0] in ('&&', '||') else '||'
            other = factor()
            value = value and other if operator == '&&' else value or other
        return value

    return alternatives() if tokens else True


def unescaped(text):
    """The text of a Tcl word in double quotes."""
    return re.sub(r'\\(.)', lambda match: {'n': '\n', 'r': '\r', 't': '\t'}.get(match[1], match[1]), text, flags=re.DOTALL)


def words(text):
    """Tcl's words: "…", {…} and plain ones, without their quotes."""
    found, i = [], 0
    while i < len(text):
        if text[i].isspace():
            i += 1
            continue
        begin = i
        if text[i] == '"':
            i += 1
            while i < len(text) and text[i] != '"':
                i += 2 if text[i] == '\\' else 1
            found.append(unescaped(text[begin + 1:i]))
            i += 1
        elif text[i] == '{':
            depth = 0
            while i < len(text):
                depth += {'{': 1, '}': -1}.get(text[i], 0)
                i += 1
                if depth == 0:
                    break
            found.append(text[begin + 1:i - 1])
        else:
            while i < len(text) and not text[i].isspace():
                i += 1
            found.append(unescaped(text[begin:i]))
    return found


def directives(source):
    """(name, arguments) of each { dg-… }: one a line, up to the line's last " }"."""
    for match in re.finditer(r'\{[ \t]+(dg-[-a-z]+)[ \t]+(.*)[ \t]+\}', source):
        yield match[1], words(match[2])


def with_options(patterns, options):
    """Whether one of the patterns, each of options that must all be there, applies; "*" always does, and "" never."""
    return any(pattern == '*' or (pattern.split() and all(word in options.split() for word in pattern.split()))
               for pattern in words(patterns))


def applies(arguments, language, options):
    """The rule of dg-skip-if, dg-shouldfail and dg-xfail-…: message, selector, options that include and that exclude the test."""
    selector, include, exclude = (arguments[1:] + ['*-*-*', '*', ''][len(arguments) - 1:])[:3]
    return condition(selector, language) and with_options(include, options) and not with_options(exclude, options)


def selected(arguments, index, language, kind='target'):
    """Whether the selector among the arguments from `index` on applies; one that is not there does."""
    for argument in arguments[index:]:
        match = re.match(rf'\s*{kind}\b(.*)$', argument, re.DOTALL)
        if match:
            return condition(match[1], language)
    return kind == 'target'


def includes(path, seen):
    """The names that the file includes, and those that the tests' own files that it includes do."""
    found = set()
    for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(errors='replace'), re.MULTILINE):
        found.add(name)
        inner = (path.parent / name).resolve()
        if inner.exists() and inner not in seen:
            found |= includes(inner, seen | {inner})
    return found


def read(root, name, gcc, gpu):
    """A test by its name, "LANGUAGE:FOLDER/FILE", in the chroot's folder."""
    language, path = name.split(':', 1)
    part, real = path.split('/')[0], root / FOLDER.lstrip('/') / path
    acc = 'oacc' in part
    test = Test()
    found = list(directives(real.read_text(errors='replace')))
    # C's and C++'s tests of OpenMP have one level, which options of their own replace; the others repeat each test at several levels.
    fixed = '-O2' if acc or language == 'fortran' else ''
    options, more, sources, environment, action = '' if fixed else '-O2', [], [], [], 'run'
    if acc:
        fixed += ' -fopenacc -DACC_DEVICE_TYPE_radeon=1 -DACC_MEM_SHARED=0'
        environment.append('ACC_DEVICE_TYPE=radeon')
    else:
        fixed += ' -fopenmp'
    try:
        for name, arguments in found:  # first, because other directives ask for options
            if name == 'dg-options' and selected(arguments, 1, language):
                options = arguments[0]
            elif name == 'dg-additional-options' and selected(arguments, 1, language):
                more.append(arguments[0])
        flags = f'{fixed} {options} {" ".join(more)}'
        for name, arguments in found:
            if name == 'dg-do':
                action = arguments[0]
                if not selected(arguments, 1, language):
                    test.why_not = 'not for this target: ' + ' '.join(arguments)
                elif selected(arguments, 1, language, 'xfail'):
                    test.why_not = 'is known to fail'
            elif name == 'dg-require-effective-target' and selected(arguments, 1, language) and not condition(arguments[0], language):
                test.why_not = 'needs ' + arguments[0]
            elif name == 'dg-skip-if' and applies(arguments, language, flags):
                test.why_not = 'skips itself: ' + (arguments[0] or ' '.join(arguments[1:]))
            elif name in ('dg-xfail-run-if', 'dg-xfail-if') and applies(arguments, language, flags):
                test.why_not = 'is known to fail: ' + arguments[0]
            elif name == 'dg-shouldfail' and applies(arguments, language, flags):
                test.fails = True
            elif name == 'dg-excess-errors' and selected(arguments, 1, language):
                test.compiles = False
            elif name == 'dg-output' and selected(arguments, 1, language) and not selected(arguments, 1, language, 'xfail'):
                test.output += arguments[0]
            elif name == 'dg-additional-sources' and selected(arguments, 1, language):
                sources += arguments[0].split()
            elif name == 'dg-set-target-env-var':
                environment.append(shlex.quote('='.join(arguments[:2])))
            elif name in ('dg-error', 'dg-message') and selected(arguments, 2, language) and (
                    name == 'dg-error' or re.search('error|sorry', arguments[0], re.IGNORECASE)):
                test.why_not = 'tests messages of the compiler'
    except Unknown as unknown:
        test.why_not = f'its condition is not known here: {unknown}'
    if includes(real, {real.resolve()}) & {'config.h', 'libgomp.h'}:
        test.why_not = "includes a header that libgomp's build makes"
    test.runs = action == 'run'
    here, program = f'{FOLDER}/{path.rsplit("/", 1)[0]}', '/tmp/libgomp-test'
    files = ' '.join(shlex.quote(f'{here}/{file}') for file in [real.name, *sources])
    xlang = {'c++': '-x c++' if real.suffix == '.c' else '', 'c': '', 'fortran': '-J /tmp'}[language]
    what = '' if action in ('run', 'link') or sources else '-c'
    test.compile = (f'cd /tmp && {COMPILERS[language]}-{gcc} -foffload=amdgcn-amdhsa '
                    f'-foffload-options=amdgcn-amdhsa=-march={gpu} -I {SOURCE}/include -I {SOURCE}/libgomp {flags} {xlang} {files} '
                    f'{what} -o {program}{" -lm" if not what else ""}')
    # Tests of the limit of locked memory expect that it holds, which it does not for root.
    test.run = f'cd /tmp && env {" ".join(environment)} setpriv --bounding-set=-ipc_lock {program}'
    return test
