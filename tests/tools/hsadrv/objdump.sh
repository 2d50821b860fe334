#!/usr/bin/env bash
# hsadrv objdump: code objects, bundles and host programs; on one GPU, two of another model and none.
. "$(dirname "$0")/expect.bash"
cc=$build/tools/hsadrv-cc/hsadrv-cc kernels=$build/tests/kernels
clang=${HSADRV_CLANG:-$("$cc" --print-clang -t gfx90a,gfx900)}
beside() { "$clang" --target=amdgcn-amd-amdhsa -print-prog-name="$1" | xargs -I{} sh -c 'command -v "$1"' - {}; }
readelf=$(beside llvm-readelf) disassembler=$(beside llvm-objdump)
objdump() { on_none "$hsadrv" objdump "$@"; }

cat >k.cl <<'END'
__attribute__((reqd_work_group_size(64, 1, 1))) __kernel void reverse(__global float* data, __local float* tile) {
    const uint i = __builtin_amdgcn_workitem_id_x();
    tile[i] = data[i];
    __builtin_amdgcn_s_barrier();
    data[i] = tile[63 - i];
}
__kernel void saxpy(__global float* restrict y, const __global float* restrict x, float a) {
    __local float kept[100];
    const uint i = __builtin_amdgcn_workitem_id_x();
    kept[i % 100] = a;
    __builtin_amdgcn_s_barrier();
    y[i] += kept[(i + 1) % 100] * x[i];
}
END
"$cc" --clang "$clang" -q -t gfx90a,gfx900 k.cl -o k.hsaco -- -cl-kernel-arg-info
"$cc" --clang "$clang" -q -t gfx90a k.cl -o one.hsaco -- -cl-kernel-arg-info
"$cc" --clang "$clang" -q -t gfx90a,gfx900 --compress k.cl -o small.hsaco
"$cc" --clang "$clang" -q -t gfx90a:xnack+,gfx90a:xnack- k.cl -o xnack.hsaco

# One GPU: it loads what is for it, and says why it does not load the rest.
on_gpu "$hsadrv" objdump k.hsaco >k.txt
expect 'a bundle and its targets' 0 '^k.hsaco: plain bundle for gfx900, gfx90a, [0-9]+ KiB$' cat k.txt
expect 'a code object' 0 '^k.hsaco for gfx90a: [0-9]+ bytes, code object V5$' cat k.txt
expect 'the GPU loads it' 0 '^  loads on   gpu0 gfx90a$' cat k.txt
expect 'or does not, and why' 0 '^  not on     gpu0 gfx90a: code object is for gfx900, this agent is gfx90a: compile with -mcpu=gfx90a$' cat k.txt
expect 'static LDS' 0 '^  saxpy .* 400  .*1 to 256 +8/8  wave slots$' cat k.txt
expect 'LDS that is sized at launch' 0 '^  reverse .* 0\+ .* 64x1x1 +8/8' cat k.txt
expect 'what the figures are' 0 '^Waves are those that a SIMD holds at once' cat k.txt
expect 'no line has more than 100 columns' 1 '^$' grep -nE '.{101}' k.txt
expect 'a compressed bundle' 0 'bundle compressed by z(std|lib) for gfx900, gfx90a, [0-9]+ bytes \([0-9]+ KiB unpacked\)' on_gpu "$hsadrv" objdump small.hsaco
expect 'a feature of another setting' 0 'not on .*gpu0 gfx90a: code object is for gfx90a:xnack\+, this agent is gfx90a' on_gpu "$hsadrv" objdump xnack.hsaco
expect 'symbols that others define' 0 'needs      .*given.*: from another code object, or from the program' on_gpu "$hsadrv" objdump "$kernels/uses.gfx90a.hsaco"
expect 'so it does not load alone' 0 "not on     gpu0 gfx90a: needs 'counter', which no code object defines" \
    on_gpu "$hsadrv" objdump "$kernels/uses.gfx90a.hsaco"
