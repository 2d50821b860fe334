#!/usr/bin/env bash
# hsadrv topo: the drawing, its tables, SVG, DOT and JSON.
. "$(dirname "$0")/expect.bash"

on_gpus 2 "$hsadrv" topo >two.txt
expect 'a CPU' 0 '^┌─ cpu0 ─+┐$' cat two.txt
expect 'its memory and NUMA node' 0 '^│ [0-9]+ CPUs, [0-9.]+ GiB, NUMA node 0 +│$' cat two.txt
expect 'GPUs below it' 0 '^    ┌─ gpu0 ─+┴─+┐  ┌─ gpu1 ─+┴─+┐$' cat two.txt
expect 'their targets' 0 '│ gfx90a:sramecc\+:xnack- +│' cat two.txt
expect 'their memory' 0 '│ 8\.0 GiB, 104 CUs +│' cat two.txt
expect 'their PCI addresses' 0 '│ 0000:01:00\.0 +│  │ 0000:02:00\.0 +│' cat two.txt
expect 'their links to it' 0 '│ PCIe, 31\.5 GB/s, distance 20 │  │ PCIe, 31\.5 GB/s, distance 20 │' cat two.txt
expect 'the link between them' 0 '^gpu0, gpu1  xGMI, 100\.0 GB/s, distance 15$' cat two.txt
expect 'a table of types' 0 '^gpu0  PCIe     -  xGMI$' cat two.txt
expect 'a table of distances' 0 '^gpu1    20    15     -$' cat two.txt
expect 'a table of bandwidths' 0 '^gpu1  31\.5  100\.0      -$' cat two.txt
expect 'ASCII where there is nothing else' 1 '^$' bash -c 'LC_ALL=C "$@" topo | LC_ALL=C grep "[^ -~]"' - "$kfdemu" run --gpus 2 -- "$hsadrv"
expect 'boxes of ASCII' 0 '^\+- cpu0 -+\+$' env LC_ALL=C "$kfdemu" run --gpus 2 -- "$hsadrv" topo
expect 'as wide as the terminal' 0 '^100$' bash -c '"$@" | sed "s/[^ -~]/x/g" | awk "{print (length > 100) ? \"too wide\" : 100}" | sort -u' - env COLUMNS=100 "$kfdemu" run --gpus 8 -- "$hsadrv" topo
expect 'eight in a hive' 0 '^gpu0 to gpu7  xGMI, each with each, 100\.0 GB/s, distance 15$' on_gpus 8 "$hsadrv" topo
expect 'a memory that the host cannot touch' 0 '^cpu0     -  none$' on --private-vram -- "$hsadrv" topo
expect 'and the link that goes one way' 0 'distance 20, one way' on --private-vram -- "$hsadrv" topo

# SVG and DOT.
for gpus in 1 2 8; do
    on_gpus $gpus "$hsadrv" topo --svg >$gpus.svg
    on_gpus $gpus "$hsadrv" topo --dot >$gpus.dot
    expect "SVG of $gpus" 0 '^<svg xmlns=' cat $gpus.svg
    if command -v xmllint >/dev/null; then
        expect "SVG of $gpus is XML" 0 '^$' xmllint --noout $gpus.svg
    else
        skip 1 'xmllint is not installed'
    fi
    expect "SVG of $gpus, as Python reads XML" 0 "^$gpus 1$" "$python" - $gpus.svg <<'END'
import sys
import xml.etree.ElementTree as xml
root = xml.parse(sys.argv[1]).getroot()
space = "{http://www.w3.org/2000/svg}"
classes = [box.get("class") for box in root.iter(space + "rect")]
assert root.tag == space + "svg" and root.find(space + "title").text
print(classes.count("gpu"), classes.count("cpu"))
END
    # What the language needs, where Graphviz is not there to say: statements of a node or an edge, nodes before edges.
    expect "DOT of $gpus" 0 "^$((gpus + 1)) nodes, $((gpus + gpus * (gpus - 1) / 2)) edges$" "$python" - $gpus.dot <<'END'
