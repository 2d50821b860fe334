#!/usr/bin/env bash
# hsadrv-cc's options, from a user's view. Usage: options.sh TOOL CLANG KERNELS MANUAL [KFDEMU]
. "$(dirname "$0")/expect.bash"
manual=${files[0]} kfdemu=${files[1]-}
first=$kernels/first.cpp second=$kernels/second.cpp third=$kernels/third.cl

expect 'help describes the tool' 0 'compiles kernels with clang' "$tool" --help
expect 'help describes the environment' 0 'HSADRV_CLANG' "$tool" -h
expect 'a version' 0 '^hsadrv-cc [0-9]' "$tool" --version

# The manual lists exactly the options of the help.
options() { grep -oE -- '(^|[^a-zA-Z-])(--[a-z][a-z-]+|-[a-zA-Z])\b' | grep -oE -- '-.*' | sort -u; }
in_help() { "$tool" --help | sed -n '/^Options/I,/^Arguments/p' | grep -oE '^ +(-[a-zA-Z])?,? *(--[a-z][a-z-]*)?' | options; }
in_manual() { sed 's/\\-/-/g' "$manual" | sed -n '/^.SH OPTIONS/,/^.SH OUTPUT/p' | grep -A1 '^.TP' | grep -E '^\.B' | grep -v CLANG-OPTION | options; }
expect 'the manual and the help agree' 0 '^$' diff <(in_help) <(in_manual)
expect 'there are options to compare' 0 '^1[5-9]|^2' bash -c 'wc -l' < <(in_help)

expect 'OpenCL C' 0 'reverse_dynamic' "$tool" -t gfx90a "$third" -o cl.hsaco
expect 'C++' 0 'reverse_static' "$tool" -t gfx90a "$second" -o cpp.hsaco
holds 'one target is a bare code object' begins_with cpp.hsaco $'\x7fELF'
expect 'the table has the static LDS' 0 'reverse_static .* 1024  .*1 to 1024' "$tool" -t gfx90a "$second" -o cpp.hsaco
expect 'the table marks LDS that is sized at launch' 0 'reverse_dynamic .* 0\+ .*64x1x1' "$tool" -t gfx90a "$third" -o cl.hsaco
expect 'the table names the limit of the occupancy' 0 '[0-9]+ of 8 waves a SIMD, by .*256 work-items' \
    "$tool" -t gfx90a "$second" -o cpp.hsaco
expect 'another processor, another table' 0 'of 10 waves' "$tool" -t gfx900 "$second" -o cpp.hsaco
expect 'quiet' 0 '^$' "$tool" -q -t gfx90a "$second" -o cpp.hsaco
expect 'no kernels are no error' 0 'no kernels' bash -c 'echo "int f() { return 1; }" >none.cpp; "$0" -t gfx90a none.cpp -o none.hsaco' "$tool"

"$tool" --json -t gfx90a "$second" "$third" "$first" -o all.hsaco >all.json
expect 'JSON: several sources, one code object' 0 "^\['reverse_dynamic', 'reverse_static', 'scale'\]$" \
    field all.json 'sorted(k["name"] for k in j["code_objects"][0]["kernels"])'
expect 'JSON: the required work-group' 0 '^\[64, 1, 1\]$' \
    field all.json '[k["required_workgroup"] for k in j["code_objects"][0]["kernels"] if k["name"] == "reverse_dynamic"][0]'
expect 'JSON: the size' 0 "^$(stat -c %s all.hsaco)$" field all.json 'j["bytes"]'
expect 'JSON: the clang' 0 '^[0-9]+\.[0-9]' field all.json 'j["clang_version"]'
expect 'JSON: the largest work-group' 0 '^1024 1024$' field all.json \
    '" ".join(str(k["max_workgroup"]) for k in sorted(j["code_objects"][0]["kernels"], key=lambda k: k["name"])[1:])'

expect 'standard output' 0 '^$' bash -c '"$0" -t gfx90a "$1" -o - >piped.hsaco && cat /dev/null' "$tool" "$second"
"$tool" -q -t gfx90a "$second" -o cpp.hsaco
holds 'has what a file has' cmp piped.hsaco cpp.hsaco
expect 'by its other name' 0 '^.ELF' bash -c '"$0" -t gfx90a "$1" -o /dev/stdout | cat | head -c 4 | tr "\177" .' "$tool" "$second"
expect 'assembly, too' 0 '.amdhsa_kernel reverse_static' bash -c '"$0" -S -t gfx90a "$1" -o - | cat' "$tool" "$second"
expect 'standard input' 0 'reverse_static' bash -c '"$0" -I"$2" -t gfx90a,gfx900 - -o in.hsaco <"$1"' "$tool" "$second" "$kernels"
expect 'its errors are of <stdin>' 1 '^<stdin>:1:' bash -c 'echo "int f() { return x; }" | "$0" -t gfx90a - -o in.hsaco' "$tool"
echo >one.hpp
expect 'its headers are beside us' 0 'no kernels' bash -c 'echo "#include \"one.hpp\"" | "$0" -t gfx90a - -o in.hsaco' "$tool"

