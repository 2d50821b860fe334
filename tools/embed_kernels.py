#!/usr/bin/env python3
"""Compiles a kernel source for every named GPU, bundles and compresses the code objects, and writes the bundle as a C++ array
with its size: embed_kernels.py SOURCE OUTPUT.cpp DEPFILE NAMESPACE NAME [KERNEL-CACHE CLANG BUNDLER TARGET,TARGET… ARGUMENT…]

Without a compiler the array is empty."""
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile


def run(*command):
    if subprocess.run(command).returncode != 0:
        sys.exit(f"embed_kernels.py: {command[0]} failed, see above")


def bundled(source, output, depfile, cache, clang, bundler, targets, *arguments):
    with tempfile.TemporaryDirectory() as folder:
        def compiled(target):
            dependencies = ["-MD", "-MF", depfile, "-MT", output] if target == targets[0] else []
            run(cache, clang, *arguments, f"-mcpu={target}", "-O2", *dependencies, source, "-o", f"{folder}/{target}")
            return f"-input={folder}/{target}"

        with concurrent.futures.ThreadPoolExecutor() as pool:
            inputs = list(pool.map(compiled, targets))
        names = ",".join(["host-x86_64-unknown-linux-gnu--"] + ["hipv4-amdgcn-amd-amdhsa--" + target for target in targets])
        run(bundler, "-type=o", "-compress", f"-targets={names}", "-input=/dev/null", *inputs, f"-output={folder}/bundle")
        return pathlib.Path(folder, "bundle").read_bytes()


def main(source, output, depfile, namespace, name, cache="", clang="", bundler="", targets="", *arguments):
    if targets:
        data = bundled(source, output, depfile, cache, clang, bundler, targets.split(","), *arguments)
    else:
        data = b""
        pathlib.Path(depfile).write_text(f"{output}: {source}\n")
    lines = [",".join(map(str, data[at:at + 32])) for at in range(0, len(data), 32)]
    pathlib.Path(output).write_text(f"namespace {namespace} {{\n"
                                    f"extern const unsigned char {name}[];\n"
                                    f"extern const unsigned long {name}_size;\n"
                                    f"const unsigned char {name}[] = {{\n" + (",\n".join(lines) or "0") + "};\n"
                                    f"const unsigned long {name}_size = {len(data)};\n"
                                    "}\n")


main(*sys.argv[1:])