expect 'variables and functions' 0 'constants \(12 bytes, read only\)|read$' on_gpu "$hsadrv" objdump "$kernels/globals.hsaco"
expect 'functions' 0 'functions  twice' on_gpu "$hsadrv" objdump "$kernels/globals.hsaco"
expect 'stripped' 0 '  stripped' on_gpu "$hsadrv" objdump "$kernels/stripped.gfx90a.hsaco"
expect 'several files' 0 '^one.hsaco for gfx90a' on_gpu "$hsadrv" objdump k.hsaco one.hsaco
expect 'standard input' 0 '^standard input for gfx90a' bash -c '"$0" objdump - <one.hsaco' "$hsadrv"
for version in 4 5 6; do
    expect "code object V$version" 0 "gfx90a: [0-9]+ (bytes|KiB), code object V$version" objdump "$kernels/launch.gfx90a.v$version.O2.hsaco"
done

# Which versions the runtime loads is for it to say, and it is asked.
cp "$kernels/launch.gfx90a.v6.O2.hsaco" v6.hsaco
expect 'V6, where the runtime knows it, or why not' 0 'loads on   gpu0 gfx90a|object V6, this ROCR loads up to V[45]' on_gpu "$hsadrv" objdump v6.hsaco

expect_json objdump on_gpu "$hsadrv" objdump --json k.hsaco one.hsaco
expect 'JSON: the agents' 0 "^\['gpu0 gfx90a'\]$" field objdump.json '[a["label"] for a in j["agents"]]'
expect 'JSON: who loads what' 0 '^\[True, False\]$' field objdump.json '[c["loadable"][0]["loads"] for c in j["files"][0]["code_objects"]]'
expect 'JSON: the arguments' 0 "^\['data', 'tile'\]$" field objdump.json '[a["name"] for a in j["files"][1]["code_objects"][0]["kernels"][0]["arguments"] if not a["hidden"]]'
expect 'JSON: the kinds' 0 "^\['global_buffer', 'dynamic_shared_pointer'\]$" \
    field objdump.json '[a["kind"] for a in j["files"][1]["code_objects"][0]["kernels"][0]["arguments"] if not a["hidden"]]'
expect 'JSON: the host has an entry' 0 '^1$' field objdump.json 'len(j["files"][0]["bundles"][0]["other_entries"])'

# Two GPUs of another model.
on --gpu gfx900 --gpus 2 -- "$hsadrv" objdump k.hsaco >two.txt
expect 'both load it' 0 '^  loads on   gpu0 gfx900, gpu1 gfx900$' cat two.txt
expect 'or neither' 0 '^  not on     gpu1 gfx900: code object is for gfx90a' cat two.txt
expect 'one of them is asked' 0 '^  loads on   gpu1 gfx900$' on --gpu gfx900 --gpus 2 -- "$hsadrv" objdump --device 1 k.hsaco
expect 'there is no third' 3 '--device 2' on --gpu gfx900 --gpus 2 -- "$hsadrv" objdump --device 2 k.hsaco
expect 'a name that two have' 2 '--device gfx900' on --gpu gfx900 --gpus 2 -- "$hsadrv" objdump --device gfx900 k.hsaco
expect_json objdump on --gpu gfx900 --gpus 2 -- "$hsadrv" objdump --json k.hsaco
expect 'JSON: two agents' 0 '^\[\[False, False\], \[True, True\]\]$' \
    field objdump.json '[[a["loads"] for a in c["loadable"]] for c in j["files"][0]["code_objects"]]'

# None: the facts all the same.
objdump k.hsaco >none.txt
expect 'no GPU is no error' 0 '^k.hsaco for gfx900' objdump k.hsaco
expect 'but told' 0 '^No agent here to load code objects on: hsa_init\(\)' cat none.txt
holds 'the rest is the same' diff <(grep -vE 'loads on|not on|^No agent|^/dev|^--device|^emulated' none.txt) <(grep -vE 'loads on|not on' k.txt)
expect 'one that is asked for is missed' 3 '--device 0: hsa_init' objdump --device 0 k.hsaco
expect_json objdump objdump --json k.hsaco
expect 'JSON: why no agent was asked' 0 '^\[\] True$' field objdump.json 'str(j["agents"]) + " " + str("hsa_init" in j["no_agent"])'

# A runtime that crashes is an answer, and no crash of ours.
for call in hsa_init hsa_executable_load_agent_code_object; do
    echo "#include <stdlib.h>
    int $call(void) { abort(); }" | "$clang" -shared -fPIC -x c - -o $call.so
