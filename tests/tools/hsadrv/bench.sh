#!/usr/bin/env bash
# hsadrv bench: its reports on one GPU, two and none, and its refusals. Independent of speed.
. "$(dirname "$0")/expect.bash"
made=$build/tests/tools/hsadrv
quick=(--samples 2 --warmup 1 --seconds 0.1)
copies=("$hsadrv" bench copy "${quick[@]}") copy=("${copies[@]}" --sizes "100,4K,64K")
lines() { "$@" | wc -l; }

# Copies: table, JSON, CSV, drawings.
expect 'a table of copies' 0 'pinned to device +auto +64 KiB +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+x' on_gpu "${copy[@]}"
on_gpu "${copy[@]}" >table
holds 'the convention is stated' grep -q 'A copy.s bytes count once' table
holds 'no wider than the terminal' [ "$(wc -L <table)" -le 100 ]
expect_json bench on_gpu "${copy[@]}" --json
expect 'copies: seven directions of one GPU, three sizes each' 0 '^21 7$' field bench.json \
    'str(len(j["rows"])) + " " + str(len({r["name"] for r in j["rows"]}))'
expect 'copies both ways count both' 0 '^True$' field bench.json \
    'all(r["work_per_sample"] == r["size_bytes"] * (2 if "<->" in r["name"] else 1) for r in j["rows"])'
expect 'percentiles enclose the median' 0 '^True$' field bench.json \
    'all(r[k]["p5"] <= r[k]["median"] <= r[k]["p95"] for r in j["rows"] for k in ("time_ns", "rate_per_second"))'
expect 'all data right' 0 '^True$' field bench.json 'j["all_verified"] and all(r["verified"] for r in j["rows"])'
expect 'the requested number of samples' 0 '^True$' field bench.json 'all(r["samples"] == 2 for r in j["rows"])'
expect 'one GPU has no peer' 0 '^None$' field bench.json 'j["peer"]'
expect 'CSV: a line for each row' 0 '^22$' lines on_gpu "${copy[@]}" --csv
expect 'only the directions named' 0 '^7$' lines on_gpu "${copy[@]}" --csv --direction to-device,host
expect 'drawn after the table' 0 '^ *1 ?┤|│a' on_gpu "${copy[@]}" --plot
expect 'drawn in ASCII' 0 '^ *[0-9.]+ \+' env LC_ALL=C "$kfdemu" run -- "${copy[@]}" --plot
expect 'drawn into a file' 0 'to device' on_gpu "${copy[@]}" --svg copy.svg
holds 'the drawing has a curve for each direction' [ "$(grep -c '<polyline' copy.svg)" = 7 ]
expect 'copies by kernels are reported' 0 'HSA_ENABLE_SDMA=0: kernels copy' env HSA_ENABLE_SDMA=0 "$kfdemu" run -- "${copies[@]}" --sizes 4K

# Two GPUs.
expect_json bench on_gpus 2 "${copy[@]}" --json --device 1
expect 'ten directions of two GPUs' 0 '^10 gpu1 gpu0$' field bench.json \
    'str(len({r["name"] for r in j["rows"]})) + " " + j["device"]["label"][:4] + " " + j["peer"][:4]'
expect 'all data between GPUs right' 0 '^True$' field bench.json 'j["all_verified"]'
expect 'the given peer' 0 'on gpu1 .* and gpu2 ' on --gpus 3 -- "${copy[@]}" --direction to-peer --device 1 --peer 2
expect 'a GPU is not its own peer' 2 'peer 0 and --device are the same GPU, gpu0' on_gpus 2 "${copy[@]}" --peer 0
expect 'no such peer' 3 'peer 7: .*no GPU has that ordinal' on_gpus 2 "${copy[@]}" --peer 7

# The others.
expect 'a table of launches' 0 'graph replay, a packet +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+x +[0-9]+' on_gpu "$hsadrv" bench launch "${quick[@]}"
expect_json bench on_gpu "$hsadrv" bench launch "${quick[@]}" --batch 10 --json --svg launch.svg
expect 'launches: three ways, one and ten at a time' 0 "^\['graph replay, a packet', 'raw AQL', 'stream launch, checked'\] \[1, 10\]$" \
    field bench.json 'str(sorted({r["name"] for r in j["rows"]})) + " " + str(sorted({round(r["work_per_sample"]) for r in j["rows"]}))'
