#!/usr/bin/env bash
# `kfdemu run` from a user's view: the programs it runs, its messages and its exit status.
set -u
kfdemu=$1 raw_hsa=$2 kernels=$3 manual=$4 raw_waits=$5
# shellcheck source=tests/support/expect.bash
. "$(dirname "$0")/../support/expect.bash"

expect 'help tells of run' 0 'run a program on emulated GPUs' "$kfdemu" --help
expect 'run has help' 0 'model: gfx900' "$kfdemu" run --help
expect 'a version' 0 '^kfdemu [0-9]' "$kfdemu" --version
expect 'no subcommand' 2 'subcommand is required' "$kfdemu"
expect 'an unknown model' 2 'the models are gfx900' "$kfdemu" run --gpu gfx1200 -- true
expect 'no GPUs' 2 'gpus' "$kfdemu" run --gpus 0 -- true
expect 'too little VRAM' 2 'vram=3K' "$kfdemu" run --vram 3K -- true
expect 'a missing program' 127 'cannot run /nowhere/program: No such file' "$kfdemu" run -- /nowhere/program
expect 'the exit status of the program' 42 '' "$kfdemu" run -- sh -c 'exit 42'
expect 'arguments in brackets stay as they are' 0 '^<\[a\]><\[b,c\]><\[\]>$' "$kfdemu" run -- printf '<%s>' '[a]' '[b,c]' '[]'
expect 'programs see the environment' 0 '^on,gpu=gfx900' "$kfdemu" run --gpu gfx900 -- printenv KFDEMU
expect 'a program sets KFDEMU before it uses the device' 0 '^gfx_target_version 90000$' \
    env -u KFDEMU LD_PRELOAD="$(dirname "$kfdemu")/libkfdemu.so" python3 -c \
    'import os; os.putenv("KFDEMU", "on,gpu=gfx900"); print(open("/sys/class/kfd/kfd/topology/nodes/1/properties").read())'
expect 'two GPUs' 0 'all right' "$kfdemu" run --gpus 2 -- "$raw_hsa" "$kernels"
expect 'private VRAM' 0 'all right' "$kfdemu" run --private-vram -- "$raw_hsa" "$kernels"
expect 'one worker' 0 'all right' "$kfdemu" run --workers 1 -- "$raw_hsa" "$kernels"
expect 'waits that ask to spin sleep' 0 '^relaxed sleeps scacquire sleeps any sleeps $' \
    bash -c '"$0" run -- "$1" | tr "\n" " "' "$kfdemu" "$raw_waits"
expect 'unless they are to spin' 0 '^relaxed spins scacquire spins any spins $' \
    bash -c '"$0" run --waits spin -- "$1" | tr "\n" " "' "$kfdemu" "$raw_waits"
expect 'a log when asked' 0 'queue 0 of type' "$kfdemu" run --log info -- "$raw_hsa" "$kernels"
expect 'silence when all is well' 0 '^$' \
    bash -c '"$0" run -- "$1" "$2" touch 2>&1 >/dev/null' "$kfdemu" "$raw_hsa" "$kernels"
expect 'a seeded order' 0 'all right' "$kfdemu" run --seed 5 -- "$raw_hsa" "$kernels"
expect 'the host sees VRAM' 0 'touched' "$kfdemu" run -- "$raw_hsa" "$kernels" touch
expect 'a touch of private VRAM is SIGSEGV' 139 '' \
    bash -c '"$0" run --private-vram -- "$1" "$2" touch' "$kfdemu" "$raw_hsa" "$kernels"
expect 'and is explained' 139 'the host accessed 0x[0-9a-f]+, which is private VRAM of gpu0' \
    bash -c '"$0" run --private-vram -- "$1" "$2" touch' "$kfdemu" "$raw_hsa" "$kernels"
expect 'a call that fails' 1 'OUT_OF_RESOURCES|resources' \
    "$kfdemu" run --fail allocation:1-:ENOMEM -- "$raw_hsa" "$kernels"
