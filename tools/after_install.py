#!/usr/bin/env python3
"""The end of `meson install`: updates the loader's cache, and prints what must be set so that what was installed is found.

    after_install.py PROGRAM-FOLDER LIBRARY-FOLDER MODULE-FOLDER

Folders that the shell, the loader, pkg-config and python3 search anyway are not printed."""
import os
import pathlib
import re
import stat
import subprocess
import sys

LIBRARY, COMMAND = "libhsadrv.so.0", "hsadrv"


def output(*command):
    """What a command prints; empty if it fails or is not installed. The administrator's folders are searched, too."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    try:
        return subprocess.run(command, env=os.environ | {"PATH": path}, text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def searched(folder, places):
    """Whether the folder is one of the places."""
    return any(place and os.path.realpath(place) == os.path.realpath(folder) for place in places)


def in_variable(folder, name):
    return searched(folder, os.environ.get(name, "").split(":"))


def loader_finds(folder):
    """Whether a program that needs the library gets this one. The loader takes the first of its cache."""
    cached = re.search(rf"^\s*{re.escape(LIBRARY)} .*=> (.*)$", output("ldconfig", "-p"), re.M)
    return bool(cached) and os.path.realpath(cached[1]) == os.path.realpath(folder / LIBRARY)


def loader_would_find(folder):
    """Whether it gets it once root has updated the cache."""
    return searched(folder, re.findall(r"^(/[^:]*):", output("ldconfig", "-N", "-X", "-v"), re.M))


def settings(programs, libraries, modules):
    """The variables that lack a folder, each with its folder, and what else is to be done."""
    missing, remark = {}, ""
    if (programs / COMMAND).exists() and not in_variable(programs, "PATH"):
        missing["PATH"] = programs
    if (libraries / LIBRARY).exists() and not in_variable(libraries, "LD_LIBRARY_PATH"):
        if os.geteuid() == 0:
            output("ldconfig")
        if not loader_finds(libraries):
            if loader_would_find(libraries) and os.geteuid() != 0:
                remark = f"Run ldconfig as root: the loader's cache does not have {LIBRARY} yet."
            else:
                missing["LD_LIBRARY_PATH"] = libraries
    packages = libraries / "pkgconfig"
    default = output("pkg-config", "--variable=pc_path", "pkg-config").strip()
    if default and not searched(packages, default.split(":")) and not in_variable(packages, "PKG_CONFIG_PATH"):
        missing["PKG_CONFIG_PATH"] = packages
    if not searched(modules, output(sys.executable, "-c", "import sys; print('\\n'.join(sys.path))").splitlines()):
        missing["PYTHONPATH"] = modules
    return missing, remark


def say(text):
    """Prints where Meson prints, which keeps the output of scripts that succeed. A file has its own position for each that opened
    it, and Meson would write over this."""
    for number in (1, 2) if "MESON_INSTALL_PREFIX" in os.environ else ():
        place = f"/proc/{os.getppid()}/fd/{number}"
        try:
            if not stat.S_ISREG(os.stat(place).st_mode):
                pathlib.Path(place).write_text(text, encoding="utf-8")
                return
        except OSError:
            pass  # no /proc, or a socket
    print(text, end="")


def main():
    missing, remark = settings(*map(pathlib.Path, sys.argv[1:4]))
    text = ""
    if missing:
        text += "\nhsadrv is in folders that are not searched by default. To use it, set:\n"
        text += "".join(f"  export {name}={folder}${{{name}:+:${name}}}\n" for name, folder in missing.items())
    if remark:
        text += f"\n{remark}\n"
    say(text or "\nhsadrv is installed: the shell, the loader, pkg-config and python3 find it.\n")


main()