expect 'all launches right' 0 '^True$' field bench.json 'j["all_verified"]'
expect_json bench on_gpu "$hsadrv" bench alloc "${quick[@]}" --sizes 100,64K --json
expect 'memory: five ways, two sizes' 0 '^10 True$' field bench.json 'str(len(j["rows"])) + " " + str(j["all_verified"])'
expect 'a table of allocations' 0 'locking host memory +4 KiB' on_gpu "$hsadrv" bench alloc "${quick[@]}" --sizes 4K
expect_json bench on_gpu "$hsadrv" bench kernel "${quick[@]}" --size 1M --json
expect 'kernels: all right' 0 '^8 True$' field bench.json 'str(len(j["rows"])) + " " + str(j["all_verified"])'
expect 'kernels: in two units' 0 'FP64 fused multiply-add' on_gpu "$hsadrv" bench kernel "${quick[@]}" --kernel fp64 --kernel copy --size 64K --plot
expect 'kernels of gfx900' 0 'on gpu0 gfx900' on --gpu gfx900 -- "$hsadrv" bench kernel "${quick[@]}" --kernel fp32,fp64,lds,triad --size 64K
if sanitized; then
    skip 1 'valgrind does not run what AddressSanitizer is built into'
elif command -v valgrind >/dev/null; then
    expect 'instructions' 0 'raw AQL .* [0-9]+ +2$' on_gpu "$hsadrv" bench launch "${quick[@]}" --instructions
    expect 'instructions without valgrind' 5 'valgrind is not installed \(apt-get install valgrind\)' \
        env PATH="$scratch" "$kfdemu" run -- "$hsadrv" bench launch --instructions
else
    skip 1 'valgrind is not installed'
    expect 'instructions without valgrind' 5 'valgrind is not installed' on_gpu "$hsadrv" bench launch --instructions
fi
if command -v xmllint >/dev/null; then
    holds 'the drawings are XML' xmllint --noout copy.svg launch.svg
else
    skip 1 'xmllint is not installed'
fi

# Compared with a hand-written loop.
expect 'the same rows as a hand-written loop, and right data' 0 '^the same rows, all data right$' \
    "$python" "$source_root/tests/tools/hsadrv/bench_agrees.py" --rows "$hsadrv" "$made/hand_written_copy" "$kfdemu" run --

# Wrong results, and a device that hangs.
broken=(--code-object "$made/bench_broken.hsaco")
expect 'a wrong result' 1 'WRONG: raw AQL: what the kernel stored is 1021 and should be 1020' on_gpu "$hsadrv" bench launch "${quick[@]}" "${broken[@]}"
expect_json bench on_gpu "$hsadrv" bench kernel "${quick[@]}" --kernel lds --json "${broken[@]}"
expect 'a wrong result as JSON' 0 "^False element 0 of [0-9]+ 256 [0-9]+$" field bench.json \
    'str(j["all_verified"]) + " " + " ".join(j["rows"][0]["mismatch"].values())'
expect 'a kernel that hangs' 5 'kernel bench_fma_f32: not complete after 0.3 s, the device hangs: .*bench_fma_f32' \
    timeout 60 "$kfdemu" run -- "$hsadrv" bench kernel --kernel fp32 --timeout 0.3 "${broken[@]}"
hanging=("$hsadrv" bench copy --sizes 64K --direction to-device --samples 1000000 --seconds 100 --timeout 0.5)
sanitized && skip 1 'a copy that hangs: the module that stops it is preloaded into bash, too' ||
    expect 'a copy that hangs' 5 'copy pinned to device, engine auto, 64 KiB: not complete after 0.5 s, the device hangs: ' timeout 60 "$kfdemu" run -- \
    env STALL_COPIES_AFTER=20000000 bash -c 'LD_PRELOAD=$0:$LD_PRELOAD exec "$@"' "$made/libstall_copies.so" "${hanging[@]}"
expect 'a kernel that is not in the file' 4 'code-object .*: .*bench_read.*bench_launch' on_gpu "$hsadrv" bench kernel --kernel read "${broken[@]}"
expect 'no such file' 4 'code-object nowhere: .*No such file' on_gpu "$hsadrv" bench launch --code-object nowhere
head -c 1000 "$made/bench_broken.hsaco" >cut.hsaco
expect 'a file that was cut' 4 'code-object cut.hsaco: ' on_gpu "$hsadrv" bench launch --code-object cut.hsaco
for model in gfx900 gfx906 gfx908; do
    expect "kernels for $model" 0 "gpu0 $model.*" on --gpu $model -- "$hsadrv" bench kernel --kernel fp32 --samples 3 --warmup 0
done

