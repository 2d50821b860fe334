#!/usr/bin/env bash
# tools/kernel-cache: what is taken from it, and what is compiled again. Usage: kernel_cache.sh KERNEL-CACHE CLANG
# shellcheck source=tests/support/expect.bash
. "$(dirname "$0")/../support/expect.bash"
tool=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
printf '#!/bin/sh\necho >>%s/runs\nexec %s "$@"\n' "$scratch" "$2" >clang
chmod +x clang
echo '#define VALUE 1' >value.h
printf '#include "value.h"\n__kernel void k(__global int* out) { *out = VALUE; }\n' >k.cl
compile() { "$tool" "$scratch/clang" -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 "$@" k.cl -o k.hsaco; }
# runs_of NUMBER: how often the compiler has run since the last call.
runs_of() {
    local ran=0
    [ ! -e runs ] || ran=$(wc -l <runs)
    rm -f runs
    [ "$ran" = "$1" ] || echo "$ran runs instead of $1"
    [ "$ran" = "$1" ]
}
same_as() { cmp "$1" k.hsaco; }

compile
holds 'without a folder, the compiler runs' runs_of 1
export HSADRV_KERNEL_CACHE=$scratch/cache
compile && cp k.hsaco first.hsaco
holds 'the first time, the compiler runs' runs_of 1
rm k.hsaco
compile
holds 'the second time, it does not' runs_of 0
holds 'the output is the same' same_as first.hsaco
echo '#define VALUE 2' >value.h
compile && cp k.hsaco second.hsaco
holds 'a header with other text: compiled again' runs_of 1
holds 'the output is another' bash -c '! cmp -s first.hsaco second.hsaco'
compile
holds 'and kept' runs_of 0
holds 'as it was' same_as second.hsaco
compile -DOTHER
holds 'other options: compiled again' runs_of 1
compile -MD -MF k.d && rm k.d && compile -MD -MF k.d
holds 'with a depfile, once' runs_of 1
holds 'the depfile names the output and the header' grep -q '^k.hsaco: k.cl.*value.h' <(tr -d '\\\n' <k.d)
mv k.hsaco other.hsaco
"$tool" "$scratch/clang" -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -O2 -MD -MF k.d k.cl -o third.hsaco
holds 'another output, from the same entry' runs_of 0
holds 'its depfile names it' grep -q '^third.hsaco: k.cl' k.d
mv other.hsaco k.hsaco
echo '#error no' >value.h
expect 'an error is reported' 1 'no' compile
expect 'each time' 1 'no' compile
holds 'by the compiler' runs_of 2
echo '#define VALUE 2' >value.h
compile
holds 'what was kept before the error still holds' runs_of 0
rm -rf cache/made-*/output
compile
holds 'a damaged entry: compiled again' runs_of 1
holds 'with the right output' same_as second.hsaco
for n in 1 2 3 4 5 6 7 8; do (rm -f "$n.ok" && "$tool" "$scratch/clang" -x cl --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib k.cl -o "$n.hsaco" && touch "$n.ok") & done
wait
holds 'eight at once' test "$(echo ?.ok | wc -w)" = 8
mkdir 'a folder' && cp k.cl value.h 'a folder' && cd 'a folder' && compile && compile
cd ..
totals