# -x: the language of standard input, and of files with any name.
from_input() { expect "-x $1: $2" "${@:3:2}" bash -c '"$0" -x "$1" -t gfx90a - -o - <"$2" >piped.hsaco && head -c 4 piped.hsaco | tr "\177" .' "$tool" "$1" "$5"; }
from_input c++ 'standard input to standard output' 0 '^.ELF' <(cat "$second" | sed "s|factor.hpp|$kernels/factor.hpp|")
from_input cl 'OpenCL C' 0 '^.ELF' "$third"
clang=$HSADRV_CLANG
"$clang" --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -mcode-object-version=5 -x cl -cl-std=CL2.0 -isystem "$kernels/../../../.." -O2 -S "$third" -o third.s
"$clang" --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -mcode-object-version=5 -x cl -cl-std=CL2.0 -isystem "$kernels/../../../.." -O2 -S -emit-llvm "$third" -o third.ll
"$clang" --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib -mcode-object-version=5 -x cl -cl-std=CL2.0 -isystem "$kernels/../../../.." -O2 -c -emit-llvm "$third" -o third.bc
from_input ir 'LLVM IR as text' 0 '^.ELF' third.ll
from_input ir 'LLVM IR as bitcode' 0 '^.ELF' third.bc
from_input asm 'assembly' 0 '^.ELF' third.s
for file in third.ll third.bc third.s; do
    expect "$file by its name" 0 'reverse_dynamic .*64x1x1' "$tool" -t gfx90a $file -o named.hsaco
done
cp third.s any.txt
expect 'whatever the name' 0 'reverse_dynamic' "$tool" -x asm -t gfx90a any.txt -o named.hsaco
expect 'errors of assembly have lines of <stdin>' 1 '^<stdin>:2:3: error: invalid instruction' \
    bash -c 'printf "\n  nonsense v0\n" | "$0" -x asm -t gfx90a - -o named.hsaco' "$tool"
expect 'and those of LLVM IR' 1 ':2:1: error: expected top-level entity' \
    bash -c 'printf "\nnonsense\n" | "$0" -x ir -t gfx90a - -o named.hsaco' "$tool"
expect 'IR is optimised with other sources' 0 'reverse_dynamic' "$tool" -t gfx90a third.ll "$second" -o named.hsaco
expect 'a file called -' 0 'no kernels' bash -c 'echo >./-.cpp; "$0" -t gfx90a ./-.cpp -o in.hsaco' "$tool"
# The guide's clang command has the options that hsadrv-cc passes, but for the types of arguments.
guide=$kernels/../../../../docs/guide/compile.md
option_words() { tr -s ' \\\n' '\n' | grep '^-' | grep -vE '^-(isystem|include|mllvm|simplifycfg.*)$' | sort; }
in_guide() { sed -n "/^    clang-19 -x $1 /,/ -o /p" "$guide" | option_words; }
in_command() { "$tool" -q -v -t gfx90a "$1" -o one.hsaco 2>&1 | grep -e ' --target=' | option_words; }
expect "the guide's command for C++" 0 '^$' diff <(in_guide c++) <(in_command "$second")
expect 'and for OpenCL C' 0 '^$' diff <(in_guide cl) <(in_command "$third")
expect 'are there' 0 '^(1[0-9]|9)$' bash -c 'wc -l' < <(in_guide cl)
expect 'in C++ functions are convergent' 0 ' -Xclang -fconvergent-functions ' "$tool" -v -t gfx90a "$second" -o one.hsaco

# Divergent work-items of a wave meet at one barrier and in one reduction, also in a user's function.
cat >part.cpp <<'KERNEL'
#include <shared/device/device.hpp>
using namespace hsadrv;
static void meet() { barrier(); }
HSADRV_KERNEL void tile(float* p, const unsigned* cs) {
    auto tile = shared::array<float, 256>();
    const uint32_t t = get_local_id(0);
    const bool c = cs[t] & 1;
    if (c) tile[t] = p[t];
    barrier();
    if (c) p[t] = tile[255 - t];
}
HSADRV_KERNEL void own(float* p, const unsigned* cs) {
    auto tile = shared::array<float, 256>();
    const uint32_t t = get_local_id(0);
    const bool c = cs[t] & 1;
    if (c) tile[t] = p[t];
    meet();
    if (c) p[t] = tile[255 - t];
}
HSADRV_KERNEL void sum(unsigned* p, const unsigned* cs) {
    unsigned one = 1;
    if (cs[get_local_id(0)] & 1) p[get_local_id(0)] = 7, one = 2;
    p[get_local_id(0)] += wave_reduce_add(one);
}
KERNEL
for target in gfx900 gfx90a; do
    for level in 1 2 3; do
        expect "one barrier for each, $target -O$level" 0 '^2$' bash -c '"$0" -S -O'$level" -t $target part.cpp -o - | grep -c s_barrier" "$tool"
        expect "one reduction, $target -O$level" 0 '^1$' bash -c '"$0" -S -O'$level" -t $target part.cpp -o - | grep -c row_shr:8" "$tool"
    done