expect 'the log says that it was asked to' 1 'ioctl number 0x1 fails as requested' \
    "$kfdemu" run --log info --fail ioctl/0x01:1-:EIO -- "$raw_hsa" "$kernels"
expect 'a failure that cannot be meant' 2 'ERROR must be an errno' "$kfdemu" run --fail mmap:1:EWHAT -- true
expect 'interrupts that are lost' 0 'defect=interrupts:2-,defect=queues' \
    "$kfdemu" run --defect interrupts:2- --defect queues -- printenv KFDEMU
expect 'a strict device' 0 '^on,.*,vram-access=private,.*,strict=all$' env -u KFDEMU_STRICT "$kfdemu" run --strict -- printenv KFDEMU
expect 'and all but one behaviour' 0 ',strict=barrier-value\+seeded-garbage\+write-index$' \
    "$kfdemu" run --strict=all+no-seeded-order+no-private-vram -- printenv KFDEMU
expect 'one behaviour' 0 ',strict=barrier-value$' "$kfdemu" run --strict=barrier-value -- printenv KFDEMU
expect 'a behaviour that is none' 2 'strict=harsh: .* the names are all, none, fault-stops-all' "$kfdemu" run --strict=harsh -- true
expect 'KFDEMU_STRICT becomes part of KFDEMU' 1 '^on,.*,strict=seeded-order$' \
    env KFDEMU_STRICT=seeded-order "$kfdemu" run -- printenv KFDEMU KFDEMU_STRICT
expect 'raw HSA on a strict device' 0 'all right' "$kfdemu" run --strict -- "$raw_hsa" "$kernels"
expect 'a defect that cannot be meant' 2 'expected interrupts:WHICH' "$kfdemu" run --defect heat -- true
expect 'a checked program that is correct' 0 'check: wait in [1-9][0-9]* kernels, .*: nothing found' "$kfdemu" run --check=wait -- "$raw_hsa" "$kernels"
expect 'all checks' 0 'check: memory.*leak in [1-9][0-9]* kernels, .*: nothing found' "$kfdemu" run --check -- "$raw_hsa" "$kernels"
expect 'a report for programs' 0 '"checks": "memory.*leak"' \
    bash -c 'file=$(mktemp) && "$0" run --check --check-report "$file" -- "$1" "$2" >/dev/null 2>&1; python3 -m json.tool "$file" && rm "$file"' \
    "$kfdemu" "$raw_hsa" "$kernels"
expect 'beside a tool of the program' 0 'nothing found' env HSA_TOOLS_LIB=libnone.so "$kfdemu" run --check -- "$raw_hsa" "$kernels"
expect 'checks in KFDEMU' 0 ',check=memory\+wait,check-report=/.*/found.json,check-first=[0-9]+$' \
    "$kfdemu" run --check=memory,wait --check-report found.json -- printenv KFDEMU
expect 'a check that is none' 2 "check=speed: 'speed' is not a check; the names are all, cheap, memory" "$kfdemu" run --check=speed -- true
expect 'the PCI bus' 0 '^0000:02:00.0$' "$kfdemu" run --gpus 2 -- ls /sys/bus/pci/devices
expect 'the driver of a GPU' 0 'drivers/amdgpu$' "$kfdemu" run -- readlink /sys/bus/pci/devices/0000:01:00.0/driver
expect 'a search' 0 '^/sys/devices/virtual/kfd/kfd/topology/nodes/2/properties$' \
    "$kfdemu" run --gpus 2 -- find /sys/devices/virtual/kfd -path '*nodes/2/prop*'
expect 'a listing of a tree' 0 '^drm_render_minor 128$' "$kfdemu" run -- grep -rh drm_render_minor /sys/class/kfd/kfd/topology
expect 'a GPU that the cgroup hides' 1 'Operation not permitted' "$kfdemu" run --gpus 2 --hide 1 -- cat /dev/dri/renderD129
expect 'and the other' 0 'all right' "$kfdemu" run --gpus 2 --hide 1 -- "$raw_hsa" "$kernels"
expect 'failures in KFDEMU' 0 'fail=mmap:2:ENOMEM,fail=ioctl:9:EIO' \
    "$kfdemu" run --fail mmap:2:ENOMEM --fail ioctl:9:EIO -- printenv KFDEMU
