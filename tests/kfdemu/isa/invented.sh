#!/usr/bin/env bash
# Adds one row to a copy of the sources, and sees what invented.cpp looks for. Usage: invented.sh SOURCE-ROOT CXX-COMPILER...
set -euo pipefail
root=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tar -C "$root" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$work" --one-top-level=source -xf -
row='VOP3(op(0x2b0, 0x3f0, 0x3f0, 0x3f0), v_invented_u32, all, u32, u32, u32, none, 0, computes(sum<32>), lane(add, 2), d = a + b)'
echo "$row" >>"$work/source/tools/kfdemu/isa/rows/vop3.inc"
sed -i 's/optimization=2/optimization=0/' "$work/source/tools/kfdemu/isa/meson.build" # in half the time
said() { "$@" >"$work/log" 2>&1 || { tail -30 "$work/log" && echo '0 passed, 1 failed, 0 skipped' && exit 1; }; }
CXX="$*" said meson setup "$work/build" "$work/source" -Dtests=true -Dexamples=false -Dlevels=v2 -Dunity=on -Dunity_size=16 -Doptimization=0 -Ddebug=false
said ninja -C "$work/build" tests/kfdemu/isa/invented
"$work/build/tests/kfdemu/isa/invented"