done

expect 'several targets' 0 'a bundle' "$tool" -t gfx90a,gfx900 "$second" -o two.hsaco
holds 'are a bundle' begins_with two.hsaco __CLANG_OFFLOAD_BUNDLE__
holds 'with both' grep -qa 'hipv4-amdgcn-amd-amdhsa--gfx90a' two.hsaco
expect 'the option repeated' 0 'two.hsaco for gfx900' "$tool" -t gfx90a --target gfx900 "$second" -o two.hsaco
expect 'one target twice is one' 0 'gfx90a: [0-9]+ (bytes|KiB), code object V5' "$tool" -t gfx90a,gfx90a "$second" -o one.hsaco
holds 'and no bundle' begins_with one.hsaco $'\x7fELF'
expect 'settings of features' 0 'for gfx90a:sramecc\+:xnack-:' "$tool" -t gfx90a:xnack-:sramecc+ "$second" -o one.hsaco
expect 'and of several sources' 0 'for gfx90a:xnack\+:' "$tool" -t gfx90a:xnack+ "$second" "$first" -o one.hsaco
expect 'both settings in a bundle' 0 'for gfx90a:xnack-:' "$tool" -t gfx90a:xnack+,gfx90a:xnack- "$second" -o two.hsaco
expect 'a whole target triple' 0 'for gfx906:' "$tool" -t amdgcn-amd-amdhsa--gfx906 "$second" -o one.hsaco
expect 'an unknown processor' 0 'occupancy|unknown|waves' "$tool" -t gfx1030 "$second" -o one.hsaco
expect 'compressed' 0 'a compressed bundle' "$tool" --compress -t gfx90a,gfx900 "$second" -o small.hsaco
holds 'is compressed' begins_with small.hsaco CCOB
expect 'one target compressed' 0 'a compressed bundle' "$tool" --compress -t gfx90a "$second" -o small.hsaco

for level in 0 1 2 3 s z; do
    expect "-O$level" 0 "-O$level .*" "$tool" -v -t gfx90a -O$level "$second" "$first" -o one.hsaco
done
expect '-O 3' 0 ' -O3 ' "$tool" -v -t gfx90a -O 3 "$second" -o one.hsaco
expect 'the default level' 0 ' -O2 ' "$tool" -v -t gfx90a "$second" -o one.hsaco
holds 'no line numbers' bash -c '! grep -qa .debug_line one.hsaco'
expect 'line numbers' 0 'kernel' "$tool" -g -t gfx90a "$second" -o one.hsaco
holds 'are there' grep -qa .debug_line one.hsaco
expect 'and no symbol is needed' 1 '^$' bash -c '"$0" -g -t gfx90a "$1" -o one.hsaco | grep needs' "$tool" "$second"
expect 'line numbers of several sources' 0 'kernel' "$tool" -g -t gfx90a "$second" "$first" -o one.hsaco
holds 'are there, too' grep -qa .debug_line one.hsaco
for version in 4 5; do
    expect "code object V$version" 0 "code object V$version" \
        "$tool" --code-object-version $version -t gfx90a "$second" -o one.hsaco
    expect "code object V$version of several sources" 0 "code object V$version" \
        "$tool" --code-object-version=$version -t gfx90a "$second" "$first" -o one.hsaco
done
expect 'assembly' 0 '^$' "$tool" -S -t gfx90a "$second" -o one.s
holds 'is assembly' grep -q '.amdhsa_kernel reverse_static' one.s
expect 'occupancy for another work-group' 0 '\(64 work-items\)' "$tool" --workgroup 64 -t gfx90a "$second" -o one.hsaco
expect 'but not for more than it takes' 0 '1 to 256 .*\(256 work-items\)' \
    bash -c 'echo "__kernel void k(__global int* p) { *p = 1; }" >plain.cl; "$0" --workgroup 1024 -t gfx90a plain.cl -o one.hsaco' "$tool"
expect 'and not for another than it requires' 0 '\(64 work-items\)' "$tool" --workgroup 256 -t gfx90a "$third" -o one.hsaco

