"""Reads a test of GCC's libgomp: what its DejaGnu directives ask to compile, to run, and to find in the output.

    test = read(folder / 'libgomp.c/target-1.c', gcc='12', gpu='gfx900')

Only what offloading to AMD GPUs needs: no scans of dumps or assembly, and one optimisation level in place of all.
"""
import fnmatch
import re
import shlex

HOST = 'x86_64-pc-linux-gnu'
FOLDER = '/libgomp'  # of the tests, in the chroot
LANGUAGES = {
    'libgomp.c': ['c'], 'libgomp.c++': ['c++'], 'libgomp.c-c++-common': ['c', 'c++'], 'libgomp.fortran': ['fortran'],
    'libgomp.oacc-c': ['c'], 'libgomp.oacc-c++': ['c++'], 'libgomp.oacc-c-c++-common': ['c', 'c++'], 'libgomp.oacc-fortran': ['fortran'],
}
COMPILERS = {'c': 'gcc', 'c++': 'g++', 'fortran': 'gfortran'}
SUFFIXES = {'.c': 'c', '.C': 'c++', '.f90': 'fortran', '.f95': 'fortran', '.f03': 'fortran', '.f': 'fortran', '.F90': 'fortran'}
HOLDS = {'offload_device', 'offload_device_nonshared_as', 'offload_target_amdgcn', 'offload_target_any', 'offload_device_gcn',
         'openacc_radeon_accel_selected', 'openacc_radeon_accel_present', 'alloca', 'tls', 'tls_runtime', 'pthread', 'lp64',
         'sync_int_long', 'sync_char_short', 'sync_int_long_runtime', 'lto', 'fopenmp', 'fopenacc', 'libatomic_available',
         'int128', 'float128', 'dfp', 'c99_runtime', 'size32plus'}
DOES_NOT_HOLD = {'offload_target_nvptx', 'offload_device_nvptx', 'offload_device_intel_mic', 'offload_target_intelmic',
                 'offload_device_any_intel_mic', 'offload_device_shared_as', 'openacc_nvidia_accel_selected',
                 'openacc_nvidia_accel_configured', 'openacc_nvidia_accel_present', 'openacc_nvidia_accel_supported',
                 'openacc_host_selected', 'ilp32', 'ia32', 'x32', 'llp64', 'run_expensive_tests', 'openacc_cuda', 'openacc_cublas',
                 'openacc_cudart', 'hwloc', 'fgraphite', 'powerpc', 'offload_device_gcn_shared'}


class Test:
    """What to do for one test; `why_not` is a reason to skip it."""

    def __init__(self):
        self.why_not, self.compile, self.run, self.output = '', '', '', ''
        self.runs, self.fails = True, False

    def prints(self, text):
        try:
            return re.search(self.output, text.replace('\r', '')) is not None
        except re.error:
            return True


def host_has(feature):
    with open('/proc/cpuinfo', encoding='utf-8') as info:
        return re.search(rf'^flags.*\b{feature}\b', info.read(), re.MULTILINE) is not None


class Unknown(Exception):
    """A condition that no table names."""


def tests(release, gcc):
    """Unpacks the tests in the chroot; returns their names, "c:libgomp.c/target-1.c"."""
    folder = release.cache / release.name / FOLDER.lstrip('/')
    if not (folder / 'ready').exists():
        status, text = release.run('sh', '-c', f'rm -rf {FOLDER} && mkdir {FOLDER} && tar -xf /usr/src/gcc-{gcc}/gcc-{gcc}*.tar.xz '
                                   f'-C {FOLDER} --strip-components=3 --wildcards "*/libgomp/testsuite/*" && touch {FOLDER}/ready')
        if status:
            raise SystemExit(f'distribution: the source of GCC {gcc} cannot be unpacked: {text.strip()}')
    names = []
    for part, languages in LANGUAGES.items():
        for path in sorted((folder / part).glob('*')):
            if path.suffix in SUFFIXES:
                names += [f'{language}:{part}/{path.name}' for language in languages]
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
            found.append(text[begin + 1:i].replace('\\"', '"'))
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
            found.append(text[begin:i])
    return found