# Invalid options.
expect 'no benchmark' 2 'bench: missing benchmark: there are copy, launch, alloc and kernel' "$hsadrv" bench
expect 'no such benchmark' 2 "there is no 'frob'" "$hsadrv" bench frob
expect 'no such option' 2 'hsadrv bench copy --help lists the options' "$hsadrv" bench copy --frobnicate
expect 'two forms' 2 '^hsadrv: --csv and --json cannot be combined: ' on_gpu "$hsadrv" bench launch --csv --json
expect 'JSON and a drawing' 2 '^hsadrv: --json and --plot cannot be combined: ' on_gpu "$hsadrv" bench alloc --json --plot
expect 'an engine for copies without an engine' 2 '^hsadrv: --engine 1 and --direction host cannot be combined: ' on_gpu "${copy[@]}" --engine 1 --direction host
expect 'no samples' 2 '^hsadrv: --samples 0: ' on_gpu "$hsadrv" bench copy --samples 0
expect 'samples that are no number' 2 'samples' on_gpu "$hsadrv" bench copy --samples many
expect 'no time' 2 '^hsadrv: --seconds 0: not from 0.001' on_gpu "$hsadrv" bench kernel --seconds 0
expect 'a range that ends before it begins' 2 "^hsadrv: --sizes: '3..1': the range ends before it begins" on_gpu "${copies[@]}" --sizes 3..1
expect 'a size of zero' 2 "'0': a size of zero" on_gpu "$hsadrv" bench alloc --sizes 4K,0
expect 'no such direction' 2 'direction sideways: unknown; expected one of host, to-device' on_gpu "${copy[@]}" --direction sideways
expect 'no such kernel' 2 'kernel fp128: unknown; expected one of fp32' on_gpu "$hsadrv" bench kernel --kernel fp128
expect 'more than the host has' 2 'a copy of 64 TiB, .* needs 320 TiB of the host.s memory, of which' on_gpu "${copies[@]}" --sizes 64T
expect 'more than the pool has' 2 'a copy of 96 MiB, .* needs 192 MiB of gpu0 gfx90a coarse-grained, which has 128 MiB' \
    on --vram 128M -- "${copies[@]}" --sizes 96M --direction to-device
expect 'more than the pool has, at once' 2 'allocating 256 MiB needs 256 MiB of gpu0 .*, which has 128 MiB' on --vram 128M -- "$hsadrv" bench alloc --sizes 256M
expect 'more than the pool has, three times' 2 'three arrays of 64 MiB needs 192 MiB' on --vram 128M -- "$hsadrv" bench kernel --kernel triad
expect 'a peer without a second GPU' 3 'peer 1: there is no second GPU' on_gpu "${copy[@]}" --peer 1
expect 'to a peer without a second GPU' 3 'direction to-peer: there is no second GPU' on_gpu "${copy[@]}" --direction to-peer
expect 'no such device' 3 'device 7: ' on_gpu "${copy[@]}" --device 7
expect 'no GPU' 3 'run hsadrv doctor to find the cause' on_none "${copy[@]}"
expect 'a drawing that cannot be written' 4 'cannot write /nowhere/x.svg: No such file' on_gpu "${copy[@]}" --svg /nowhere/x.svg
expect 'a full disk' 4 'cannot write to standard output: No space left' bash -c '"$@" >/dev/full' - "$kfdemu" run -- "${copy[@]}"

# If the runtime can choose engines there is a row for each; otherwise the reason is printed.
on_gpu "${copy[@]}" --engine all --json >engines.json 2>engines.err
case $? in
0)
    expect 'rows for engines' 0 '^True$' field engines.json '{"auto", "0"} <= {r["engine"] for r in j["rows"]} and j["all_verified"]'
    expect 'an invalid engine' 2 'engine 31: not for copies pinned to device; those have engine 0' on_gpu "${copy[@]}" --engine 31
    ;;
*)
    expect 'the runtime gives no choice of engines' 0 'engine all: .*not offered by this runtime.*ROCm 5.6; --engine auto leaves' cat engines.err
    expect 'the runtime gives no choice of an engine' 5 'engine 0: .*not offered by this runtime.*ROCm 5.6' on_gpu "${copy[@]}" --engine 0
    ;;
esac

# Ctrl-C: nothing is printed by halves, and the terminal is as it was.
expect 'interrupted' 130 'copy: [0-9]+ of [0-9]+ rows' on_terminal --interrupt 'rows;' "$kfdemu" run -- "$hsadrv" bench copy --samples 1000000 --seconds 1000
on_terminal --interrupt 'rows;' "$kfdemu" run -- "$hsadrv" bench copy --samples 1000000 --seconds 1000 --svg interrupted.svg >said
holds 'no table after that' [ "$(grep -c 'GB/s' said)" = 0 ]
holds 'no drawing after that' [ ! -e interrupted.svg ]
finish
