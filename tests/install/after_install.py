#!/usr/bin/env python3
"""What tools/after_install.py prints for folders that are searched and for others. Usage: after_install.py SCRIPT"""
import os
import pathlib
import subprocess
import sys
import tempfile

script = sys.argv[1]
failed = passed = 0


def said(bin_folder, lib_folder, modules, **variables):
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "PYTHONPATH")}
    done = subprocess.run([sys.executable, script, *map(str, (bin_folder, lib_folder, modules))], env=environment | variables, text=True,
                          capture_output=True, check=True)
    return done.stdout


def expect(what, text, *parts, absent=()):
    global passed, failed
    right = all(part in text for part in parts) and not any(part in text for part in absent)
    passed, failed = passed + right, failed + (not right)
    if not right:
        print(f"FAILED: {what}: it printed\n{text}")


with tempfile.TemporaryDirectory() as name:
    root = pathlib.Path(name)
    programs, libraries, modules = root / "bin", root / "lib", root / "lib/python"
    for folder in (programs, libraries / "pkgconfig", modules):
        folder.mkdir(parents=True)
    (libraries / "libhsadrv.so.0").touch()
    expect("libraries without commands", said(programs, libraries, modules), f"export LD_LIBRARY_PATH={libraries}$", absent=["export PATH="])
    (programs / "hsadrv").touch()
    expect("folders that nothing searches", said(programs, libraries, modules), f"export PATH={programs}${{PATH:+:$PATH}}",
           f"export LD_LIBRARY_PATH={libraries}$", f"export PKG_CONFIG_PATH={libraries}/pkgconfig$", f"export PYTHONPATH={modules}$")
    expect("folders that the variables have",
           said(programs, libraries, modules, PATH=f"{programs}:{os.environ['PATH']}", LD_LIBRARY_PATH=str(libraries),
                PKG_CONFIG_PATH=f"{libraries}/pkgconfig", PYTHONPATH=str(modules)),
           "the shell, the loader, pkg-config and python3 find it", absent=["export"])
    (libraries / "libhsadrv.so.0").unlink()
    expect("static libraries alone", said(programs, libraries, modules), "export PATH=", absent=["LD_LIBRARY_PATH"])
    expect("a module folder that python3 searches", said(programs, libraries, os.path.dirname(os.__file__)), absent=["PYTHONPATH"])

print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed != 0)
