#!/usr/bin/env python3
"""The file of `kfdemu run --counters`: whether it is as its schema says, and whether its numbers are right.

Usage: counters.py SOURCE-ROOT KFDEMU RAW-HSA KERNELS"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [sys.argv[1] + "/tests/tools/hsadrv"]
import schema  # noqa: E402

SCHEMA = sys.argv[1] + "/docs/schema/counters.v1.json"
KFDEMU, RAW_HSA, KERNELS = map(os.path.abspath, sys.argv[2:5])
FAILED = []


def expect(what: str, holds: bool) -> None:
    if not holds:
        FAILED.append(what)


def run(*options: object, program: tuple = (RAW_HSA, KERNELS), folder: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([KFDEMU, "run", *options, "--", *program], cwd=folder, env=dict(os.environ, KFDEMU="") | environment,
                          capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder) / "a,b.json"
    done = run("--counters", file.name, folder=folder)
    expect(f"the program runs as without: {done}", done.returncode == 0 and done.stderr == "" and "all right" in done.stdout)
    counters = json.loads(file.read_text())
    expect("it is as its schema says: " + "; ".join(schema.problems(counters, SCHEMA)), not schema.problems(counters, SCHEMA))
    fill = [kernel for kernel in counters["kernels"] if kernel["name"] == "fill"]
    expect("fill ran once", len(fill) == 1 and fill[0]["dispatches"] == 1)
    # 1000 work-items in groups of 256: the last wave has 40 lanes, and three have none.
    expect(f"its waves: {fill[0]}", fill[0]["work_groups"] == 4 and fill[0]["waves"] == 16)
    stores = [i for i in fill[0]["instructions"] if i["class"] == "vmem-store" or i["class"] == "flat"]
    expect(f"one store: {stores}", len(stores) == 1 and stores[0]["lanes"] == 1000 and stores[0]["executions"] == 16)
    expect(f"of 4000 bytes in 63 lines: {stores}", stores[0]["memory"]["bytes"] == 4000 and stores[0]["memory"]["transactions"] == 63)

    for name, beginning in (("c.html", "<!DOCTYPE html>"), ("c.txt", "process ")):
        run("--counters", name, folder=folder)
        text = (pathlib.Path(folder) / name).read_text()
        expect(f"{name} begins with {beginning}", text.startswith(beginning) and "fill" in text)

    run("--counters", "two.json", program=("sh", "-c", f"'{RAW_HSA}' '{KERNELS}'; '{RAW_HSA}' '{KERNELS}'"), folder=folder)
    files = sorted(pathlib.Path(folder).glob("two.json*"))
    expect(f"two processes, two files: {files}", len(files) == 2 and all(json.loads(f.read_text())["kernels"] for f in files))

    done = run("--counters", "both.json", "--check=wait", folder=folder)
    both = json.loads((pathlib.Path(folder) / "both.json").read_text())
    expect(f"with checks: {done.stderr}", done.returncode == 0 and "nothing found" in done.stderr)
    expect(f"the same numbers: {both}", [k["total"] for k in both["kernels"] if k["name"] == "fill"] == [fill[0]["total"]])

    done = run("--counters", "c.json", program=("printenv", "KFDEMU"), folder=folder)
    expect(f"KFDEMU names the file: {done.stdout}", f",counters={pathlib.Path(folder).resolve()}/c.json," in done.stdout)

    done = run("--counters", "/nowhere/c.json", folder=folder)
    expect(f"a file that cannot be written: {done}", done.returncode == 2 and "cannot be written" in done.stderr)

for what in FAILED:
    print(what)
sys.exit(bool(FAILED))