def directives(source):
    """(name, arguments) of each { dg-… }."""
    for line in source.splitlines():
        for start in (match.start() for match in re.finditer(r'\{ *dg-', line)):
            inner = words(line[start:])
            if inner:
                parts = words(inner[0])
                yield parts[0], parts[1:]


def selected(arguments, index, language, kind='target'):
    """Whether the selector among the arguments from `index` on applies; one that is not there does."""
    for argument in arguments[index:]:
        match = re.match(rf'\s*{kind}\b(.*)$', argument, re.DOTALL)
        if match:
            return condition(match[1], language)
    return kind == 'target'


def read(path_and_language, gcc, gpu):
    """The path's last parts are "LANGUAGE:FOLDER/NAME"."""
    language, part = path_and_language.parent.name.split(':')
    real = path_and_language.parents[1] / part / path_and_language.name
    test = Test()
    source = real.read_text(errors='replace')
    options, more, sources, environment, action = '-O2', [], [], [], 'run'
    try:
        for name, arguments in directives(source):
            if name == 'dg-do':
                action = arguments[0]
                if not selected(arguments, 1, language):
                    test.why_not = 'not for this target: ' + ' '.join(arguments)
            elif name == 'dg-options' and selected(arguments, 1, language):
                options = arguments[0]
            elif name == 'dg-additional-options' and selected(arguments, 1, language):
                more.append(arguments[0])
            elif name == 'dg-require-effective-target' and not condition(arguments[0], language):
                test.why_not = 'needs ' + arguments[0]
            elif name == 'dg-skip-if' and condition(arguments[1], language) and (len(arguments) < 3 or '*' in arguments[2]):
                test.why_not = 'skips itself: ' + (arguments[0] or arguments[1])
            elif name == 'dg-xfail-run-if' and condition(arguments[1], language):
                test.why_not = 'is known to fail: ' + arguments[0]
            elif name == 'dg-shouldfail' and selected(arguments, 1, language):
                test.fails = True
            elif name == 'dg-output' and selected(arguments, 1, language):
                test.output += arguments[0].replace('\\n', '\n').replace('\\r', '')
            elif name == 'dg-additional-sources':
                sources += arguments[0].split()
            elif name == 'dg-set-target-env-var':
                environment.append(f'{arguments[0]}={shlex.quote(arguments[1])}')
            elif name == 'dg-error' and selected(arguments, 2, language):
                test.why_not = 'tests messages of the compiler'
    except Unknown as unknown:
        test.why_not = f'its condition is not known here: {unknown}'
    if re.search('#include "(libgomp_g|libgomp|config).h"', source):
        test.why_not = "includes a header that libgomp's build makes"
    acc = 'oacc' in part
    if acc:
        environment.append('ACC_DEVICE_TYPE=radeon')
        more.append('-fopenacc -DACC_DEVICE_TYPE_radeon=1 -DACC_MEM_SHARED=0')
    test.runs = action == 'run'
    here, program = f'{FOLDER}/{part}', '/tmp/libgomp-test'
    files = ' '.join(shlex.quote(f'{here}/{name}') for name in [path_and_language.name, *sources])
    xlang = {'c++': '-x c++' if path_and_language.suffix == '.c' else '', 'c': '', 'fortran': '-J /tmp'}[language]
    what = '' if action in ('run', 'link') else '-c' if not sources else ''
    test.compile = (f'cd /tmp && {COMPILERS[language]}-{gcc} -fopenmp -foffload=amdgcn-amdhsa '
                    f'-foffload-options=amdgcn-amdhsa=-march={gpu} -I {here} {options} {" ".join(more)} {xlang} {files} {what} '
                    f'-o {program}{" -lm" if not what else ""}')
    test.run = f'cd /tmp && {" ".join(environment)} {program}'
    return test
