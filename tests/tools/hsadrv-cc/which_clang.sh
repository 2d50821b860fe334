#!/usr/bin/env bash
# The clang that hsadrv-cc selects, and its messages on those that it rejects. Usage: which_clang.sh TOOL CLANG KERNELS
. "$(dirname "$0")/expect.bash"
second=$kernels/second.cpp
unset HSADRV_CLANG ROCM_PATH
real=$(realpath "$(command -v "$clang")")
real_lld=$("$real" --target=amdgcn-amd-amdhsa -print-prog-name=ld.lld)

# script FILE: what it runs comes from standard input.
script() {
    mkdir -p "$(dirname "$1")"
    { echo "#!$BASH" && cat; } >"$1"
    chmod +x "$1"
}
good() { script "$1" <<<"exec '$real' \"\$@\""; }
# as FOLDER COMMAND…: with only that $PATH.
as() { env -u ROCM_PATH PATH="$1" "${@:2}"; }
# told CLANG FOLDER COMMAND…: with $HSADRV_CLANG as well.
told() { env -u ROCM_PATH HSADRV_CLANG="$1" PATH="$2" "${@:3}"; }

# Unsuitable, each for a different reason.
script old/clang-15 <<<'echo "Debian clang version 15.0.6"'
script bare/clang-40 <<<'case $1 in --version) echo "clang version 40.1.0" ;; --print-targets) echo "  x86-64 - X86" ;; esac'
script no_lld/clang-41 <<<'case $1 in
--version) echo "Ubuntu clang version 41.0.0" ;;
--print-targets) echo "  amdgcn - AMD GCN GPUs" ;;
*) echo ld.lld ;;
esac'
script old_lld/clang-42 <<<"case \$1 in
--version) echo 'AMD clang version 42.0.0 (https://…)' ;;
--print-targets) echo '    amdgcn     - AMD GCN GPUs' ;;
*) echo '$real_lld' ;;
esac"
script broken_lld/clang-43 <<<"case \$1 in
--version) echo 'clang version 43.0.0' ;;
--print-targets) echo ' amdgcn - AMD' ;;
*) echo '$scratch/broken_lld/bin/ld.lld' ;;
esac"
script broken_lld/bin/ld.lld <<<'echo "cannot open libLLVM.so.43"; exit 127'
script other/clang-44 <<<'echo "a compiler of something else"'
script dying/clang-45 <<<'echo "no such library"; exit 9'
mkdir -p nothing
touch nothing/clang-46 # not executable
script near/clang-tidy-47 <<<'echo "clang version 47.0.0"'
all=$scratch/old:$scratch/bare:$scratch/no_lld:$scratch/old_lld:$scratch/broken_lld:$scratch/other:$scratch/dying:$scratch/nothing:$scratch/near

none() { expect "none: $1" 3 "$2" as "$all" "$tool" -t gfx90a "$second" -o a.hsaco; }
none 'it says what is wanted' 'no suitable clang: version 16 or newer is required'
none 'too old' '/old/clang-15: it is version 15.0.6, and 16 is the oldest'
none 'without amdgcn' '/bare/clang-40: it was built without the target amdgcn'
none 'without a linker' '/no_lld/clang-41: it has no ld.lld: install lld-41'
none 'with an older linker' '/old_lld/clang-42: its linker .* is version .*, older than itself \(42.0.0\): install lld-42'
none 'with a broken linker' '/clang-43: its linker .* does not work: exit status 127: cannot open libLLVM'
none 'something else' '/other/clang-44: its --version is not that of a clang: a compiler of something else'
none 'one that dies' '/dying/clang-45: its --version ends with exit status 9: no such library'
none 'what to install' 'apt-get install clang-19 lld-19 clang-tools-19 llvm-19'
none 'where it looked' 'ROCM_PATH is not set.*/opt/rocm'
expect 'programs that cannot run are ignored' 1 '' bash -c '"$@" 2>&1 | grep -E "clang-46|tidy"' - \
    env PATH="$all:/usr/bin:/bin" "$tool" --print-clang -v