done
expect 'a runtime that crashes at once' 0 '^No agent here to load code objects on: the HSA runtime crashed: signal 6 \(Aborted\)$' \
    env LD_PRELOAD="$scratch/hsa_init.so" KFDEMU=off "$hsadrv" objdump k.hsaco
expect 'and when it loads' 0 '^  not on     gpu0 gfx90a: the HSA runtime crashed: signal 6 \(Aborted\)$' \
    env LD_PRELOAD="$scratch/hsa_executable_load_agent_code_object.so" "$kfdemu" run -- "$hsadrv" objdump one.hsaco

# One kernel, one target.
on_gpu "$hsadrv" objdump --kernel saxpy --target gfx90a k.hsaco >kernel.txt
expect 'arguments' 0 '^ +1 +0 +8  global_buffer +global +.* restrict float\* y$' cat kernel.txt
expect 'read only ones' 0 '^ +2 +8 +8  global_buffer +global +read_only +const restrict float\* x$' cat kernel.txt
expect 'values' 0 '^ +3 +16 +4  by_value +- +- +float a$' cat kernel.txt
holds 'no other kernel' bash -c '! grep -q reverse kernel.txt'
holds 'no other target' bash -c '! grep -q "for gfx900:" kernel.txt'
expect 'hidden arguments' 0 '^    hidden      block_count_x [0-9]+\+4, ' objdump --kernel dump "$kernels/hidden.gfx90a.v5.O2.hsaco"
expect 'every kernel in detail' 0 '^    argument  offset' objdump -v one.hsaco
expect 'no line in detail has more than 100 columns' 1 '^$' bash -c 'cd "$1" && "$0" objdump -v launch.hsaco nd_span.hsaco | grep -nE ".{101}"' "$hsadrv" "$kernels"
expect 'a kernel that there is not' 2 'there is no such kernel: did you mean saxpy\?; there are reverse, saxpy$' objdump --kernel saxpi k.hsaco
expect 'nor one like it' 2 'there is no such kernel; there are' objdump --kernel matrix_multiply k.hsaco
expect 'a target that there is not' 2 '--target gfx1100: there is no code for it; there is for gfx900, gfx90a' objdump --target gfx1100 k.hsaco
expect 'nor a setting' 2 'there is for gfx90a:xnack\+, gfx90a:xnack-' objdump --target gfx90a:sramecc+ xnack.hsaco
expect 'a setting that there is' 0 '^xnack.hsaco for gfx90a:xnack-' objdump --target gfx90a:xnack- xnack.hsaco
expect 'no target at all' 2 "'sm_90' is not a processor name" objdump --target sm_90 k.hsaco

# Occupancy for a launch that there may be, and what a launch refuses.
expect 'a work-group' 0 'of 8 waves a SIMD, by .*\(64 work-items\)' objdump --target gfx90a --kernel saxpy --workgroup 64 k.hsaco
expect 'of two dimensions' 0 'for work-groups of 16x16x1' objdump --target gfx90a --workgroup 16,16 "$kernels/launch.hsaco"
expect 'LDS that limits' 0 'by LDS \(64 work-items\) and 30000 bytes of LDS' objdump --target gfx90a --kernel reverse --lds 30000 k.hsaco
expect 'a required work-group' 2 'work-group 128x1x1: the kernel requires 64x1x1' objdump --kernel reverse --workgroup 128 k.hsaco
expect 'too large a work-group' 2 'the kernel was compiled for up to 256' objdump --kernel saxpy --workgroup 512 k.hsaco
expect 'an empty work-group' 2 'work-group 0x1x1 is empty' objdump --workgroup 0 k.hsaco
expect 'too much LDS' 2 'LDS: 400 bytes static \+ 70000 bytes dynamic' objdump --kernel saxpy --lds 70000 k.hsaco
expect 'what some refuse, the others do not' 0 "refused: launch of kernel 'reverse': work-group 128x1x1" objdump --workgroup 128 k.hsaco
expect 'no numbers' 2 '--workgroup 1,x: wanted are one to three numbers' objdump --workgroup 1,x k.hsaco
expect 'four numbers' 2 'wanted are one to three numbers' objdump --workgroup 1,1,1,1 k.hsaco
expect 'a number that is too large' 2 'wanted are one to three numbers' objdump --workgroup 4294967296 k.hsaco
expect 'negative LDS' 2 '--lds' objdump --lds -1 k.hsaco
expect_json objdump objdump --json --workgroup 128 k.hsaco
expect 'JSON: refused' 0 '^None True$' field objdump.json '(lambda k: str(k["occupancy"]) + " " + str("requires 64x1x1" in k["refused"]))(j["files"][0]["code_objects"][0]["kernels"][0])'

