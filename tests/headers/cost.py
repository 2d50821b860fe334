#!/usr/bin/env python3
"""Prints the cost of including the libraries: the compiler's user seconds, and the goal.

    cost.py SOURCE-ROOT COMPILER [FLAG...]

Each program is compiled seven times without optimisation, in turn with the others; the median counts. A compiler cache
is not asked: CCACHE_DISABLE is set. Lines are those that the compiler reads, blank ones left out."""
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile

# The goal was set on a machine on which the first row takes 1.1 s.
GOAL, BASE = 2.0, 1.1
BARE = ["hsa/hsa.h", "hsa/hsa_ext_amd.h", "memory", "optional", "span", "string", "vector"]
PROGRAMS = {
    "hsa.h and standard headers": BARE,
    "hsadrv/hsadrv.hpp": ["hsadrv/hsadrv.hpp"],
    "devicearray/devicearray.hpp": ["devicearray/devicearray.hpp"],
}
SAMPLES = 7
ALL_STANDARD = "hsa.h and all its standard headers"


def standard_headers(compiler, header):
    """The paths of the standard headers that our headers include."""
    program = f"#include <{header}>\n"
    rule = subprocess.run([*compiler, "-M", "-x", "c++", "-"], input=program, check=True, capture_output=True, text=True)
    files = rule.stdout.replace("\\\n", " ").split()[1:]
    names, read = set(), {os.path.basename(path) for path in files}
    for path in files:
        if path.endswith(".hpp"):
            with open(path, encoding="utf-8") as file:
                names.update(re.findall(r"^#include <([a-z_0-9]+)>", file.read(), re.MULTILINE))
    return sorted(names & read)


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def main():
    root, compiler = sys.argv[1], [*sys.argv[2:], "-std=c++20", "-O0", "-I", sys.argv[1]]
    os.environ["CCACHE_DISABLE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        programs = {**PROGRAMS, ALL_STANDARD: BARE[:2] + standard_headers(compiler, "devicearray/devicearray.hpp")}
        sources, times = {}, {name: [] for name in programs}
        for number, (name, headers) in enumerate(programs.items()):
            sources[name] = f"{folder}/program{number}.cpp"
            with open(sources[name], "w", encoding="utf-8") as file:
                file.write("".join(f"#include <{header}>\n" for header in headers) + "int main() {}\n")
        for sample in range(SAMPLES + 1):
            for name, source in sources.items():
                seconds = user_seconds([*compiler, "-c", source, "-o", f"{folder}/program.o"])
                if sample > 0:  # the first one reads the files from disk
                    times[name].append(seconds)
        base = statistics.median(next(iter(times.values())))
        print(f"{'a program that includes':36} {'user s':>7} {'min':>6} {'÷ bare':>7} {'goal ÷':>7} {'lines':>8}")
        for name, source in sources.items():
            text = subprocess.run([*compiler, "-E", "-P", source], check=True, capture_output=True, text=True).stdout
            median = statistics.median(times[name])
            goal = f"{GOAL / BASE:.2f}" if name.startswith("devicearray") else ""
            print(f"{name:36} {median:7.2f} {min(times[name]):6.2f} {median / base:7.2f} {goal:>7} "
                  f"{text.count(chr(10)):8}")
        print(f"goal: devicearray.hpp in {GOAL} s where the first row takes {BASE} s")


main()
