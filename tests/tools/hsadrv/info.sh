#!/usr/bin/env bash
# hsadrv info: its three reports compared with each other and with rocminfo's, and without a GPU.
. "$(dirname "$0")/expect.bash"

# The short report.
expect 'the runtime and the driver' 0 '^ROCR [0-9.]+ \(HSA 1\.[0-9]+\), amdgpu .*Linux [0-9]' on_gpu "$hsadrv" info
expect 'a GPU and its product' 0 '^gpu0  gfx90a  AMD Instinct MI210$' on_gpu "$hsadrv" info
expect 'its target' 0 '^  target    gfx90a:sramecc\+:xnack-$' on_gpu "$hsadrv" info
expect 'its compute units and clock' 0 '^  compute   104 CUs, 1700 MHz, wavefronts of 64$' on_gpu "$hsadrv" info
expect 'its memory and LDS' 0 '^  memory    512 MiB.*; LDS 64 KiB a work-group$' on --vram 512M -- "$hsadrv" info
expect 'its PCI address' 0 '^  PCI       0000:01:00\.0$' on_gpu "$hsadrv" info
expect 'its UUID' 0 '^  UUID      GPU-[0-9a-f]{16}$' on_gpu "$hsadrv" info
expect 'the host' 0 '^  compute   [0-9]+ CPUs' on_gpu "$hsadrv" info
on_gpus 2 "$hsadrv" info >two.txt
expect 'two GPUs fit a screen' 0 '^[0-9]+ [0-9]+$' awk 'length > longest {longest = length} END {print NR, longest; exit NR > 24 || longest > 80}' two.txt
expect 'no colour in a file' 1 '^$' grep $'\e' two.txt
expect 'colour on a terminal' 0 $'\e''\[1mgpu0' on_terminal "$kfdemu" run -- "$hsadrv" info
expect 'no colour with NO_COLOR' 1 '' bash -c '"$@" | grep -q $'"'\\e'" - env NO_COLOR=1 "$python" "$source_root/tests/tools/hsadrv/terminal.py" "$kfdemu" run -- "$hsadrv" info

# One GPU of several.
expect 'a device by number' 0 '^gpu1  gfx90a' on_gpus 2 "$hsadrv" info --device 1
expect 'and no other' 1 '' bash -c '"$@" | grep -E "^(gpu0|cpu0)"' - "$kfdemu" run --gpus 2 -- "$hsadrv" info --device 1
expect 'a device by PCI address' 0 '^Agent 3$' on_gpus 2 "$hsadrv" info --full --device 0000:02:00.0
expect 'a device by its name' 0 '^gpu0  gfx900' on --gpu gfx900 -- "$hsadrv" info --device gfx900
expect 'a name that two have' 2 'hsadrv: --device gfx90a: .*could be each of 0, 1' on_gpus 2 "$hsadrv" info --device gfx90a
expect 'no such device' 3 'hsadrv: --device 2: .*no GPU has that ordinal.*0000:02:00\.0' on_gpus 2 "$hsadrv" info --device 2
expect 'an unknown option' 2 'hsadrv info --help lists the options' "$hsadrv" info --fulll
expect 'an argument too many' 2 'hsadrv info --help lists the options' "$hsadrv" info gfx90a
expect 'a full disk' 4 'cannot write to standard output: No space left' bash -c '"$@" info --full >/dev/full' - "$kfdemu" run -- "$hsadrv"

# Everything, against rocminfo.
for gpus in '--gpu gfx90a' '--gpu gfx900' '--gpu gfx906 --private-vram' '--gpu gfx90a --gpus 2' '--gpu gfx900 --gpus 2 --vram 1G'; do
    # shellcheck disable=SC2086
    on $gpus -- "$hsadrv" info --full >full.txt
    if sanitized; then
        skip 1 'a sanitized emulator cannot be preloaded into rocminfo'
    elif command -v rocminfo >/dev/null; then
        # shellcheck disable=SC2086
        on $gpus -- rocminfo >rocminfo.txt
        expect "rocminfo agrees on $gpus" 0 '^[0-9]{3} lines agree$' "$python" "$source_root/tests/tools/hsadrv/rocminfo.py" rocminfo.txt full.txt
    else
        skip 1 'rocminfo is not installed'
    fi
done
# The comparison sees what is wrong.
differs() {
    sed "$2" full.txt >changed.txt
    expect "the comparison sees $1" 1 "$3" "$python" "$source_root/tests/tools/hsadrv/rocminfo.py" full.txt changed.txt
}
differs 'another value' 's/^  Compute Unit: .*/  Compute Unit:            63/' 'says Agent 1 / Compute Unit: [0-9]+, hsadrv 63'
differs 'a missing line' '/Cacheline Size/d' 'missing, or not in its place: Agent 3 / Cacheline Size:'
differs 'another order' '/^  Chip ID/{h;d};/^  ASIC Revision/{G}' 'missing, or not in its place'
differs 'a line of its own' 's/^  Uuid:.*/&\n  Colour:                  red/' 'not a line of rocminfo: Agent 1 / Colour: red'
differs 'another pool' '/^    Pool 2/,$s/COARSE/FINE/' 'Agent 2 / .*Pool Info: / Pool 1 / Segment:'
expect 'the comparison wants the whole report' 1 'not a whole report' "$python" "$source_root/tests/tools/hsadrv/rocminfo.py" full.txt /dev/null

