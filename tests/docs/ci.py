#!/usr/bin/env python3
"""docs/guide/ci.md: its container file and its workflow agree with the sources and with kfdemu's options, and its programs, and the
workflow's commands, run where their compilers are installed. Usage: ci.py SOURCE-ROOT; kfdemu is in PATH."""
import ast
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

root = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "tools/kfdemu"))
from guide_page import Page  # noqa: E402

page = Page(root / "docs/guide/ci.md")
text = (root / "docs/guide/ci.md").read_text(encoding="utf-8")
count = {"passed": 0, "failed": 0, "skipped": 0}


def check(good, what):
    count["passed" if good else "failed"] += 1
    if not good:
        print("FAILED:", what)


def skip(what):
    count["skipped"] += 1
    print("skipped:", what)


def output_of(*command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240, check=False, **options)
    return done.returncode, done.stdout.decode(errors="replace")


def shell(script, folder):
    return output_of("sh", "-ec", script, cwd=folder)


def check_container():
    kinds = re.findall(r"^(\S+)", page.container.replace("\\\n", " "), re.M)
    check(kinds[0] == "FROM" and set(kinds) <= {"FROM", "RUN", "COPY"}, f"the container file's lines: {kinds}")
    for command in page.container_commands():
        check(output_of("sh", "-nc", command)[0] == 0, f"a shell reads {command}")
    setup = (root / "tools/setup.bash").read_text(encoding="utf-8")
    needed = re.search(r"build_packages=\((.*?)\)", setup, re.S)[1].split()
    for package in needed:
        check(package.endswith("?") or package in page.packages(), f"the container file installs {package}")
    commands = " ".join(page.container_commands())
    known = (root / "meson_options.txt").read_text(encoding="utf-8")
    for option in re.findall(r"-D(\w+)=", commands):
        check(f"option('{option}'" in known, f"-D{option} is an option of the build")
    built = re.search(r"ninja -C /build (.*?) &&", commands)[1].split()
    for target in built:
        folder, name = re.fullmatch(r"(.*)/(?:lib)?([\w-]+?)(?:\.so)?", target).groups()
        sources = (root / folder / "meson.build").read_text(encoding="utf-8")
        kind = "shared_library" if target.endswith(".so") else "executable"
        check(f"{kind}('{name}'" in sources, f"{target} is a target of the build")


def check_workflow():
    help_text = output_of("kfdemu", "run", "--help")[1]
    for gpu in page.gpus():
        check(re.search(rf"\b{gpu}\b", help_text), f"{gpu} is a model")
    for option in re.findall(r"`(--[\w-]+)`", text.split("## What runs")[0]):
        check(option in help_text, f"{option} is an option of kfdemu run")
    try:
        import yaml
    except ImportError:
        return skip("the workflow as YAML: there is no python3-yaml")
    job, = yaml.safe_load(page.workflow)["jobs"].values()
    check(job["strategy"]["matrix"]["gpu"] == page.gpus(), "the workflow's matrix")
    steps = [step["run"] for step in job["steps"] if "run" in step]
    check([s.replace("${{ matrix.gpu }}", "gfx90a") for s in steps] == page.workflow_commands("gfx90a"), "the workflow's steps")
    for step in steps:
        check("${{" not in step.replace("${{ matrix.gpu }}", ""), f"a shell reads {step}")


def has_hip(folder):
    return shutil.which("hipcc") is not None


def has_offloading_gcc(folder):
    (folder / "empty.c").write_text("int main(void) {}\n", encoding="utf-8")
    return output_of("gcc-14", "-fopenmp", "-foffload=amdgcn-amdhsa", "-o", "empty", "empty.c", cwd=folder)[0] == 0 \
        if shutil.which("gcc-14") else False


def has_opencl(folder):
    probe = "import pyopencl as cl; cl.Context(cl.get_platforms()[0].get_devices())"
    return output_of("kfdemu", "run", "--", "python3", "-c", probe, cwd=folder)[0] == 0


def has_cmake_and_hip(folder):
    return has_hip(folder) and all(map(shutil.which, ("cmake", "make")))


def run_programs(folder):
    for name, body in page.files.items():
        (folder / name).write_text(body, encoding="utf-8")
        if name.endswith(".py"):
            check(ast.parse(body), name)
    for name, needs in {"hip": has_hip, "openmp": has_offloading_gcc, "opencl": has_opencl}.items():
        script, wanted = page.commands[name]
        if not needs(folder):
            skip(f"{name}: its compiler is not installed")
            continue
        status, printed = shell(script, folder)
        check(status == 0 and printed.endswith(wanted), f"{name}: exit status {status}, {printed}")
    for gpu in page.gpus():
        if not has_cmake_and_hip(folder):
            skip(f"the workflow on {gpu}: hipcc, cmake or make is not installed")
            continue
        status, printed = shell("\n".join(["rm -rf build", *page.workflow_commands(gpu)]), folder)
        check(status == 0 and "100% tests passed" in printed, f"the workflow on {gpu}: exit status {status}, {printed}")


def run_openmp_on_the_host(folder):
    """Its arithmetic, where there is no offloading compiler."""
    if not shutil.which("gcc"):
        return skip("OpenMP on the host: there is no gcc")
    status, printed = shell("gcc -O2 -fopenmp -foffload=disable saxpy.c -o saxpy-host && OMP_TARGET_OFFLOAD=DISABLED ./saxpy-host", folder)
    check(status == 0 and printed.endswith("y[999] = 1999\n"), f"OpenMP on the host: exit status {status}, {printed}")


check_container()
check_workflow()
with tempfile.TemporaryDirectory() as scratch:
    run_programs(pathlib.Path(scratch))
    run_openmp_on_the_host(pathlib.Path(scratch))
print(", ".join(f"{number} {what}" for what, number in count.items()))
sys.exit(count["failed"] != 0)