mkdir 'my headers'
echo '#define GREETING 1' >'my headers/greeting.hpp'
echo '#include <greeting.hpp>
#if !defined(NAMED) || WITH_VALUE != 42 || GREETING != 1
#error not as told
#endif' >told.cpp
expect 'macros and folders' 0 'no kernels' "$tool" -t gfx90a -DNAMED -D WITH_VALUE=42 '-Imy headers' told.cpp -o one.hsaco
expect 'by their long names' 0 'no kernels' \
    "$tool" -t gfx90a --define NAMED --define=WITH_VALUE=42 --include 'my headers' told.cpp -o one.hsaco
expect 'options after -- go to clang' 1 'unused variable' \
    bash -c 'echo "void f() { int x; }" >unused.cpp; "$0" -t gfx90a unused.cpp -o one.hsaco -- -Werror -Wall' "$tool"
expect 'also of several sources' 1 'unused variable' "$tool" -t gfx90a unused.cpp told.cpp -o one.hsaco -- -Werror -Wall
expect 'the linker is reached, too' 0 'kernel' "$tool" -t gfx90a "$first" -o one.hsaco -- -Wl,--unresolved-symbols=ignore-all
expect 'undefined functions are reported' 0 'needs _Z6scaledi, which no source defines' \
    "$tool" -t gfx90a "$first" -o one.hsaco -- -Wl,--unresolved-symbols=ignore-all
expect 'in JSON as well' 0 '"needs": \["_Z6scaledi"\]' "$tool" --json -t gfx90a "$first" -o one.hsaco -- -Wl,--unresolved-symbols=ignore-all
expect 'and by several' 0 'kernel' "$tool" -t gfx90a "$first" "$third" -o one.hsaco -- -Wl,--unresolved-symbols=ignore-all
expect 'another language standard' 0 'no kernels' \
    bash -c 'echo "static_assert(__cplusplus > 202002);" >new.cpp; "$0" -t gfx90a new.cpp -o one.hsaco -- -std=c++2b' "$tool"

expect 'verbose shows the commands' 0 '--target=amdgcn-amd-amdhsa -mcpu=gfx90a' "$tool" -v -t gfx90a "$second" -o one.hsaco
expect 'which can be typed' 0 '^$' \
    bash -c '"$0" -v -q -t gfx90a -D "TEXT=a b" "$1" -o one.hsaco 2>&1 | sed "s|-o /[^ ]*|-o by-hand.hsaco|" | bash' "$tool" "$second"
holds 'and do the same' cmp one.hsaco by-hand.hsaco
expect 'only the clang' 0 '^/.*clang' "$tool" --print-clang

# Names with a meaning for shells, clang, make or hsadrv-cc.
cp "$kernels/factor.hpp" .
for name in 'with space' "quote's" '@file' 'percent%s' 'dollar$x' 'hash#' 'comma,colon:' 'ümläut' 'a=b' 'brace{}' 'back\slash'; do
    cp "$second" "$name.cpp"
    expect "a source called $name" 0 'reverse_static' "$tool" -t gfx90a "$name.cpp" -o "out $name.hsaco" --depfile "$name.d"
    holds "an output called $name" begins_with "out $name.hsaco" $'\x7fELF'
done
expect 'two of them' 0 'scale' "$tool" -t gfx90a,gfx900 'comma,colon:.cpp' "$first" -o 'out,two.hsaco'
mkdir "$TMPDIR/a, b"
expect 'such a folder for temporary files' 0 'scale' env TMPDIR="$TMPDIR/a, b" "$tool" -t gfx90a,gfx900 @file.cpp "$first" -o out.hsaco
rmdir "$TMPDIR/a, b"
expect 'a name like an option' 0 'reverse_static' bash -c 'cp "$1" ./-q.cpp; "$0" -t gfx90a ./-q.cpp -o ./-o.hsaco' "$tool" "$second"
expect 'JSON of a strange name' 0 '^out quote"s.hsaco$' bash -c '
    "$0" --json -t gfx90a "$1" -o "out quote\"s.hsaco" >quote.json
    python3 -c "import json; print(json.load(open(\"quote.json\"))[\"output\"])"' "$tool" "$second"

if [ -n "$kfdemu" ]; then
    expect 'without --target: the GPU of the machine' 0 'for gfx90a:' "$kfdemu" run -- "$tool" "$second" -o one.hsaco
    expect 'another GPU' 0 'for gfx906:' "$kfdemu" run --gpu gfx906 -- "$tool" "$second" -o one.hsaco
    expect 'two equal GPUs are one target' 0 'for gfx900:' "$kfdemu" run --gpu gfx900 --gpus 2 -- "$tool" "$second" -o one.hsaco
    holds 'and no bundle for them' begins_with one.hsaco $'\x7fELF'
else
    skipped=4
    echo 'skipped: a sanitized emulator cannot be preloaded'
fi
finish
