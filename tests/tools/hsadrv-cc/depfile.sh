#!/usr/bin/env bash
# Rebuilds after changes, by ninja and by make, for any file names.
# Usage: depfile.sh TOOL CLANG KERNELS
. "$(dirname "$0")/expect.bash"

"$tool" -q -t gfx90a,gfx900 "$kernels/second.cpp" "$kernels/first.cpp" -o all.hsaco --depfile all.d
expect 'the rule is for the output' 0 '^all.hsaco: \\$' head -n 1 all.d
for name in second.cpp factor.hpp first.cpp; do
    expect "each file once: $name" 0 '^1$' grep -cE "/$name( |$)" all.d
done
expect 'our headers, too' 0 'shared/device/device.hpp' cat all.d
expect 'no temporary files' 1 '^$' grep "$TMPDIR" all.d
"$tool" -S -t gfx90a "$kernels/second.cpp" -o one.s --depfile one.d
expect 'of assembly' 0 '^one.s: \\$' head -n 1 one.d

# rebuilds NAME: a header in a folder called NAME; a change rebuilds its dependents.
rebuilds() {
    local folder=$1 quoted=${1//\$/\$\$}
    mkdir -p "$folder"
    cp "$kernels/second.cpp" "$kernels/factor.hpp" "$folder"
    # Ninja's own quoting; the command is quoted for the shell.
    cat >build.ninja <<NINJA
rule kernel
  command = '$tool' -q -t gfx90a,gfx900 --depfile '$quoted/k.d' -o \$out \$in
  depfile = $quoted/k.d
build ${quoted// /\$ }/k.hsaco: kernel ${quoted// /\$ }/second.cpp
NINJA
    expect "ninja, in $folder: first" 0 'kernel|-o' ninja -v
    expect "ninja, in $folder: nothing to do" 0 'no work to do' ninja -v
    sleep 0.02
    touch "$folder/factor.hpp"
    expect "ninja, in $folder: a header changed" 0 'k.hsaco' ninja -v
    expect "ninja, in $folder: and nothing more" 0 'no work to do' ninja -v
    holds "ninja, in $folder: it is there" test -s "$folder/k.hsaco"
}
rebuilds plain
rebuilds 'with space'
rebuilds 'hash#'
rebuilds 'dollar$'

if command -v make >/dev/null; then
    mkdir made
    cp "$kernels/second.cpp" "$kernels/factor.hpp" made
    printf 'made/k.hsaco: made/second.cpp\n\t%s -q -t gfx90a --depfile made/k.d -o $@ $<\n-include made/k.d\n' "'$tool'" >Makefile
    expect 'make: first' 0 'hsadrv-cc' make
    expect 'make: nothing to do' 0 'up to date' make
    sleep 0.02
    touch made/factor.hpp
    expect 'make: a header changed' 0 'hsadrv-cc' make
else
    skipped=3
fi
finish
