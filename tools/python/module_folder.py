"""Prints the folder below a prefix in which this python3 looks for modules, or nothing.

    module_folder.py PREFIX

Debian's looks into /usr/local/lib/python3.N/dist-packages and /usr/lib/python3/dist-packages; one that was built, and a virtual
environment, into lib/python3.N/site-packages of their own prefix."""
import pathlib
import site
import sys

prefix = pathlib.Path(sys.argv[1])
for place in map(pathlib.Path, site.getsitepackages() + [site.getusersitepackages()]):
    if place.is_relative_to(prefix) and place.relative_to(prefix).parts[0].startswith("lib"):
        print(place)
        break
