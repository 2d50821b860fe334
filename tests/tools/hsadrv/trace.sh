#!/usr/bin/env bash
# hsadrv trace: what it records of programs, also of those that are killed, and the report.
. "$(dirname "$0")/expect.bash"
work=${files[0]} raw_hsa=${files[1]} edges=${files[2]} kernels=$build/tests/kernels
if sanitized; then
    skip 1 'a library with a sanitizer cannot be loaded into a program without one'
    finish
fi

# traced FILE COMMAND…: on one GPU.
traced() { on_gpu "$hsadrv" trace -o "$1" -- "${@:2}"; }
# counted FILE: the dispatches, copies, and how many of them have no times.
counted() { "$hsadrv" trace report "$1" --json | "$python" -c 'import json, sys; j = json.load(sys.stdin); print(j["dispatches"], j["copies"], j["without_times"])'; }
# peak FILE AGENT: the most bytes that were allocated of its memory.
peak() { "$hsadrv" trace report "$1" --json | "$python" -c 'import json, sys; print(*[p["bytes"] for p in json.load(sys.stdin)["peaks"] if p["name"] == "allocated: " + sys.argv[1]])' "$2"; }

# ---- programs that end

expect 'the program prints what it prints' 0 '^100 dispatches, 6 copies$' traced a.pftrace "$work" "$kernels/fill.hsaco" 100 3
expect 'its dispatches and copies are counted, and have times' 0 '^100 6 0$' counted a.pftrace
expect 'what was written is said' 0 '^hsadrv: b.pftrace: 1000 dispatches, 2 copies; ui.perfetto.dev' traced b.pftrace "$work" "$kernels/fill.hsaco" 1000 1
expect 'many dispatches' 0 '^1000 2 0$' counted b.pftrace
expect 'the status is the program'"'"'s' 7 '' traced c.pftrace "$work" "$kernels/fill.hsaco" 1 0 exit 7
expect 'a program of the C API alone' 0 '^all right$' traced raw.pftrace "$raw_hsa" "$kernels"
expect 'has its dispatch, two asynchronous copies and one that is not' 0 '^1 3 0$' counted raw.pftrace
expect 'arguments in brackets and options are the program'"'"'s' 0 '^<\[a,b\]><--json>' on_gpu "$hsadrv" trace -o none.pftrace -- printf '<%s>' '[a,b]' --json
expect 'a program without HSA has no trace' 0 'no trace: the program did not start the HSA runtime' on_gpu "$hsadrv" trace -o none.pftrace -- true
holds 'and no file' [ ! -e none.pftrace ]
expect 'two processes are one trace' 0 '2 dispatches' traced two.pftrace bash -c '"$0" "$1" 1 0 && "$0" "$1" 1 0' "$work" "$kernels/fill.hsaco"
expect 'of which each is named' 0 '^2$' "$python" -c 'import json, subprocess, sys
print(len(json.loads(subprocess.check_output(sys.argv[1:]))["processes"]))' "$hsadrv" trace report two.pftrace --json
holds 'and no other file is left' bash -c '! ls two.pftrace.* 2>/dev/null'

# ---- programs that do not

expect 'a program that is killed' 137 '50 dispatches, 4 copies; ui' traced killed.pftrace "$work" "$kernels/fill.hsaco" 50 2 kill
expect 'has what it did before' 0 '^50 4 0$' counted killed.pftrace
expect 'a program that leaves without hsa_shut_down' 0 '20 dispatches' traced quick.pftrace "$work" "$kernels/fill.hsaco" 20 0 quick
expect 'has all of it' 0 '^20 0 0$' counted quick.pftrace
expect 'Ctrl-C ends it' 130 'dispatches' on_terminal --interrupt 'dispatches, ' \
    "$kfdemu" run -- "$hsadrv" trace -o interrupted.pftrace -- "$work" "$kernels/fill.hsaco" 10 1 wait
expect 'and the file is whole' 0 '^10 2 0$' counted interrupted.pftrace
setsid "$kfdemu" run -- "$hsadrv" trace -o alone.pftrace -- "$work" "$kernels/fill.hsaco" 30 1 wait >alone.out 2>&1 &
for _ in $(seq 300); do grep -q dispatches alone.out && break; sleep 0.1; done
kill -KILL -- -$! # its process group
wait 2>/dev/null
expect 'if all are killed, the file opens' 0 '^30 2 0$' counted alone.pftrace

# ---- what programs may do

for case in destroy exit fork null; do expect "the program goes on: $case" 0 '0 dispatches, 0 copies; ui' traced edge.pftrace "$edges" $case; done
expect 'signals that are set again, and an empty copy' 0 '50 copies; ui' traced copies.pftrace "$edges" copies
expect 'have times' 0 '^0 50 0$' counted copies.pftrace
traced vmem.pftrace "$edges" vmem >vmem.out 2>&1
if grep -q '^no virtual memory' vmem.out; then
    skip 1 'the HSA runtime has no virtual memory'
else
    expect 'memory counts until it is released and unmapped' 0 '^4194304$' peak vmem.pftrace gpu0