# The compiler's own words.
if [ -n "$readelf" ]; then
    for file in one.hsaco "$kernels"/launch.gfx90a.v[456].O[02].hsaco "$kernels"/hidden.gfx900.v5.O0.hsaco "$kernels"/uses.gfx90a.hsaco; do
        on_none "$hsadrv" objdump --json "$file" >notes.json
        "$readelf" --notes "$file" >notes.txt
        output=$("$python" "$source_root/tests/tools/hsadrv/notes.py" notes.txt notes.json 2>&1)
        status=$?
        if [ $status = 77 ]; then skip 1 'Python has no yaml'; else outcome "the notes of ${file##*/}" $status "$output"; fi
    done
else
    skip 1 'llvm-readelf is not installed'
fi

# Disassembly: the disassembler is LLVM's, and needs no GPU. One that is not LLVM's does not do.
if [ -n "$disassembler" ]; then
    expect 'instructions of one kernel' 0 '^    s_endpgm +// [0-9A-F]+: BF810000' on_gpu "$hsadrv" objdump -d --kernel saxpy --target gfx90a k.hsaco
    holds 'and of no other' bash -c '! "$0" objdump -d --kernel saxpy --target gfx90a k.hsaco | grep -q "^  reverse:"' "$hsadrv"
    expect 'instructions of all' 0 '^  reverse:$' objdump --disassemble k.hsaco
    expect 'and of device functions' 0 '^  twice:$' objdump --disassemble "$kernels/globals.hsaco"
    expect 'without what fills up' 1 '^$' bash -c '"$0" objdump -d k.hsaco | grep -c s_nop | grep -v "^0$"' "$hsadrv"
    expect_json objdump objdump --json -d --kernel saxpy one.hsaco
    expect 'JSON: instructions' 0 "^\['saxpy'\] True$" field objdump.json \
        '(lambda d: str([l["symbol"] for l in d]) + " " + str(d[0]["lines"][-1].startswith("s_endpgm")))(j["files"][0]["code_objects"][0]["disassembly"])'
else
    skip 7 'llvm-objdump is not installed'
fi
mkdir empty
expect 'no disassembler' 4 'there is no llvm-objdump with the AMDGPU target; found none' env PATH="$scratch/empty" KFDEMU=off "$hsadrv" objdump -d one.hsaco
expect 'and what to install' 4 'apt-get install llvm-19' env PATH="$scratch/empty" KFDEMU=off "$hsadrv" objdump -d one.hsaco
printf '#!/bin/sh\necho x86-64\n' >empty/llvm-objdump-99
printf '#!/bin/sh\necho no libLLVM; exit 127\n' >empty/llvm-objdump
chmod +x empty/llvm-objdump*
expect 'none that does, and why' 4 '^  .*/llvm-objdump-99: it has no target amdgcn$' env PATH="$scratch/empty" KFDEMU=off "$hsadrv" objdump -d one.hsaco
expect 'nor the other' 4 '^  .*/llvm-objdump: its --version ends with exit status 127: no libLLVM$' env PATH="$scratch/empty" KFDEMU=off "$hsadrv" objdump -d one.hsaco
printf '#!/bin/sh\n[ "$1" = --version ] && echo amdgcn || { echo cannot do that; exit 1; }\n' >empty/llvm-objdump
expect 'one that fails' 4 'llvm-objdump --disassemble: exit status 1: cannot do that' env PATH="$scratch/empty" KFDEMU=off "$hsadrv" objdump -d one.hsaco
printf '#!/bin/sh\n[ "$1" = --version ] && echo amdgcn || exec /bin/sleep 60\n' >empty/llvm-objdump
expect 'Ctrl-C while it works' 130 '^$' timeout --preserve-status -s INT 3 env PATH="$scratch/empty" KFDEMU=off "$hsadrv" objdump -d one.hsaco
rm -r empty

