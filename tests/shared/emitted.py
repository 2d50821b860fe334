#!/usr/bin/env python3
"""What shared/device/ becomes on every target: the table of atomic.hpp, row by row; at system scope nothing but what PCIe has; and
arithmetic of signed integers that may wrap.

    emitted.py [--long] [--clang clang-19]… [--target gfx90a]…

Without --long those of the turn, one in five; with it, or with HSADRV_LONG_TESTS=1, all."""
import pathlib
import re

from compilers import CL, CPP, arguments, known_as, of_turn, report, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "tests/shared/kernels"
TARGETS = ["gfx803", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950", "gfx1010", "gfx1030", "gfx1100", "gfx1200", "gfx1201"]
LEVELS = ["-O0", "-O1", "-O2", "-O3"]
PCIE = {"add", "swap", "cmpswap"}


def operations(body):
    """The atomics of a kernel, by names independent of the generation: add, fadd, min, swap, cmpswap, …"""
    found = set()
    for name in re.findall(r"^\t(?:(?:global|flat|buffer)_atomic|ds)_(\w+)", body, flags=re.M):
        if re.match(r"(read|write|load|store)(2|2st64)?(_addtid)?_[bui]\d+$", name):
            continue  # no atomics of LDS
        kind = re.sub(r"_(x2|rtn|[uibf]\d+)", "", name)
        kind = {"smin": "min", "umin": "min", "smax": "max", "umax": "max", "wrxchg": "swap", "storexchg": "swap", "cmpst": "cmpswap",
                "cmpstore": "cmpswap"}.get(kind, kind)
        found.add("f" + kind if re.search(r"_f(32|64)", name) else kind)
    return found


def wanted(kernel, clang, target):
    """The accepted results, each a set."""
    scope, rtn, operation, kind = re.fullmatch(r"(system|agent|lds)_(rtn_)?(\w+?)_(u?int\d+_t|float|double)", kernel).groups()
    simple = {"sub": "add", "exchange": "swap", "compare_exchange": "cmpswap"}.get(operation, operation)
    if simple == "swap":
        return [{"swap"}] if rtn else [{"swap"}, set()]
    if simple == "add" and kind in ("float", "double"):
        if scope == "lds":
            native = kind == "float" or target in ("gfx90a", "gfx940", "gfx942", "gfx950")
            return [{"fadd"}] if native else [{"cmpswap"}]
        anywhere = target in ("gfx942", "gfx950") or (target.startswith("gfx12") and kind == "float")
        return [{"cmpswap"}, {"fadd"}] if scope == "agent" and anywhere else [{"cmpswap"}]
    if scope == "system" and simple in ("min", "max", "and", "or", "xor"):
        return [{"cmpswap"}]
    return [{simple}]


def table(clang, target, level):
    name = f"{clang} {target} {level} atomic_table.cpp"
    text = run(clang, *CPP, "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", level, f"-I{ROOT}", "-S", f"{KERNELS}/atomic_table.cpp",
               "-o", "-")
    wrong, seen = [], 0
    for match in re.finditer(r"^(\w+):.*@\1$", text, flags=re.M):
        kernel, found = match[1], operations(text[match.end():text.find("s_endpgm", match.end())])
        seen += 1
        if kernel.startswith(("system", "known")) and not found <= PCIE:
            wrong.append(f"{name}: {kernel} has {found - PCIE}, which PCIe does not support")
        elif not kernel.startswith("known") and found not in wanted(kernel, clang, target):
            wrong.append(f"{name}: {kernel} is {found or 'without an atomic'}, not one of {wanted(kernel, clang, target)}")
        elif kernel.startswith("known") and not found:
            wrong.append(f"{name}: {kernel} is without an atomic")
    if seen < 200:
        wrong.append(f"{name}: only {seen} kernels are there")
    return wrong, seen


def wraps(clang, target, source):
    """No signed arithmetic of the headers is undefined on overflow: clang marks such operations nsw."""
    name = f"{clang} {target} {source}"
    text = run(clang, *(CL if source.endswith(".cl") else CPP), "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-O1", f"-I{ROOT}",
               "-Xclang", "-disable-llvm-passes", "-emit-llvm", "-S", f"{KERNELS}/{source}", "-o", "-")
    wrong, seen = [], 0
    for match in re.finditer(r"^define [^\n]*?@(_Z\w*(?:hsadrv|atom|wave_|scan)\w*)\(.*?\n\}", text, flags=re.M | re.S):
        seen += 1
        if re.search(r"\b(add|sub|mul) nsw\b", match[0]):
            wrong.append(f"{name}: {match[1]} overflows as undefined behaviour")
    if seen < 20:
        wrong.append(f"{name}: only {seen} functions are there")
    return wrong, seen


def main():
    given = arguments()
    jobs, skipped = [], 0 if given.clang else 1
    for clang in given.clang:
        for target in TARGETS:
            if given.target and target not in given.target:
                continue
            if known := known_as(clang, target):
                jobs += [(table, clang, known, level) for level in LEVELS]
            else:
                skipped += 1
        jobs += [(wraps, clang, "gfx90a", source) for source in ("wave.cpp", "wave.cl", "atomic_table.cpp", "atomics.cl")]
    report(jobs if given.long else of_turn(jobs, 5), given.jobs, skipped)


main()