if compgen -G '/opt/rocm*/llvm/bin/clang' >/dev/null; then
    skipped=1
else
    expect 'no clang at all' 3 'found no clang at all' as /nowhere "$tool" -t gfx90a "$second" -o a.hsaco
fi
expect 'an empty PATH' 3 '\$PATH \(which is empty\)' as '' "$tool" --print-clang
holds 'nothing was written' test ! -e a.hsaco

# A suitable one, after all unsuitable ones; each of these is reported with -v.
good good/clang-18
expect 'the first that does' 0 "^$scratch/good/clang-18$" as "$all:$scratch/good" "$tool" --print-clang
expect 'and why the others do not' 0 'clang-45: .*exit status 9' as "$all:$scratch/good" "$tool" --print-clang -v
good newer/clang-20
good newest/clang-100
good plain/clang
expect 'the newest name first' 0 'newest/clang-100$' as "$scratch/good:$scratch/newer:$scratch/newest" "$tool" --print-clang
expect 'numbers before none' 0 'good/clang-18$' as "$scratch/plain:$scratch/good" "$tool" --print-clang
expect 'none will do' 0 'plain/clang$' as "$scratch/plain" "$tool" --print-clang
good rocm/llvm/bin/clang
expect 'ROCm by its variable' 0 'rocm/llvm/bin/clang$' env PATH=/nowhere ROCM_PATH="$scratch/rocm" "$tool" --print-clang
expect 'but PATH comes first' 0 'plain/clang$' env PATH="$scratch/plain" ROCM_PATH="$scratch/rocm" "$tool" --print-clang
expect 'and it compiles' 0 'reverse_static' env PATH=/nowhere ROCM_PATH="$scratch/rocm" "$tool" -t gfx90a "$second" -o a.hsaco

expect 'an option' 0 'newer/clang-20$' as "$scratch/good" "$tool" --clang "$scratch/newer/clang-20" --print-clang
expect 'a name in PATH' 0 'good/clang-18$' as "$scratch/good:$scratch/newer" "$tool" --clang clang-18 --print-clang
expect 'a variable' 0 'newer/clang-20$' \
    told "$scratch/newer/clang-20" "$scratch/good" "$tool" --print-clang
expect 'the option before the variable' 0 'newest/clang-100$' \
    told "$scratch/newer/clang-20" "$scratch/good" "$tool" --clang "$scratch/newest/clang-100" --print-clang
expect 'an option that does not, and no other is taken' 3 '^hsadrv-cc: --clang is .*/clang-15, which is not suitable: .*15.0.6' \
    as "$scratch/good" "$tool" --clang "$scratch/old/clang-15" --print-clang
expect 'a variable that does not' 3 '^hsadrv-cc: \$HSADRV_CLANG is .*clang-40, which is not suitable: .*amdgcn' \
    told "$scratch/bare/clang-40" "$scratch/good" "$tool" --print-clang
expect 'a missing clang' 3 '--clang is clang-77, which is not a program in \$PATH' \
    as "$scratch/good" "$tool" --clang clang-77 --print-clang
expect 'also by its path' 3 '--clang is ./clang-77, which is not a program$' \
    as "$scratch/good" "$tool" --clang ./clang-77 --print-clang