# Taking a bundle apart.
expect 'extracted' 0 'written to apart/k.gfx900.hsaco' objdump --extract apart k.hsaco
holds 'each as it was' cmp apart/k.gfx90a.hsaco one.hsaco
expect 'and each is read' 0 'for gfx900: [0-9]+ bytes' objdump apart/k.gfx900.hsaco
expect 'one target alone' 0 'written to target/small.gfx900.hsaco' objdump --extract target --target gfx900 small.hsaco
expect 'and no other' 0 '^small.gfx900.hsaco$' ls target
expect 'both settings' 0 'xnack.gfx90a_xnack-.hsaco' objdump --extract apart xnack.hsaco
expect 'nowhere to write' 4 'hsadrv: (cannot write|--extract) .*one.hsaco' objdump --extract one.hsaco k.hsaco
expect 'a folder that cannot be written to' 4 '--extract /proc/nothing' objdump --extract /proc/nothing k.hsaco

# Host programs: hipcc's kind, of several translation units, compressed or not; and what is none.
host() {
    "$clang" -x hip -nogpuinc -nogpulib -mcode-object-version=5 --offload-arch=gfx90a --offload-arch=gfx900 "$@"
}
cat >unit.hip <<'END'
typedef struct { unsigned x, y, z; } dim3;
int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, void*);
__attribute__((global)) void NAME(float* y) { y[__builtin_amdgcn_workitem_id_x()] += 1; }
END
if host -DNAME=first -c unit.hip -o first.o 2>host.err && host -DNAME=second --offload-compress -c unit.hip -o second.o 2>>host.err &&
    "$clang" -shared -nostdlib first.o second.o -o libunits.so 2>>host.err; then
    expect 'an object' 0 '^first.o: ELF object for x86-64 with 1 bundle for GPUs' objdump first.o
    expect 'a library' 0 '^libunits.so: ELF program or library for x86-64 with 2 bundles for GPUs' objdump libunits.so
    expect 'its second bundle' 0 '^  2. bundle compressed by z(std|lib) for gfx900, gfx90a, .* at [0-9]+ in$|.hip_fatbin$' objdump libunits.so
    expect 'its kernels' 0 '^  _Z6secondPf ' on_gpu "$hsadrv" objdump libunits.so
    expect 'as in the source' 0 '^    in source   second\(float\*\)$' objdump --kernel _Z6secondPf libunits.so
    expect 'that the GPU loads' 0 'loads on   gpu0 gfx90a' on_gpu "$hsadrv" objdump --kernel _Z6secondPf libunits.so
    expect 'taken apart' 0 'written to units/libunits.2.gfx900.hsaco' objdump --extract units libunits.so
    expect_json objdump objdump --json libunits.so
    expect 'JSON: sections' 0 "^\[\('.hip_fatbin', None\), \('.hip_fatbin', 'z(std|lib)'\)\]$" field objdump.json '[(b["section"], b["compression"]) for b in j["files"][0]["bundles"]]'
    for size in 10 63 64 1000 5000 9000; do
        head -c $size libunits.so >cut.so
        expect "$size bytes of a library" 4 "hsadrv: 'cut.so': " objdump cut.so
    done
else
    skip 16 "$clang does not make host programs here: $(head -n 1 host.err)"
fi
expect 'a program without device code' 4 'ELF program or library for .*, and no code for GPUs in it: no section .hip_fatbin' objdump "$hsadrv"

