#!/usr/bin/env python3
"""How tools/kfdemu/gtest_programs.py selects the tests of a program, and goes on after one that does not end.

Usage: gtest_programs.py SOURCE-ROOT"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/tools/kfdemu")
import gtest_programs  # noqa: E402
from gtest_programs import Found  # noqa: E402

FAILED = []


def expect(what: str, holds: bool) -> None:
    if not holds:
        FAILED.append(what)


LIST = """a line of the program
quick/axpy.  # TypeParam = float
  level1/f32  # GetParam() = { N: 5 }
  DISABLED_slow
Other.
  one
DISABLED_Suite.
  two
"""
expect("tests are listed without parameters, and without those that are disabled",
       gtest_programs.read_list(LIST) == ["quick/axpy.level1/f32", "Other.one"])
expect("a filter's own characters match themselves", gtest_programs.flags(["A.b-c", "A.d"]) == "--gtest_filter=A.b?c:A.d\n")

MANY = [f"{suite}.{i}" for suite, count in (("A", 10), ("B", 2), ("C", 3)) for i in range(count)]
expect("each suite has its share, at equal distances",
       gtest_programs.spread(MANY, 3) == ["A.0", "A.4", "A.8", "B.0", "B.1", "C.0", "C.1", "C.2"])
expect("no suite has more", all(len(gtest_programs.spread([f"A.{i}" for i in range(count)], each)) in range(1, each + 1)
                                for count in range(1, 30) for each in range(1, 10)))

HEAD = b"rocBLAS\0" + bytes(24) + b"ROCblas\0"
RECORDS = [name.encode().ljust(16, b"\0") + str(i).encode().ljust(8, b"\0") for name, count in (("gemm", 7), ("axpy", 2)) for i in range(count)]
expect("a data file keeps its head, and of each function some records in their order",
       gtest_programs.thin(HEAD + b"".join(RECORDS), b"ROCblas\0", 3) == HEAD + b"".join(RECORDS[i] for i in (0, 3, 6, 7, 8)))

NAMES = ["A.1", "A.2", "A.3", "A.4", "A.5"]
MARKS = {"ok": "[       OK ] {} (1 ms)", "bad": "[  FAILED  ] {}, where GetParam() = 7 (1 ms)", "skip": "[  SKIPPED ] {} (0 ms)"}


def run(marks: dict, status: int, runs: int, begins: bool = True) -> tuple:
    """Runs a program of five tests; one that is not in `marks` does not end, so the program ends with the status."""
    starts = []

    def start(names: list) -> tuple:
        starts.append(names)
        lines = []
        for name in names if begins else []:
            lines.append(f"[ RUN      ] {name}")
            if name not in marks:
                return status, "\n".join(lines)
            lines.append(MARKS[marks[name]].format(name))
        return 0 if begins else status, "\n".join(lines + ["[  FAILED  ] A.3, where GetParam() = 7"])

    return *gtest_programs.run(start, NAMES, runs), starts


status, text, found, starts = run({"A.1": "ok", "A.2": "skip", "A.3": "bad", "A.4": "ok", "A.5": "ok"}, 0, 3)
expect("a program that ends runs once", len(starts) == 1 and status == 0 and found == Found(["A.1", "A.4", "A.5"], ["A.3"], ["A.2"], []))
GOOD = {name: "ok" for name in NAMES if name != "A.2"}
status, text, found, starts = run(GOOD, 124, 3)
expect("after the limit, the tests after the one that did not end run",
       starts == [NAMES, NAMES[2:]] and status == 124 and found == Found(["A.1", "A.3", "A.4", "A.5"], [], [], ["A.2"]))
expect("the output of all processes is kept", text.count("RUN") == 5)
status, text, found, starts = run(GOOD, 134, 3)
expect("a test that ends the program has failed", status == 134 and found == Found(["A.1", "A.3", "A.4", "A.5"], ["A.2"], [], []))
status, text, found, starts = run({}, 124, 3)
expect("there are no more processes than allowed", len(starts) == 3 and found == Found([], [], [], NAMES))
status, text, found, starts = run({}, 134, 2)
expect("tests after the last process are unfinished", found == Found([], ["A.1", "A.2"], [], ["A.3", "A.4", "A.5"]))
status, text, found, starts = run({}, 124, 3, begins=False)
expect("a program that begins no test is not started again", len(starts) == 1 and found == Found([], [], [], NAMES))
status, text, found, starts = run({}, 134, 3, begins=False)
expect("a program that ends before its tests has failed", len(starts) == 1 and len(found.failed) == 1 and found.unfinished == NAMES)
status, text, found, starts = run({}, 0, 3, begins=False)
expect("a test that the program lists and does not run has no result", found == Found([], [], [], NAMES))

for what in FAILED:
    print(what)
sys.exit(bool(FAILED))
