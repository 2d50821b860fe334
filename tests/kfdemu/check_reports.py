#!/usr/bin/env python3
"""The report of `kfdemu run --check`: whether it is as its schema says, and how tools/kfdemu/check_reports.py reads it.

Usage: check_reports.py SOURCE-ROOT KFDEMU PROGRAM, which makes two mistakes and is run twice"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1] + "/tools/kfdemu", sys.argv[1] + "/tests/tools/hsadrv"]
import check_reports  # noqa: E402
import schema  # noqa: E402

SCHEMA = sys.argv[1] + "/docs/schema/check.v1.json"

FAILED = []


def expect(what: str, holds: bool) -> None:
    if not holds:
        FAILED.append(what)


def report_of(gpu: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        done = subprocess.run([sys.argv[2], "run", "--gpu", gpu, "--check=memory,leak", "--check-report", file, "--", *sys.argv[3:]],
                              env=dict(os.environ, KFDEMU=""), capture_output=True, check=False)
        expect(f"{done.args} finds something: {done.returncode} {done.stderr.decode()}", done.returncode == 99)
        return file.read_text()


report = report_of("gfx90a")
expect("a report is as its schema says: " + "; ".join(schema.problems(json.loads(report), SCHEMA)), not schema.problems(json.loads(report), SCHEMA))
expect("a key that the schema does not name is found", schema.problems({**json.loads(report), "other": 1}, SCHEMA))
one = check_reports.read(report)
expect(f"each finding has its check and sentence: {one}", one and all(f["check"] and f["what"] and f["count"] for f in one))
expect(f"a finding in a kernel has its function and instruction: {one}",
       any(f["check"] == "memory" and f["function"] and f["instruction"] for f in one))
twice = check_reports.merged(one + one)
expect(f"the same finding of two programs is one: {twice}", len(twice) == len(check_reports.merged(one)))
expect("their counts are summed", sum(f["count"] for f in twice) == 2 * sum(f["count"] for f in one))
expect("a report without processes has none", check_reports.read('{"version": 1, "processes": []}') == [])

for what in FAILED:
    print(what)
sys.exit(bool(FAILED))
