#!/usr/bin/env python3
"""Turns the guide's pages into test programs, so that what a page shows is what was compiled and run.

    snippets.py tasks PAGE.md OUT.cpp        a test case for each task, that is for each "## " heading
    snippets.py kernels NAME OUT.cpp PAGE.md...   the kernels of all pages that are for NAME.hsaco
    snippets.py program PAGE.md OUT.cpp      the page's whole program
    snippets.py shell PAGE.md                prints its shell commands, for the test of the installed tree
    commands.py PAGE.md [OPTION...]          runs its shell commands (a program of its own)

A fence says what happens to a block; anything else is an error, so that nothing is only shown:

    ```cpp           statements of the task; those before the first task begin every task of the page
    ```cpp program   a whole program, one a page, which the task runs as ./guide_program
    ```cpp file      declarations, in front of all tasks
    ```cpp kernel    device code, in guide.hsaco; with a NAME after it, in NAME.hsaco
    ```cpp both      declarations of host and device
    ```text          what the block before it prints; "…" stands for anything within a line
    ```sh            commands that build the page's program against the installed library; on pages of commands.py any,
                     each block run in the page's folder, where the text after it is its output
    ```sh if PATH    the same, skipped where there is no such file or folder
    ```LANG in FILE  a file that the commands use

Set-up that would only distract is an HTML comment: <!-- cpp (or sh, text), with the same words after it, and --> on
lines of their own."""
import os
import pathlib
import re
import sys

KINDS = re.compile(r"cpp( program| file| both| kernel( \w+)?)?|text|sh( if [\w./-]+)?|\w+ in [\w.]+")


class Block:
    def __init__(self, kind, line, task):
        self.kind, _, self.needs = kind.partition(" if ")
        self.line, self.task, self.lines = line, task, []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def fail(page, line, why):
    sys.exit(f"{page}:{line}: error: {why}")


def read(page):
    """The page's blocks in order, and its tasks: (line, title)."""
    blocks, tasks, block, end = [], [], None, None
    for number, line in enumerate(pathlib.Path(page).read_text(encoding="utf-8").splitlines(), 1):
        if block is not None:
            if line.strip() == end:
                block = None
            else:
                block.lines.append(line)
        elif opened := re.match(r"\s*(```|<!-- )(.*)", line):
            kind, end = opened[2].strip(), {"```": "```", "<!-- ": "-->"}[opened[1]]
            if not KINDS.fullmatch(kind) or (end == "-->" and kind.split()[0] not in ("cpp", "sh", "text")):
                fail(page, number,
                     f"a block of the kind '{kind}' would only be shown; {sys.argv[0]} says which kinds there are")
            block = Block(kind, number + 1, len(tasks) - 1)
            blocks.append(block)
        elif line.startswith("## "):
            tasks.append((number, line[3:].strip()))
    if block is not None:
        fail(page, block.line - 1, f"this block has no end: {end}")
    return blocks, tasks


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def line_directive(page, line):
    return f"#line {line} {quoted(os.path.normpath(page))}\n"


def source(page, block):
    return line_directive(page, block.line) + block.text


def tasks(page, out):
    blocks, titles = read(page)
    name = pathlib.Path(page).stem
    text = ['#include "tests/docs/task.hpp"\n']
    text += [source(page, block) for block in blocks if block.kind in ("cpp file", "cpp both")]
    first = [source(page, block) for block in blocks if block.kind == "cpp" and block.task == -1]
    for index, (line, title) in enumerate(titles):
        mine = [block for block in blocks if block.task == index]
        if not any(block.kind in ("cpp", "cpp program") for block in mine):
            continue
        text.append(line_directive(page, line) + f"TEST_CASE({quoted(name + ': ' + title)}) {{\n    BEGIN_TASK();\n")
        text += first
        code = None
        for block in mine:
            if block.kind == "cpp":
                text.append(source(page, block))
                code = block
            elif block.kind == "cpp program":
                text.append('    REQUIRE(std::system("./guide_program") == 0);\n')
                code = block
            elif block.kind == "text":
                if code is None:
                    fail(page, block.line, "there is no code before it in this task that could print it")
                text.append(line_directive(page, block.line) +
                            f"    task_output.expect(__FILE__, {block.line}, R\"~({block.text})~\");\n")
        text.append(line_directive(page, line) + f"    task_output.expect_no_more(__FILE__, {line});\n}}\n\n")
    pathlib.Path(out).write_text("".join(text), encoding="utf-8")


def kernels(name, out, *pages):
    kinds = ("cpp both", "cpp kernel", "cpp kernel guide") if name == "guide" else ("cpp both", "cpp kernel " + name)
    text = ["#include <devicearray/nd_span.hpp>\n#include <shared/device/device.hpp>\nusing namespace hsadrv;\n"]
    for page in pages:
        text += [source(page, block) for block in read(page)[0] if block.kind in kinds]
    pathlib.Path(out).write_text("".join(text), encoding="utf-8")


def program(page, out):
    found = [block for block in read(page)[0] if block.kind == "cpp program"]
    if len(found) != 1:
        fail(page, 1, f"{len(found)} whole programs, where one is wanted")
    pathlib.Path(out).write_text(source(page, found[0]), encoding="utf-8")


def shell(page):
    print("".join(block.text for block in read(page)[0] if block.kind == "sh"), end="")


if __name__ == "__main__":
    modes = {"tasks": tasks, "kernels": kernels, "program": program, "shell": shell}
    if len(sys.argv) < 3 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    modes[sys.argv[1]](*sys.argv[2:])
