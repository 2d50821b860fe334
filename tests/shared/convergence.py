#!/usr/bin/env python3
"""How often an operation that speaks to other lanes is in the code: as often as in the source, whatever branches, loops, functions and
lambdas are around it. The kernels are those of tests/kfdemu/differential/kernels/convergence*, which also run there.

    convergence.py [--long] [--clang clang-19]… [--target gfx90a]…

Without --long those of the turn, one in 37; with it, or with HSADRV_LONG_TESTS=1, all of them."""
import itertools
import pathlib
import re
import subprocess
import tempfile

from compilers import CL, CPP, arguments, known_as, of_turn, report

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ROOT / "tests/kfdemu/differential/kernels"
LEVELS = ["-O0", "-O1", "-O2", "-O3"]
LANGUAGES = {
    "convergence.cpp": CPP,
    "convergence_cl.cl": CL,
}
# As in hsadrv-cc (tools/hsadrv-cc/commands.cpp).
CLANG_16 = ["-mllvm", "-simplifycfg-hoist-common=false", "-mllvm", "-simplifycfg-sink-common=false"]
RDNA = [[wave, mode] for wave in ("-mno-wavefrontsize64", "-mwavefrontsize64") for mode in ("-mcumode", "-mno-cumode")]
# The modes of each target. Older clangs call gfx942 gfx940.
CONFIGURATIONS = {**{target: [[]] for target in ("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950")},
                  **{target: RDNA for target in ("gfx1010", "gfx1030", "gfx1100", "gfx1200", "gfx1201")}}

# In the assembly: reductions by the step that occurs once in each.
ASSEMBLY = {"sum": r"row_shr:8\b", "scan": r"row_shr:8\b", "pull": r"\bds_bpermute_b32\b", "push": r"\bds_permute_b32\b",
            "barrier": r"\bs_barrier(_signal)?\b"}
# In LLVM IR after all optimisation: operations that the assembly does not distinguish from the compiler's own.
LLVM = {"votes": r"@llvm\.(amdgcn\.ballot|read_register)", "here": r"@llvm\.(amdgcn\.ballot|read_register)", "first": r"@llvm\.amdgcn\.readfirstlane"}

# Kernels that are not of convergence_shapes.h: operation and number.
OTHERS = {"barrier_between": 1, "barrier_between_opposites": 1, "barrier_in_a_loop": 1, "barrier_in_a_uniform_branch": 2, "users_sync": 1,
          "barrier_in_a_helper": 0, "barrier_in_an_inlined_helper": 1}
OTHERS_CPP = {"sum_in_a_lambda": 1, "first_in_a_lambda": 3, "barrier_in_a_lambda": 1, "pull_in_templates": 4, "scan_in_members": 2}


def expected(source):
    """{name of a function: (operation, times)}"""
    text = re.sub(r"/\*.*?\*/", "", (KERNELS / "convergence_shapes.h").read_text(), flags=re.S)
    shapes = {}
    for kind, name, body in re.findall(r"^(?:CALLING_)?(SHAPE|NOINLINE u32 HELPER)\((\w+)\)(.*?\n\}|.*?\}$)", text, flags=re.S | re.M):
        times = len(re.findall(r"\bOP\(", body)) + len(re.findall(r"HELPER\(inlined\)\(", body))
        shapes[name if kind == "SHAPE" else "helper_" + name] = times
    found = {f"{operation}_{shape}": (operation, times) for operation in [*ASSEMBLY, *LLVM] if operation != "barrier"
             for shape, times in shapes.items()}
    for name, times in {**OTHERS, **(OTHERS_CPP if source.endswith(".cpp") else {})}.items():
        found[name] = ("barrier" if name.startswith("users_") else name.split("_")[0], times)
    return found


def functions(text, begin, end):
    """{name: text} of the functions of an assembly or of LLVM IR. C++ names stay as the source has them. A kernel of clang 22's
    OpenCL C is the function that it calls at -O0."""
    found = {}
    for match in re.finditer(begin, text, flags=re.M):
        name = re.sub(r"^_ZL\d+(\w+?)(j*|v)$", r"\1", match[1])
        found[name] = text[match.end():text.find(end, match.end())]
    return {name: found.get("__clang_ocl_kern_imp_" + name, text) for name, text in found.items()}


def pattern_and_times(operation, times, target, modes):
    """The pattern to count in the code of one function, and the expected count."""
    # Waves of 64 from GFX10 on have permutes within halves of 32 only: a loop over the active lanes replaces them.
    if operation in ("pull", "push") and "-mwavefrontsize64" in modes and target.startswith("gfx1"):
        return r"\bds_b?permute_b32\b", 0
    return {**ASSEMBLY, **LLVM}[operation], times


def check(clang, source, target, modes, level):
    """The errors, as lines; and the number of functions checked."""
    name = " ".join([clang, source, target, *modes, level])
    machine = [clang, "--target=amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib", "-mcode-object-version=5", *modes, level,
               *(CLANG_16 if clang.endswith("-16") else [])]
    with tempfile.TemporaryDirectory() as folder:
        # In two steps, to check both.
        steps = [[*machine, *LANGUAGES[source], "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter", f"-I{ROOT}", "-emit-llvm", "-S",
                  f"{KERNELS}/{source}", "-o", f"{folder}/k.ll"],
                 [*machine, "-x", "ir", "-Xclang", "-disable-llvm-passes", "-S", f"{folder}/k.ll", "-o", f"{folder}/k.s"]]
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True)
            if done.returncode != 0:
                return [f"{name}: {done.stderr}"], 0
        llvm = functions(pathlib.Path(folder, "k.ll").read_text(), r"^define .*?@(\w+)\(.*$", "\n}")
        assembly = functions(pathlib.Path(folder, "k.s").read_text(), r"^(\w+):.*@\1$", "\n.Lfunc_end")
    wrong, seen = [], 0
    for function, (operation, times) in expected(source).items():
        text = assembly if operation in ASSEMBLY else llvm
        pattern, times = pattern_and_times(operation, times, target, modes)
        if function not in text:
            wrong.append(f"{name}: {function} is not there")
            continue
        seen += 1
        got = sum(1 for line in text[function].splitlines() if re.search(pattern, line))
        if got != times:
            wrong.append(f"{name}: {function}: {got} of {pattern}, not {times}")
    return wrong, seen


def main():
    given = arguments()
    jobs, skipped = [], 0 if given.clang else 1
    for clang, (target, configurations) in itertools.product(given.clang, CONFIGURATIONS.items()):
        if given.target and target not in given.target:
            continue
        if known := known_as(clang, target):
            jobs += [(check, clang, source, known, modes, level) for modes in configurations for level in LEVELS for source in LANGUAGES]
        else:
            skipped += 1
    # 37: a prime, so that no turn has one level or language only
    report(jobs if given.long else of_turn(jobs, 37), given.jobs, skipped)


main()