expect 'options come before KFDEMU' 0 '^on,gpu=gfx906,gpus=2,vram=1073741824,.*log=info,seed=7$' \
    env KFDEMU=off,gpu=gfx900,gpus=2,vram=4G,seed=7 "$kfdemu" run --gpu gfx906 --vram 1G --log info -- printenv KFDEMU
expect 'KFDEMU comes before the defaults' 0 '^on,gpu=gfx900,.*vram=4294967296,vram-access=private,' \
    env KFDEMU=gpu=gfx900,vram=4G,vram-access=private "$kfdemu" run -- printenv KFDEMU
expect 'the help shows what KFDEMU says' 0 'gfx900' env KFDEMU=gpu=gfx900 "$kfdemu" run --help
expect 'an unknown key of KFDEMU is refused' 2 'KFDEMU: colour=red: no such option; the options are gpu' env KFDEMU=colour=red "$kfdemu" run -- true
expect 'a broken KFDEMU is explained' 1 'gpu=gfx1: no such model' \
    env KFDEMU=on,gpu=gfx1 LD_PRELOAD="$(dirname "$kfdemu")/libkfdemu.so" "$raw_hsa" "$kernels"
expect 'other files are as before' 0 '^root:' "$kfdemu" run -- head -n 1 /etc/passwd
expect 'folders list' 0 '^renderD128$' "$kfdemu" run -- ls /dev/dri
expect 'links are read' 0 'bus/pci$' "$kfdemu" run -- readlink /sys/dev/char/226:128/device/subsystem
expect 'device files are devices' 0 'character' "$kfdemu" run -- stat -c %F /dev/kfd

# Every option has a place in the manual, and the manual knows no other.
options() { grep -oE -- '--[a-z][a-z-]+' | sort -u; }
in_manual() { sed 's/\\-/-/g' "$manual" | sed -n '/^.SH OPTIONS/,/^.SH ENV/p' | options | grep -v -- --version; }
expect 'the manual and the help agree' 0 '^$' diff <("$kfdemu" run --help | options) <(in_manual)

if command -v rocminfo >/dev/null; then
    expect 'rocminfo ends well' 0 'Done' "$kfdemu" run -- rocminfo
    expect 'rocminfo finds the module' 0 'ROCk module is loaded' "$kfdemu" run -- rocminfo
    expect 'rocminfo finds gfx90a' 0 'Name: +gfx90a' "$kfdemu" run -- rocminfo
    expect 'rocminfo finds gfx900' 0 'amdgcn-amd-amdhsa--gfx900:xnack-' "$kfdemu" run --gpu gfx900 -- rocminfo
    for known in 'gfx942 38 6.1.2 \(Debian 13\)' 'gfx950 32 6.4.3 \(Debian sid\)'; do
        read -r model units release <<<"$known"
        if "$kfdemu" run --gpu "$model" -- rocminfo 2>/dev/null | grep -q "Name: *$model"; then
            expect "rocminfo finds one XCC of $model" 0 "Compute Unit: +$units" "$kfdemu" run --gpu "$model" --partition cpx -- rocminfo
        else
            expect "a runtime that is older than $model is named" 0 "libhsa-runtime64.*, does not know $model: ROCR $release does" \
                bash -c '"$0" run --gpu "$1" -- rocminfo 2>&1' "$kfdemu" "$model"
        fi
    done
    expect 'rocminfo finds both GPUs' 0 '^2$' \
        bash -c '"$0" run --gpus 2 -- rocminfo | grep -cE "^  Name: +gfx90a"' "$kfdemu"
else
    skipped=7
    echo 'skipped: rocminfo is not installed'
fi
totals
