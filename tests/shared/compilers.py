"""Common parts of convergence.py and emitted.py: flags, arguments, targets of each clang, and the report."""
import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys

CPP = ["-x", "c++", "-std=c++20", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-Xclang", "-fconvergent-functions"]
CL = ["-x", "cl", "-cl-std=CL2.0"]


def arguments():
    """--long, --clang, --target and --jobs; clang: each installed version, unless given."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true", default=os.environ.get("HSADRV_LONG_TESTS", "") not in ("", "0"))
    parser.add_argument("--clang", action="append", help="clangs to use; default: each installed version")
    parser.add_argument("--target", action="append")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    given.clang = given.clang or [name for name in (f"clang-{major}" for major in range(16, 40)) if shutil.which(name)]
    return given


def of_turn(jobs, share):
    """Every share-th job: others in other turns ($HSADRV_TEST_TURN, tests/support/turn.hpp)."""
    turn = int(os.environ.get("HSADRV_TEST_TURN", "0"))
    return [job for number, job in enumerate(jobs) if (number + turn) % share == 0]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(command)}\n{done.stderr}")
    return done.stdout + done.stderr


def known_as(clang, target):
    """The target's name for that clang, or None with a message; older clangs call gfx942 gfx940."""
    known = run(clang, "--target=amdgcn-amd-amdhsa", "-nogpulib", "-print-supported-cpus").split()
    for name in (target, {"gfx942": "gfx940"}.get(target)):
        if name in known:
            return name
    print(f"skipped: {clang} does not know {target}")
    return None


def report(jobs, threads, skipped):
    """Runs the jobs, functions that return (error, number of functions seen); exits with their counts."""
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(lambda job: job[0](*job[1:]), jobs))
    for wrong, _ in results:
        for line in wrong:
            print("FAILED:", line)
    failed = sum(1 for wrong, _ in results if wrong)
    print(f"{sum(seen for _, seen in results)} functions in {len(jobs)} compilations")
    print(f"{len(results) - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(77 if not jobs else failed != 0)
