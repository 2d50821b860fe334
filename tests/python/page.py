"""Runs the ```python snippets of a page, in order and in one program, and compares what they print with the ```text that
follows each. Usage: page.py PAGE"""
import contextlib
import io
import re
import sys

passed, wrong, known = 0, 0, {}
text = open(sys.argv[1], encoding='utf-8').read()
for snippet, output in re.findall(r'^```python\n(.*?)^```\n(?:```text\n(.*?)^```\n)?', text, re.M | re.S):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(snippet, sys.argv[1], 'exec'), known)
    good = printed.getvalue() == output
    passed, wrong = passed + good, wrong + (not good)
    if not good:
        print(f'{snippet}prints\n{printed.getvalue()}and not\n{output}')
print(f'{passed} passed, {wrong} failed, 0 skipped')
sys.exit(wrong != 0 or passed == 0)