# Files that are none.
mkfifo pipe
: >nothing
echo text >text
truncate -s 3G huge
expect 'a folder' 4 "'.': is a directory, wanted a regular file" objdump .
expect 'a pipe' 4 "'pipe': is a pipe" timeout 20 env KFDEMU=off "$hsadrv" objdump pipe
expect 'a device' 4 "'/dev/zero': is a device" objdump /dev/zero
expect 'nothing' 4 "'nothing': code object: the file is empty" objdump nothing
expect 'text' 4 "'text': code object: not an ELF file: it begins with 74 65 78 74" objdump text
expect 'too large a file' 4 "'huge': 3221225472 bytes are more than the limit" objdump huge
for file in one k small; do
    whole=$(stat -c %s $file.hsaco)
    for size in 3 40 64 200 1000 $((whole / 2)) $((whole - 1)); do
        head -c "$size" $file.hsaco >cut.hsaco
        expect "$size of $whole bytes of $file.hsaco" 4 "^hsadrv: 'cut.hsaco': .*(truncated|not an ELF file)" objdump cut.hsaco
    done
done
expect 'a missing one' 4 "'missing': cannot be opened: No such file" objdump missing
expect 'an empty standard input' 4 "'standard input': code object: the file is empty" bash -c 'KFDEMU=off "$0" objdump - </dev/null' "$hsadrv"
expect 'a closed standard input' 4 "'standard input': cannot be read: Bad file descriptor" bash -c 'KFDEMU=off "$0" objdump - <&-' "$hsadrv"
expect 'standard input twice' 2 'can be read once' objdump - -
rm huge
if [ "$(id -u)" != 0 ]; then
    cp one.hsaco secret && chmod 0 secret
    expect 'an unreadable one' 4 "'secret': cannot be opened: Permission denied" objdump secret
fi
expect 'the others are told of' 4 '^one.hsaco for gfx90a' objdump text one.hsaco
"$clang" -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -c k.cl -o unlinked.o
expect 'an object that is not linked' 4 'not linked: compile without -c' objdump unlinked.o
on_none "$hsadrv" objdump --json text one.hsaco >both.json 2>/dev/null
expect 'JSON: what is wrong with one' 0 'not an ELF file' field both.json 'j["files"][0]["error"]'
holds 'JSON: as its schema says' "$python" "$source_root/tests/tools/hsadrv/schema.py" "$source_root/docs/schema" both.json
for size in 0 1 8 24 63 64 65 200 1000 2000 3000; do
    head -c $size one.hsaco >cut.hsaco
    expect "$size bytes of a code object" 4 "hsadrv: 'cut.hsaco': code object: |'cut.hsaco': code object metadata" objdump cut.hsaco
    head -c $size small.hsaco >cut.hsaco
    [ "$size" -lt "$(stat -c %s small.hsaco)" ] || continue
    expect "$size bytes of a compressed bundle" 4 "hsadrv: 'cut.hsaco': (compressed offload bundle|code object): " objdump cut.hsaco
done
printf 'not a code object' >entry
"$(beside clang-offload-bundler)" -type=o -targets=host-x86_64-unknown-linux-gnu-,hipv4-amdgcn-amd-amdhsa--gfx90a,hipv4-amdgcn-amd-amdhsa--gfx906 \
    -input=/dev/null -input=one.hsaco -input=entry -output=half.hsaco
expect 'one entry that is broken' 4 "hsadrv: 'half.hsaco', entry 'hipv4-amdgcn-amd-amdhsa-.*gfx906': code object: not an ELF file" objdump half.hsaco
expect 'does not hide the others' 4 'half.hsaco for gfx90a' objdump half.hsaco
expect 'nor is it in the way' 0 'half.hsaco for gfx90a' objdump --target gfx90a half.hsaco
on_none "$hsadrv" objdump --json half.hsaco >half.json 2>/dev/null
holds 'JSON: of a broken entry' "$python" "$source_root/tests/tools/hsadrv/schema.py" "$source_root/docs/schema" half.json

# Streams.
expect 'a full disk' 4 'cannot write to standard output: No space left' bash -c 'KFDEMU=off "$0" objdump k.hsaco >/dev/full' "$hsadrv"
expect 'colour on a terminal' 0 $'\033\\[1mk.hsaco' on_terminal env KFDEMU=off TERM=xterm "$hsadrv" objdump k.hsaco
expect 'and not where it is not wanted' 1 '^$' bash -c '"$@" | grep $'"'\\033'" - "$python" "$source_root/tests/tools/hsadrv/terminal.py" env KFDEMU=off NO_COLOR=1 "$hsadrv" objdump k.hsaco
finish
