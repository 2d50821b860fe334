"""Runs GoogleTest programs of which a test takes too long, or ends the program: the tests after it run in another process."""
import collections
import re

Found = collections.namedtuple('Found', 'passed failed skipped unfinished')  # lists of test names


def read_list(text):
    """The names in the output of --gtest_list_tests; a program does not run its DISABLED_ tests."""
    names, suite = [], ''
    for line in text.splitlines():
        line = line.split('  #')[0].rstrip()
        if re.match(r'^\S+\.$', line):
            suite = line
        elif line.startswith('  ') and suite:
            names.append(suite + line.strip())
    return [name for name in names if not re.search(r'(^|[./])DISABLED_', name)]


def read(text, listed):
    """What a program printed about each of the listed tests."""
    found = Found([], [], [], [])
    ends = {}
    for mark, name in re.findall(r'^\[ *(OK|FAILED|SKIPPED) *\] ([^ ,\n]+)(?:, where .*)? \(\d+ ms\)', text, re.MULTILINE):
        ends[name] = mark
    for name in listed:
        {'OK': found.passed, 'FAILED': found.failed, 'SKIPPED': found.skipped}.get(ends.get(name), found.unfinished).append(name)
    return found


def spread(names, each):
    """At most `each` tests of each test suite, at equal distances."""
    suites = collections.defaultdict(list)
    for name in names:
        suites[name.split('.')[0]].append(name)
    return [name for suite in suites.values() for name in suite[::-(-len(suite) // each)]]


def thin(data, mark, records):
    """At most so many records of each function, at equal distances, of the data file of rocBLAS's or rocSPARSE's tests.

    The file is a name, a record of numbers, the name with capitals and small letters exchanged (the mark), and the records. Each begins with
    its function's name, and has the size of the first.
    """
    begin = data.index(mark) + len(mark)
    size = begin - 2 * len(mark)
    functions = collections.defaultdict(list)
    for at in range(begin, len(data), size):
        functions[data[at:data.index(b'\0', at)]].append(at)
    kept = sorted(at for all_of_them in functions.values() for at in all_of_them[::-(-len(all_of_them) // records)])
    return data[:begin] + b''.join(data[at:at + size] for at in kept)


def flags(names):
    """The text of a flag file that selects these tests. A filter's own characters match themselves by '?'."""
    return '--gtest_filter=' + ':'.join(re.sub('[-:*?]', '?', name) for name in names) + '\n'


def run(start, names, runs):
    """Runs the tests; start(names) does so in one process and returns its exit status (124: the time limit) and its output.

    If the process ends before its tests, the one that had begun is the cause: unfinished at the time limit, otherwise failed. The tests
    after it run in another process, up to so many processes. Returns the exit status of the first, all output, and the results.
    """
    found, statuses, texts, slow = Found([], [], [], []), [], [], []
    while names and len(statuses) < runs:
        status, text = start(names)
        statuses.append(status)
        texts.append(text)
        part = read(text, names)
        for all_of_them, some in zip(found[:3], part):
            all_of_them.extend(some)
        unfinished = set(part.unfinished)
        begun = [name for name in re.findall(r'^\[ RUN      \] (\S+)', text, re.MULTILINE) if name in unfinished]
        (slow if status == 124 else found.failed).extend(begun[-1:])
        if status not in (0, 124) and not begun and not part.failed:
            found.failed.append('the program, outside of its tests')
        names = [name for name in part.unfinished if name not in begun]
        if not begun:  # none ran: the next process would do the same
            break
    found.unfinished.extend(slow + names)
    return statuses[0], ''.join(texts), found