# Newer ones that lack what is asked for: the newest that has it is taken. instead FILE WORD COMMAND: the real clang, except where its
# command line has that word.
instead() { script "$1" <<<"case \"\$*\" in *'$2'*) $3 ;; *) exec '$real' \"\$@\" ;; esac"; }
instead no_bundler/clang-91 print-prog-name=clang-offload-bundler 'echo clang-offload-bundler'
instead no_objcopy/clang-92 print-prog-name=clang-offload-bundler "echo '$scratch/no_objcopy/bin/clang-offload-bundler'"
mkdir no_objcopy/bin
cp -L "$("$real" -print-prog-name=clang-offload-bundler)" no_objcopy/bin/
instead no_linker/clang-93 print-prog-name=ld.lld 'echo ld.lld'
instead few_targets/clang-94 print-supported-cpus 'echo gfx999'
newer=$scratch/no_bundler:$scratch/no_objcopy:$scratch/no_linker:$scratch/few_targets
# taken NAME PATTERN OPTION…: the clang for these options, beside an older one that has everything; and one that has not.
taken() { expect "$1" 0 "$2" as "$newer:$scratch/good" "$tool" --print-clang "${@:3}"; }
missed() { expect "$1" "$2" "$3" as "$4" "$tool" "${@:5}" "$second" -o c.hsaco; }
taken 'without targets, any with a linker' 'few_targets/clang-94$'
taken 'one that knows the target' 'no_objcopy/clang-92$' -t gfx90a
taken 'one that bundles' 'good/clang-18$' -t gfx90a,gfx900
taken 'one that compresses' 'good/clang-18$' -t gfx90a --compress
for line in 'clang-94: it does not know gfx90a; it knows gfx999' 'clang-93: it has no ld.lld: install lld-' \
    'clang-92: its bundler .* does not work: exit status 1: .*llvm-objcopy.*; is llvm-[0-9]+ installed' \
    'clang-91: it has no clang-offload-bundler: install clang-tools-[0-9]+ and llvm-[0-9]+$'; do
    taken "why not ${line%%:*}" "^$scratch/.*/$line" -t gfx90a,gfx900 -v
done
expect 'and it bundles' 0 'a bundle' as "$newer:$scratch/good" "$tool" -t gfx90a,gfx900 "$second" -o b.hsaco
expect 'one target needs no bundler' 0 'reverse_static' as "$scratch/no_bundler" "$tool" -t gfx90a "$second" -o b.hsaco
missed 'no bundler, several targets' 3 'no suitable clang: .* and, for a bundle, a clang-offload-bundler' "$scratch/no_bundler" -t gfx90a,gfx900
missed 'none knows the target' 2 'few_targets/clang-94 \(version .*\) does not know gfx90a; it knows gfx999' "$scratch/few_targets" -t gfx90a
missed 'the one that is asked for has no bundler' 3 '--clang is .*, which is not suitable: it has no clang-offload-bundler' \
    "$scratch/good" -t gfx90a,gfx900 --clang "$scratch/no_bundler/clang-91"
missed 'nor does it know the target' 2 'does not know gfx90a' "$scratch/good" -t gfx90a --clang "$scratch/few_targets/clang-94"

# Real ones that are too old, or new enough, if they are installed.
for version in 14 15; do
    if command -v clang-$version >/dev/null; then
        expect "clang-$version" 3 "it is version $version\." "$tool" --clang clang-$version -t gfx90a "$second" -o c.hsaco
    else
        skipped=$((skipped + 1))
    fi
done
holds 'nothing was written either' test ! -e c.hsaco
for version in 16 17 18 20 21 22; do
    if "$tool" --clang clang-$version --print-clang >/dev/null 2>&1; then
        expect "clang-$version: one source" 0 'reverse_static.*1024' "$tool" --clang clang-$version -t gfx90a "$second" -o d.hsaco
        expect "clang-$version: several, with features" 0 'd.hsaco for gfx90a:xnack\+: .*V5' \
            "$tool" --clang clang-$version -t gfx90a:xnack+ "$second" "$kernels/first.cpp" "$kernels/third.cl" -o d.hsaco
    else
        skipped=$((skipped + 1))
    fi
done
if "$tool" --clang clang-16 --print-clang >/dev/null 2>&1; then
    expect 'clang-16 at -O0: a warning' 0 'warning: clang 16 at -O0' "$tool" --clang clang-16 -t gfx90a -O0 "$second" -o d.hsaco
    holds 'clang-16 at -O2: none' bash -c '! "$@" 2>&1 | grep -q warning' - "$tool" --clang clang-16 -t gfx90a "$second" -o d.hsaco
else
    skipped=$((skipped + 1))
fi
finish