# After rocminfo's report: no line like its own.
sed '1,/^\*\*\* Done \*\*\*$/d' full.txt >beyond.txt
expect 'links' 0 '^    gpu1 \(agent 3\) +1 of 1  xGMI  50\.0 GB/s to 100\.0 GB/s +- +15 +32, 64 bits  yes$' cat beyond.txt
expect 'links to the host' 0 '^    cpu0 \(agent 1\) +1 of 1  PCIe .* 20 ' cat beyond.txt
expect 'the PCI address' 0 '^  PCI address: +0000:02:00\.0$' cat beyond.txt
expect 'the runtime' 0 '^Runtime build: +ROCR [0-9]' cat beyond.txt
expect 'caches in true sizes' 0 '^    L2 +4 MiB$' cat beyond.txt
expect 'what greps rocminfo finds no more there' 0 '^0$' "$python" - full.txt <<'END'
import re, sys
report, beyond = open(sys.argv[1], encoding="utf-8").read().split("*** Done ***\n")
words = {match[1] for match in re.finditer(r"^ *([A-Z][^:\n]*:)", report, re.M)} | set(re.findall(r"^(?:Agent|  +Pool|  +ISA) \d+$", report, re.M))
words |= set(re.findall(r"gfx\w+", report))
print(len([word for word in words if word.strip() in beyond]))
END

# JSON.
expect_json info on_gpus 2 "$hsadrv" info --json
expect 'agents' 0 "^\['cpu', 'gpu', 'gpu'\]$" field info.json '[a["kind"] for a in j["agents"]]'
expect 'memory in bytes' 0 '^8589934592$' field info.json 'j["agents"][1]["memory_bytes"]'
expect 'LDS in bytes' 0 '^65536$' field info.json 'j["agents"][1]["gpu"]["group_segment_bytes"]'
expect 'caches in bytes' 0 '^\[16384, 8388608\]$' field info.json '[c["size_bytes"] for c in j["agents"][1]["caches"]]'
expect 'a 64-bit limit' 0 '^True$' field info.json 'j["agents"][1]["isas"][0]["grid_max_workitems"] == 2**64 - 1'
expect 'links by agent' 0 "^\[\(1, 'PCIe'\), \(3, 'xGMI'\)\]$" field info.json '[(w["to_agent"], w["hops"][0]["type"]) for w in j["agents"][1]["links"]]'
expect 'what --device takes' 0 '^\[None, 0, 1\]$' field info.json '[a["device"] for a in j["agents"]]'
expect 'what this runtime does not tell is null' 0 '^True$' field info.json 'all(v is None or v >= 0 for v in [j["agents"][1]["gpu"]["memory_available_bytes"]])'
expect_json info on_gpus 2 "$hsadrv" info --json --device 1
expect 'one agent of three' 0 '^3 \[3\]$' field info.json 'str(j["agents_of_machine"]) + " " + str([a["number"] for a in j["agents"]])'
expect_json info on --private-vram -- "$hsadrv" info --json
expect 'memory that the host cannot touch' 0 "^\['never', 'always'\] \[\]$" field info.json 'str([a["access"] for a in j["agents"][1]["pools"][0]["access"]]) + " " + str(j["agents"][0]["links"])'

# CPUs alone, and no runtime at all.
no_gpu() { ROCR_VISIBLE_DEVICES=-1 on_gpu "$@"; }
expect 'the host alone' 0 '^no GPU: run hsadrv doctor to find the cause$' no_gpu "$hsadrv" info
no_gpu "$hsadrv" info --full >full.txt
expect 'the host alone, in full' 0 '^  Device Type: +CPU$' cat full.txt
expect_json info no_gpu "$hsadrv" info --json
expect 'the host alone as JSON' 0 "^\['cpu'\]$" field info.json '[a["kind"] for a in j["agents"]]'
expect 'the host alone has no device' 3 'hsadrv: --device 0: .*no GPU' no_gpu "$hsadrv" info --device 0
if [ -e /dev/kfd ]; then
    skip 2 'this machine has a real GPU'
else
    expect 'no device' 3 'hsa_init\(\).*/dev/kfd' on_none "$hsadrv" info
    expect 'no device, and who knows more' 3 'run hsadrv doctor to find the cause' on_none "$hsadrv" info --json
fi
finish
