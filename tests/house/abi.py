#!/usr/bin/env python3
"""What the libraries export is what their lists and the C headers say; nothing of other libraries; what headers inline finds what it calls.

Usage: abi.py [--write] SOURCE-ROOT USER-PROGRAM LIBRARY… -- COMPILER…
LIBRARY: FOLDER=FILE, with the lists SOURCE-ROOT/FOLDER/abi.txt and, of what is no ABI, private.txt. USER-PROGRAM: one that launches kernels. --write: rewrites the lists.
Prints each difference; the last line counts. A list that differs: CONTRIBUTING.md, The ABI."""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ABI, PRIVATE = "HSADRV_0", "HSADRV_0_PRIVATE"
# "hsadrv::…" and what the compiler makes for a class of that namespace; "hsadrv_…", the C interface.
OURS = re.compile(r"^(((typeinfo( name)?|vtable|VTT|guard variable|(non-)?virtual thunk) (for|to) )?hsadrv::|hsadrv_[a-z_]+$)")
failures = []


def check(condition: bool, message: str) -> None:
    if not condition:
        failures.append(message)
        print(message)


def exports(library: str) -> dict[str, tuple[str, str]]:
    """Demangled name → type letter of nm(1) and version."""
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in said.splitlines()]
    names = subprocess.run(["c++filt"], input="\n".join(re.sub("@.*", "", row[-1]) for row in rows), capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {name: (row[-2], re.sub("^[^@]*@*", "", row[-1])) for name, row in zip(names, rows) if row[-2] != "A"}


def is_listed(name: str, letter: str) -> bool:
    """Functions and variables, and type information of exceptions. Weak ones come and go with the compiler's inlining."""
    return letter not in "WVu" or name.startswith("typeinfo for")


def check_list(library: str, exported: set[str], file: Path, write: bool) -> None:
    if write and (exported or file.exists()):
        file.write_text("".join(name + "\n" for name in sorted(exported)))
    wanted = set(file.read_text().splitlines()) if file.exists() else set()
    for name in sorted(exported - wanted):
        check(False, f"{library} exports {name}, which {file} does not list")
    for name in sorted(wanted - exported):
        check(False, f"{library} does not export {name}, which {file} lists")


def check_library(folder: str, library: str, root: Path, write: bool) -> set[str]:
    """Returns the names of its ABI."""
    found = exports(library)
    for version, file in ((ABI, "abi.txt"), (PRIVATE, "private.txt")):
        check_list(library, {name for name, (letter, its) in found.items() if its == version and is_listed(name, letter)},
                   root / folder / file, write)
    for name, (_, version) in found.items():
        check(OURS.match(name) is not None, f"{library} exports {name}, which is neither in namespace hsadrv nor hsadrv_…")
        check(version in (ABI, PRIVATE), f"{library} exports {name} under the version '{version}'")
    abi = {name for name, (_, version) in found.items() if version == ABI}
    print(f"{library}: {len(abi)} symbols of {ABI}, {len(found) - len(abi)} of {PRIVATE}")
    return abi


def check_inlined(root: Path, abi: set[str], compiler: list[str]) -> None:
    """What inline functions of all public headers call is exported."""
    headers = sorted(str(header.relative_to(root)) for folder in ("hsadrv", "devicearray") for header in (root / folder).glob("*.hpp"))
    with tempfile.TemporaryDirectory() as scratch:
        source, made = Path(scratch) / "all.cpp", Path(scratch) / "all.o"
        source.write_text("".join(f'#include "{header}"\n' for header in headers))
        subprocess.run([*compiler, "-std=c++20", "-O0", "-fkeep-inline-functions", f"-I{root}", "-c", source, "-o", made], check=True)
        said = subprocess.run(["nm", "-uC", made], capture_output=True, text=True, check=True).stdout
    called = {line.split("U ", 1)[1] for line in said.splitlines() if "U hsadrv::" in line}
    for name in sorted(called - abi):
        check(False, f"an inline function of the public headers calls {name}, which is not exported")
    print(f"{len(headers)} public headers: their inline functions call {len(called)} functions of the libraries")


def check_c(root: Path, abi: set[str]) -> None:
    """The C headers declare what is exported, and nothing else."""
    headers = "".join(header.read_text() for folder in ("hsadrv/c", "devicearray/c") for header in sorted((root / folder).glob("*.h")))
    declared = set(re.findall(r"HSADRV_API [\w* ]*?\b(hsadrv_\w+)\(", headers))
    exported = {name for name in abi if re.match(r"hsadrv_[a-z_]+$", name)}
    for name in sorted(declared - exported):
        check(False, f"the C headers declare {name}, which is not exported")
    for name in sorted(exported - declared):
        check(False, f"{name} is exported, and the C headers do not declare it")
    check(len(declared) > 0, "no function of the C interface was found")
    print(f"the C headers: {len(declared)} functions")


def check_user(program: str) -> None:
    """std::atomic's waiters are counted in a static of the C++ library: the code that waits and the code that notifies must be in one library."""
    said = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout
    check("__waiter_pool" not in said, f"{program} notifies or waits on an atomic in an inline function of ours")


def main() -> None:
    arguments = sys.argv[1:]
    write = arguments[0] == "--write"
    root, program, *rest = arguments[write:]
    libraries, compiler = rest[:rest.index("--")], rest[rest.index("--") + 1:]
    abi: set[str] = set()
    for library in libraries:
        folder, file = library.split("=", 1)
        abi |= check_library(folder, file, Path(root), write)
    check_inlined(Path(root), abi, compiler)
    check_c(Path(root), abi)
    check_user(program)
    print("passed" if not failures else f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


main()