fi
expect 'the runtime started twice' 0 '2 copies; ui' traced again.pftrace "$edges" again
expect 'threads that enqueue together' 0 '1200 dispatches' traced together.pftrace "$edges" producers "$kernels/fill.gfx90a.o" 8 150
traced fault.pftrace "$edges" fault "$kernels/fill.gfx90a.o" >fault.out 2>&1
expect 'a kernel for whose memory fault the runtime aborts' 0 '^1 0 1$' counted fault.pftrace
expect 'and the fault' 0 'memory fault' "$hsadrv" trace report fault.pftrace
expect 'a trace in a trace' 0 'inner.pftrace: 3 dispatches' on_gpu "$hsadrv" trace -o outer.pftrace -- "$hsadrv" trace -o inner.pftrace -- "$work" "$kernels/fill.hsaco" 3 0
echo precious >notes.txt
expect 'a file that is no trace is not replaced' 4 "'notes.txt' is there, and no trace" on_gpu "$hsadrv" trace -o notes.txt -- true
expect 'and is as it was' 0 '^precious$' cat notes.txt
expect 'a file of the name of a subcommand' 0 'no trace' on_gpu "$hsadrv" trace -o report -- true

# ---- limits and mistakes

expect 'a limit is kept' 0 'no room for more: later events are missing' \
    on_gpu "$hsadrv" trace --limit 1M -o small.pftrace -- "$work" "$kernels/fill.hsaco" 10000 0
holds 'in bytes' bash -c '[ "$(stat -c %s small.pftrace)" -le 1048576 ]'
expect 'what is there is whole' 0 '^[1-9][0-9]* 0 0$' counted small.pftrace
expect 'a ring keeps the last' 0 'dispatches, 0 copies; ui' on_gpu "$hsadrv" trace --ring --limit 2M -o ring.pftrace -- "$work" "$kernels/fill.hsaco" 10000 0
holds 'in as many bytes' bash -c '[ "$(stat -c %s ring.pftrace)" -le 2097152 ] && [ "$(stat -c %s ring.pftrace)" -gt 1000000 ]'
holds 'and in one file' bash -c '! ls ring.pftrace.* 2>/dev/null'
expect 'among it the end' 0 'hsa_queue_destroy' bash -c '"$0" trace report --all ring.pftrace' "$hsadrv"
expect 'a limit that is none' 2 '--limit 12: wanted is a size of 1M or more' on_gpu "$hsadrv" trace --limit 12 -- true
expect 'no program' 2 'missing program: hsadrv trace \[-o FILE\] -- PROGRAM' on_gpu "$hsadrv" trace
expect 'a program that is not there' 127 'cannot run /nowhere/a.out: No such file' on_gpu "$hsadrv" trace -- /nowhere/a.out
expect 'a file that cannot be made' 4 "cannot write '/nowhere/t': No such file" on_gpu "$hsadrv" trace -o /nowhere/t -- true
expect 'a report of what is no trace' 4 "is not a trace of hsadrv trace" "$hsadrv" trace report "$source_root/README.md"
expect 'a report of nothing' 4 "cannot read '/nowhere/t'" "$hsadrv" trace report /nowhere/t

# ---- the report

expect_json report "$hsadrv" trace report a.pftrace --json
expect 'the kernel' 0 '^fill 100$' field report.json 'j["kernels"][0]["name"] + " " + str(j["kernels"][0]["dispatches"])'
expect 'bytes of copies' 0 "^\[\('copy gpu0 to host', 196608\), \('copy host to gpu0', 196608\)\]$" \
    field report.json 'sorted((k["name"], k["bytes"]) for k in j["copy_kinds"])'
expect 'times are within each other' 0 '^True$' field report.json \
    'all(g["span_ns"] >= g["kernels_ns"] and g["span_ns"] == g["idle_ns"] + g["kernels_ns"] + g["copies_ns"] - g["overlap_ns"] for g in j["gpus"])'
expect 'as text' 0 '^  fill +100 ' "$hsadrv" trace report a.pftrace
expect 'its copies' 0 '^  copy host to gpu0 +3  192 KiB ' "$hsadrv" trace report a.pftrace
# With ROCR 6 and newer, hsadrv names the engine of some copies.
expect 'its calls' 0 '^6$' field report.json 'sum(c["times"]["count"] for c in j["calls"] if c["name"].startswith("hsa_amd_memory_async_copy"))'
expect 'and as text' 0 '^  hsa_amd_memory_async_copy.* [1-6] ' "$hsadrv" trace report a.pftrace --all
holds 'a drawing' "$hsadrv" trace report a.pftrace --svg a.svg
expect 'that is XML, with a bar or more a queue' 0 '^True$' "$python" -c 'import sys, xml.etree.ElementTree as x
print(sum(1 for r in x.parse(sys.argv[1]).getroot().iter("{http://www.w3.org/2000/svg}rect") if list(r)) >= 3)' a.svg

# ---- as others read it

if command -v protoc >/dev/null; then
    expect 'protoc decodes it' 0 'fill' bash -c 'protoc --decode_raw <a.pftrace'
else
    skip 1 'protoc is not installed'
fi
if processor=$(command -v trace_processor_shell || command -v trace_processor); then
    expect "Perfetto's trace_processor reads the same" 0 '^8 traces are equal$' "$python" "$source_root/tests/tools/trace/trace_processor.py" \
        "$processor" "$hsadrv" {a,raw,two,killed,copies,together,small,ring}.pftrace
else
    skip 1 "Perfetto's trace_processor is not installed"
fi
finish
