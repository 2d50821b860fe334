"""Whether hsadrv objdump --json says of each kernel what llvm-readelf --notes says. Usage: notes.py NOTES REPORT.json
The report is of one file with one code object. Exit status 77: Python has no YAML here."""
import json
import re
import sys

try:
    import yaml
except ImportError:
    sys.exit(77)

yaml.SafeLoader.add_constructor("!str", lambda loader, node: node.value)  # LLVM's way to say that y is no truth value
notes = open(sys.argv[1], encoding="utf-8").read()
metadata = yaml.safe_load(re.search(r"AMDGPU Metadata:\s*---\n(.*?)\n\.\.\.", notes, re.S)[1])
code = json.load(open(sys.argv[2], encoding="utf-8"))["files"][0]["code_objects"][0]
failures = compared = 0


def same(what, ours, theirs):
    global failures, compared
    compared += 1
    if ours != theirs:
        failures += 1
        print(f"{what}: {ours!r} in the report, {theirs!r} in the notes")


KERNEL = {"symbol": ".symbol", "vgprs": ".vgpr_count", "sgprs": ".sgpr_count", "vgpr_spills": ".vgpr_spill_count",
          "sgpr_spills": ".sgpr_spill_count", "lds_bytes": ".group_segment_fixed_size", "scratch_bytes": ".private_segment_fixed_size",
          "max_workgroup": ".max_flat_workgroup_size", "wavefront": ".wavefront_size", "kernarg_bytes": ".kernarg_segment_size",
          "kernarg_align_bytes": ".kernarg_segment_align", "required_workgroup": ".reqd_workgroup_size", "language": ".language",
          "language_version": ".language_version", "workgroup_size_hint": ".workgroup_size_hint", "vec_type_hint": ".vec_type_hint"}
ARGUMENT = {"name": ".name", "type": ".type_name", "offset_bytes": ".offset", "size_bytes": ".size", "kind": ".value_kind",
            "address_space": ".address_space", "access": ".access", "actual_access": ".actual_access",
            "pointee_align_bytes": ".pointee_align"}
FLAGS = {"const": ".is_const", "restrict": ".is_restrict", "volatile": ".is_volatile", "pipe": ".is_pipe"}

same("target", code["isa"], metadata.get("amdhsa.target", code["isa"]).replace("-unknown-", "--"))
kernels = metadata["amdhsa.kernels"]
same("kernels", [kernel["name"] for kernel in code["kernels"]], [kernel[".name"] for kernel in kernels])
same("printf formats", code["printf_formats"], metadata.get("amdhsa.printf", []))
for ours, theirs in zip(code["kernels"], kernels):
    where = ours["name"]
    for key, note in KERNEL.items():
        same(f"{where}: {key}", ours[key], theirs.get(note))
    same(f"{where}: agprs", ours["agprs"], theirs.get(".agpr_count", 0))
    same(f"{where}: dynamic_stack", ours["dynamic_stack"], bool(theirs.get(".uses_dynamic_stack", False)))
    arguments = theirs.get(".args", [])
    same(f"{where}: arguments", len(ours["arguments"]), len(arguments))
    for i, (our, their) in enumerate(zip(ours["arguments"], arguments)):
        for key, note in ARGUMENT.items():
            same(f"{where}, argument {i}: {key}", our[key], their.get(note))
        for key, note in FLAGS.items():
            same(f"{where}, argument {i}: {key}", our[key], bool(their.get(note, False)))
        same(f"{where}, argument {i}: hidden", our["hidden"], their[".value_kind"].startswith("hidden_"))
print(f"{compared} compared, {failures} differ")
sys.exit(failures != 0 or compared < 20)
