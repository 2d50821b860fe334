#!/usr/bin/env python3
"""What tools/kfdemu/dejagnu.py makes of libgomp's directives.

Usage: dejagnu.py SOURCE-ROOT"""
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/tools/kfdemu")
import dejagnu  # noqa: E402

FAILED = []


def read(source: str, name: str = "c:libgomp.oacc-c/test.c", **others: str) -> dejagnu.Test:
    """The test with that source, and with others' sources at their paths."""
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / dejagnu.FOLDER.lstrip("/")
        for path, text in ((name.split(":")[1], source), *others.items()):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return dejagnu.read(Path(root), name, "14", "gfx90a")


def expect(what: str, holds: bool) -> None:
    if not holds:
        FAILED.append(what)


acc = read("")
expect("OpenACC's tests are compiled with -fopenacc alone: the offload compiler takes one of the two",
       " -fopenacc " in acc.compile and "-fopenmp" not in acc.compile)
expect("OpenACC's tests run on the GPU, unless a test chooses another device",
       " ACC_DEVICE_TYPE=radeon " in acc.run and read('/* { dg-set-target-env-var ACC_DEVICE_TYPE "host" } */').run.index("=host") >
       acc.run.index("=radeon"))
expect("a name of the environment need not be a name of the shell",
       " env 'OMP_NUM_TEAMS_DEV_ 1=48' " in read('/* { dg-set-target-env-var "OMP_NUM_TEAMS_DEV_ 1" "48" } */', "c:libgomp.c/t.c").run)
omp = read("", "c:libgomp.c/test.c")
expect("OpenMP's tests are compiled with -fopenmp alone", " -fopenmp " in omp.compile and "-fopenacc" not in omp.compile)
expect("headers of GCC's source are found", "-I /gcc-source/include -I /gcc-source/libgomp " in omp.compile)
expect("a test in a folder of a folder", "/libgomp.c/examples-4/" in read("", "c:libgomp.c/examples-4/test.c").compile)
expect("dg-options replaces -O2 of OpenMP's C tests, not that of OpenACC's, which are repeated at several levels",
       "-O2" not in read('/* { dg-options "-O1" } */', "c:libgomp.c/test.c").compile and
       "-O2" in read('/* { dg-options "-O1" } */').compile)

SKIPPED = {  # the selector and the options of dg-skip-if
    "{ *-*-* }": True,
    '{ *-*-* } { "*" } { "-DACC_MEM_SHARED=0" }': False,
    '{ *-*-* } { "-DACC_MEM_SHARED=1" }': False,
    "{ *-*-* } { -DACC_MEM_SHARED=0 }": True,
    '{ *-*-* } { "-O0" } { "" }': False,
    '{ ! run_expensive_tests } { "*" } { "-O0" "-O2" }': False,
    'openacc_radeon_accel_selected { "*" } { "" }': True,
    "openacc_nvidia_accel_selected": False,
}
for rule, skipped in SKIPPED.items():
    expect(f"dg-skip-if {rule}", bool(read(f'/* {{ dg-skip-if "" {rule} }} */').why_not) == skipped)
expect("dg-shouldfail's selector has no word target",
       read('/* { dg-shouldfail "" { ! openacc_host_selected } } */').fails and
       not read('/* { dg-shouldfail "" { openacc_nvidia_accel_selected } } */').fails)
expect("a requirement of another target is none", not read("/* { dg-require-effective-target openacc_cuda { target ia32 } } */").why_not)
expect("a test may expect the compiler's errors", not read('/* { dg-excess-errors "lto1" { target offload_target_amdgcn } } */').compiles)
expect("a message of an error is the compiler's", bool(read('/* { dg-message "sorry, unimplemented" } */').why_not))
expect("braces without blanks are no directive", not read("/* {dg-do compile} */").why_not and read("/* {dg-do compile} */").runs)

OUTPUT = {  # after the unescaping of Tcl, where a point matches newlines
    (r".\\\[host\\\] OMP_ALLOCATOR = 'a'.*", "\n [host] OMP_ALLOCATOR = 'a'\n"): True,
    (r".\\\[host\\\] OMP_ALLOCATOR = 'a'.*", "\n host OMP_ALLOCATOR = 'a'\n"): False,
    (r"CheCKpOInT(\n|\r\n|\r).*", "CheCKpOInT\n\nlibgomp"): True,
    ("first.*second", "first\nand\nsecond"): True,
    (r"\\\[\[0-9a-fA-FxX\]+,\\\+0\\\] is a bad range", "[0x557d,+0] is a bad range"): True,
}
for (expected, printed), matches in OUTPUT.items():
    expect(f"{expected} in {printed!r}", read(f'/* {{ dg-output "{expected}" }} */').prints(printed) == matches)

expect("output that is known to be missing is not expected", read('/* { dg-output "yes" { xfail *-*-* } } */').prints("no"))

header = {"libgomp.c/test.c": '#include "config.h"\n'}
expect("a test that includes one that includes the build's header cannot be compiled",
       bool(read('#include "../libgomp.c/test.c"\n', "c++:libgomp.c++/test.C", **header).why_not))

for what in FAILED:
    print(what)
sys.exit(bool(FAILED))
