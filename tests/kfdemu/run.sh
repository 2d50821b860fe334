#!/usr/bin/env bash
# `kfdemu run` as a user meets it: what it runs, what it says, what it gives back.
set -u
kfdemu=$1 raw_hsa=$2 kernels=$3
passed=0 failed=0 skipped=0

# expect NAME STATUS PATTERN COMMAND…: the command's exit status, and a pattern in what it prints.
expect() {
    local name=$1 status=$2 pattern=$3 output got
    shift 3
    output=$("$@" 2>&1)
    got=$?
    if [ $got = "$status" ] && grep -qE -- "$pattern" <<<"$output"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: exit status %s (wanted %s), or no "%s" in:\n%s\n' "$name" $got "$status" "$pattern" "$output"
    fi
}

expect 'help tells of run' 0 'run a program on emulated GPUs' "$kfdemu" --help
expect 'run has help' 0 'model: gfx900' "$kfdemu" run --help
expect 'a version' 0 '^kfdemu [0-9]' "$kfdemu" --version
expect 'no subcommand' 106 'subcommand is required' "$kfdemu"
expect 'an unknown model' 105 'there are gfx900' "$kfdemu" run --gpu gfx1100 -- true
expect 'no GPUs' 105 'gpus' "$kfdemu" run --gpus 0 -- true
expect 'too little VRAM' 2 'vram=3K' "$kfdemu" run --vram 3K -- true
expect 'a missing program' 127 'cannot run /nowhere/program: No such file' "$kfdemu" run -- /nowhere/program
expect 'the exit status of the program' 42 '' "$kfdemu" run -- sh -c 'exit 42'
expect 'programs see the environment' 0 '^on,gpu=gfx900' "$kfdemu" run --gpu gfx900 -- printenv KFDEMU
expect 'two GPUs' 0 'all right' "$kfdemu" run --gpus 2 -- "$raw_hsa" "$kernels"
expect 'private VRAM' 0 'all right' "$kfdemu" run --private-vram -- "$raw_hsa" "$kernels"
expect 'one worker' 0 'all right' "$kfdemu" run --workers 1 -- "$raw_hsa" "$kernels"
expect 'a log when asked' 0 'queue 0 of type' "$kfdemu" run --log info -- "$raw_hsa" "$kernels"
expect 'a broken KFDEMU is explained' 1 'gpu=gfx1: no such model' \
    env KFDEMU=on,gpu=gfx1 LD_PRELOAD="$(dirname "$kfdemu")/libkfdemu.so" "$raw_hsa" "$kernels"
expect 'other files are as before' 0 '^root:' "$kfdemu" run -- head -n 1 /etc/passwd
expect 'folders list' 0 '^renderD128$' "$kfdemu" run -- ls /dev/dri
expect 'links are read' 0 'bus/pci$' "$kfdemu" run -- readlink /sys/dev/char/226:128/device/subsystem
expect 'device files are devices' 0 'character' "$kfdemu" run -- stat -c %F /dev/kfd

if command -v rocminfo >/dev/null; then
    expect 'rocminfo ends well' 0 'Done' "$kfdemu" run -- rocminfo
    expect 'rocminfo finds the module' 0 'ROCk module is loaded' "$kfdemu" run -- rocminfo
    expect 'rocminfo finds gfx90a' 0 'Name: +gfx90a' "$kfdemu" run -- rocminfo
    expect 'rocminfo finds gfx900' 0 'amdgcn-amd-amdhsa--gfx900:xnack-' "$kfdemu" run --gpu gfx900 -- rocminfo
    expect 'rocminfo finds both GPUs' 0 '^2$' \
        bash -c '"$0" run --gpus 2 -- rocminfo | grep -cE "^  Name: +gfx90a"' "$kfdemu"
else
    skipped=5
    echo 'skipped: rocminfo is not installed'
fi
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed = 0 ]