import re, sys
lines = open(sys.argv[1], encoding="utf-8").read().splitlines()
assert lines[0] == "graph topology {" and lines[-1] == "}"
text, nodes, edges = r'"(?:[^"\\]|\\.)*"', set(), 0
attributes = rf"\[(?:\w+=(?:{text}|[\w.]+)(?:, )?)+\]"
for line in lines[1:-1]:
    if re.fullmatch(rf"  (?:graph|node|edge) {attributes};|  \{{ rank=same;(?: {text};)+ \}}  // \w+", line):
        continue
    if match := re.fullmatch(rf"  ({text}) -- ({text}) {attributes};", line):
        assert {match[1], match[2]} <= nodes, line
        edges += 1
    else:
        nodes.add(re.fullmatch(rf"  ({text}) {attributes};", line)[1])
print(f"{len(nodes)} nodes, {edges} edges")
END
    if command -v dot >/dev/null; then
        expect "Graphviz draws $gpus" 0 '<svg' dot -Tsvg $gpus.dot
    else
        skip 1 'dot (Graphviz) is not installed: the structure alone has been checked'
    fi
done
holds 'both into files' on_gpus 2 "$hsadrv" topo --svg to.svg --dot to.dot
holds 'the SVG file' cmp to.svg 2.svg
holds 'the DOT file' cmp to.dot 2.dot
expect 'a file and JSON' 0 '^  "schema": "hsadrv.topo"' on_gpus 2 "$hsadrv" topo --svg to.svg --json
holds 'a dash is standard output' bash -c '"$@" | cmp - 2.svg' - "$kfdemu" run --gpus 2 -- "$hsadrv" topo --svg -
expect 'two for standard output' 2 'hsadrv: --svg and --dot cannot both be standard output' on_gpu "$hsadrv" topo --svg --dot
expect 'JSON and another' 2 'hsadrv: --dot and --json cannot both be standard output' on_gpu "$hsadrv" topo --dot --json
expect 'a file in a folder that is not there' 4 'hsadrv: cannot write missing/a.svg: No such file' on_gpu "$hsadrv" topo --svg missing/a.svg
expect 'a folder as file' 4 'hsadrv: cannot write \.: Is a directory' on_gpu "$hsadrv" topo --dot .
expect 'a full disk' 4 'cannot write to standard output: No space left' bash -c '"$@" topo --svg >/dev/full' - "$kfdemu" run -- "$hsadrv"
expect 'no --device here' 2 'hsadrv topo --help lists the options' "$hsadrv" topo --device 0

# The committed picture is what the tool draws today, but for the host: its name, cores and memory are the machine's.
any_host() { sed '/>cpu0<\/text>/{n;s/>[^<]*</>…</;n;s/>[^<]*</>…</}' "$1"; }
expect 'the picture of the documentation' 0 '^$' diff <(any_host 2.svg) <(any_host "$source_root/docs/tools/pictures/topo.svg")
expect 'the host is left out of that' 0 '^2$' grep -c '>…<' <(any_host 2.svg)

# JSON.
expect_json topo on_gpus 2 "$hsadrv" topo --json
expect 'agents' 0 "^\['cpu0', 'gpu0', 'gpu1'\]$" field topo.json '[a["label"] for a in j["agents"]]'
expect 'links, each way' 0 '^6$' field topo.json 'len(j["links"])'
expect 'a bandwidth' 0 '^100000000000$' field topo.json '[w["hops"][0]["max_bandwidth_bytes_per_second"] for w in j["links"] if (w["from_agent"], w["to_agent"]) == (2, 3)][0]'
expect 'the nearest CPU' 0 '^\[None, 1, 1\]$' field topo.json '[a["nearest_cpu_agent"] for a in j["agents"]]'
expect 'a hive' 0 "^\[\('xGMI', \[2, 3\]\)\]$" field topo.json '[(h["type"], h["agents"]) for h in j["hives"]]'

# CPUs alone, and no runtime at all.
no_gpu() { ROCR_VISIBLE_DEVICES=-1 on_gpu "$@"; }
expect 'the host alone' 0 '^no GPU: run hsadrv doctor to find the cause$' no_gpu "$hsadrv" topo
expect 'the host alone as SVG' 0 '>1 CPU and 0 GPUs</text>' no_gpu "$hsadrv" topo --svg
expect_json topo no_gpu "$hsadrv" topo --json
if [ -e /dev/kfd ]; then
    skip 2 'this machine has a real GPU'
else
    expect 'no device' 3 'run hsadrv doctor to find the cause' on_none "$hsadrv" topo
    on_none "$hsadrv" topo --svg none.svg >/dev/null 2>&1
    holds 'no device, no file' test ! -e none.svg
fi
finish
