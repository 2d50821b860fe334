#!/usr/bin/env bash
# hsadrv doctor on working GPUs, on none, and on machines with one defect each: the first fault is that defect, and the
# remedy is named. Machines made of files (machine.bash), and kfdemu's failures and defects.
. "$(dirname "$0")/expect.bash"
# shellcheck source=tests/tools/hsadrv/machine.bash
. "$source_root/tests/tools/hsadrv/machine.bash"
doctor=("$hsadrv" doctor)

# cause NAME ID PATTERN COMMAND…: exit status 1; JSON as the schema says; the first fault is ID; finding, remedy and commands have
# PATTERN; and the last sentence begins with the cause.
cause() {
    local name=$1 id=$2 pattern=$3 status found
    shift 3
    "$@" --json >cause.json 2>cause.err
    status=$?
    [ $status = 1 ]
    outcome "$name: exit status" $? "$status: $(cat cause.json cause.err)"
    holds "$name: as the schema says" "$python" "$source_root/tests/tools/hsadrv/schema.py" "$source_root/docs/schema" cause.json
    found=$("$python" - cause.json <<'PYTHON'
import json, sys
report = json.load(open(sys.argv[1]))
fault = next(check for check in report["checks"] if check["verdict"] == "fault")
assert report["cause"] == fault["id"] and not report["healthy"], report["cause"]
assert report["diagnosis"].startswith("The cause: " + fault["checked"]), report["diagnosis"]
assert fault["remedy"] and all(command in report["diagnosis"] for command in fault["commands"]), report["diagnosis"]
assert fault["remedy"] in report["diagnosis"]
print(fault["id"], "|", fault["found"], "|", fault["remedy"], "|", "; ".join(fault["commands"]))
PYTHON
    )
    grep -qE -- "^$id \\| .*($pattern)" <<<"$found"
    outcome "$name: the cause and what to do" $? "no \"$id\" with \"$pattern\" in: $found $(cat cause.err)"
}

# shown HEADING COMMAND…: docs/tools/doctor.md shows, under HEADING, what the command prints.
shown() {
    local name=$1
    shift
    "$@" >shown.txt
    holds "the page shows: $name" bash -c '"$0" "$1/tests/tools/hsadrv/shown.py" "$1/docs/tools/doctor.md" "$2" <shown.txt' \
        "$python" "$source_root" "$name"
}

# verdict FILE ID: of the first check of that name. row FILE ID: what it found.
verdict() { field "$1" "next(c['verdict'] for c in j['checks'] if c['id'] == '$2')"; }
row() { field "$1" "next(c['found'] for c in j['checks'] if c['id'] == '$2')"; }

# ---- working GPUs

expect 'healthy: says so' 0 '^All is well: gpu0 gfx90a works\.$' on_gpu "${doctor[@]}"
COLUMNS=100 expect 'healthy: says that it is emulated' 0 '^note +emulation .*by kfdemu, in this process' on_gpu "${doctor[@]}"
expect 'healthy: two' 0 'All is well: gpu0 gfx90a, gpu1 gfx90a work' on_gpus 2 "${doctor[@]}"
COLUMNS=100 expect 'healthy: another model' 0 'V3, V4, V5.*gfx900:xnack-' on --gpu gfx900 -- "${doctor[@]}"
expect_json doctor on_gpus 2 "${doctor[@]}" --json
for id in module pci kfd dev-kfd render-node interface start agents code-objects memory queue interrupts copy dispatch; do
    expect "healthy: $id is ok" 0 '^ok$' verdict doctor.json $id
done
expect 'healthy: no cause' 0 '^None True$' field doctor.json '(print(j["cause"], j["healthy"]), "")[1]'
expect 'healthy: both are examined' 0 '^2$' field doctor.json 'sum(c["id"] == "dispatch" for c in j["checks"])'
expect 'evidence when asked' 0 'library: .*libkfdemu.so' on_gpu "${doctor[@]}" --verbose
holds 'no evidence otherwise' bash -c '! "$@" | grep -q "library: "' - "$kfdemu" run -- "${doctor[@]}"
"$kfdemu" run --gpus 2 -- "${doctor[@]}" --device 1 --json >one.json
expect 'one of two' 0 "^\['gpu1 gfx90a: kernel'\]$" field one.json '[c["checked"] for c in j["checks"] if c["id"] == "dispatch"]'
expect 'no such GPU' 3 '--device 7: ' on_gpu "${doctor[@]}" --device 7
expect 'a name of two' 2 '--device gfx90a: ' on_gpus 2 "${doctor[@]}" --device gfx90a
expect 'a timeout that cannot be meant' 2 '--timeout' "${doctor[@]}" --timeout 0
expect 'a closed standard output' 4 'cannot write to standard output' bash -c '"$@" >&-' - "$kfdemu" run -- "${doctor[@]}"
expect 'colour on a terminal' 0 $'\033\\[32mok' on_terminal "$kfdemu" run -- "${doctor[@]}"
holds 'none elsewhere' bash -c '! "$@" | grep -q "\[3"' - "$kfdemu" run -- "${doctor[@]}"
holds 'at most 100 columns but for commands and paths' \
    bash -c '"$@" | grep -vE "^ {10}|/|KFDEMU" | awk "length > 100 { exit 1 }"' - env COLUMNS=200 "$kfdemu" run -- "${doctor[@]}"
HSA_ENABLE_INTERRUPT=0 COLUMNS=100 expect 'interrupts that are not wanted' 0 'HSA_ENABLE_INTERRUPT=0 lets waits poll' on_gpu "${doctor[@]}"
expect 'a small BAR is a note' 0 '^note +memory of GPUs' on --private-vram -- "${doctor[@]}"
expect 'one hidden GPU of two is a note' 0 '^note +GPUs hidden by the cgroup' on --gpus 2 --hide 1 -- "${doctor[@]}"
ROCR_VISIBLE_DEVICES=1 COLUMNS=100 expect 'one that is not named is a note' 0 'since ROCR_VISIBLE_DEVICES' on --gpus 2 -- "${doctor[@]}"
HSA_OVERRIDE_GFX_VERSION=9.0.10 COLUMNS=100 expect 'an override is a warning' 0 '^warning +HSA_OVERRIDE_GFX_VERSION .*gfx90a' \
    on_gpu "${doctor[@]}"
HSA_OVERRIDE_GFX_VERSION=9.0.10 expect 'and is counted' 0 'works; 1 warning above' on_gpu "${doctor[@]}"

# ---- failing devices

cause 'cgroup denies /dev/kfd' dev-kfd 'although mode 0666 allows it.*device' on --fail open:1-:EPERM -- "${doctor[@]}"
cause 'a security module denies it' dev-kfd 'security module.*ausearch' on --fail open:1-:EACCES -- "${doctor[@]}"
cause 'KFD is locked' dev-kfd 'locked while a GPU is reset.*fuser -v /dev/kfd' on --fail open:1-:EAGAIN -- "${doctor[@]}"
cause 'KFD has taken in no GPU' dev-kfd 'Cannot allocate memory.*added no GPU.*dmesg' on --fail open:1-:ENOMEM -- "${doctor[@]}"
cause 'an old kernel' interface '0.9, and the runtime needs 0.99.*newer kernel' on --kfd 0.9 -- "${doctor[@]}"
cause 'no version' interface 'gives no version: Inappropriate ioctl' on --fail ioctl/0x01:1-:ENOTTY -- "${doctor[@]}"
cause 'no memory at the start' start 'hsa_init\(\) is refused: HSA_STATUS_ERROR_OUT_OF_RESOURCES.*HSAKMT_DEBUG_LEVEL=7' \
    on --fail allocation:1-:ENOMEM -- "${doctor[@]}"
cause 'no queue' queue 'hsa_queue_create.*fuser -v /dev/kfd' on --fail ioctl/0x02:1-:ENOMEM -- "${doctor[@]}"
cause 'queues that hang' queue 'not processed within 1000 ms.*reboot' on --defect queues -- "${doctor[@]}" --timeout 4
cause 'interrupts are lost' interrupts '3 of 3 blocked waits slept on.*HSA_ENABLE_INTERRUPT=0' on --defect interrupts:1- -- "${doctor[@]}" --timeout 4
cause 'copies are wrong' copy '1 of 65536 words are wrong.*HSA_ENABLE_SDMA=0' on --defect copies:1- -- "${doctor[@]}"
cause 'engines hang' copy 'a fill and a copy to the host.*killed.*HSA_ENABLE_SDMA=0 hsadrv doctor' on --defect engines -- "${doctor[@]}" --timeout 4
cause 'a kernel of the runtime never ends' dispatch 'loading code.*did not end within 4 s.*hangs in kernels' \
    on --defect dispatches:1- -- "${doctor[@]}" --timeout 4
cause 'a kernel never ends' dispatch 'doctor_examination.*hangs in kernels' on --defect dispatches:2- -- "${doctor[@]}" --timeout 4
cause 'the only GPU is hidden' agents 'device cgroup hides 1 of KFD.s 1.*device' on --hide 0 -- "${doctor[@]}"
# Of a runtime that knows the model there is nothing to see.
for known in 'gfx942 6.1.2 \(Debian 13\)' 'gfx950 6.4.3 \(Debian sid\)'; do
    read -r model release <<<"$known"
    if "$kfdemu" run --gpu "$model" -- "${doctor[@]}" >/dev/null 2>&1; then
        skip 1 "this runtime knows $model"
        continue
    fi
    cause "the runtime is older than $model" agents "of KFD.s 1: the runtime, .*, does not know $model.*ROCR $release knows $model" \
        on --gpu "$model" -- "${doctor[@]}"
done
ROCR_VISIBLE_DEVICES=7 cause 'a GPU that is not there' environment '"7" names no GPU.*0 \(GPU-.*unset ROCR_VISIBLE_DEVICES' \
    on_gpu "${doctor[@]}"
HSA_OVERRIDE_GFX_VERSION=vega cause 'an override that is no version' environment 'no version.*unset HSA_OVERRIDE_GFX_VERSION' \
    on_gpu "${doctor[@]}"
# A sanitizer itself reserves more than that.
sanitized ||
    cause 'too little address space' address-space 'limited to 3.0 GiB.*ulimit -v unlimited' \
        bash -c 'ulimit -v 3145728 && exec "$@"' - "$kfdemu" run -- "${doctor[@]}"
cause 'too few descriptors' descriptors 'are free.*ulimit -n 65536' bash -c 'ulimit -n 12 && exec "$@"' - "$kfdemu" run -- "${doctor[@]}"
cause 'what follows a fault is skipped' dev-kfd '' on --fail open:1-:EACCES -- "${doctor[@]}"
for id in interface start agents; do expect "$id is skipped" 0 '^not checked, because of the fault above: /dev/kfd$' row cause.json $id; done

# ---- runtimes that crash and hang, through libraries that they load

cat >tool.c <<'SOURCE'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int OnLoad(void* table, unsigned long version, unsigned long count, const char* const* names) {
    (void)table, (void)version, (void)count, (void)names;
    fprintf(stderr, "the tool is here\n");
    if (getenv("CRASH")) abort();
    for (;;) pause();
}
SOURCE
if command -v cc >/dev/null && cc -shared -fPIC -o tool.so tool.c; then
    CRASH=1 HSA_TOOLS_LIB="$scratch/tool.so" cause 'the runtime aborts' start 'died of SIGABRT after .*the tool is here.*unset HSA_TOOLS_LIB' \
        on_gpu "${doctor[@]}"
    HSA_TOOLS_LIB="$scratch/tool.so" cause 'the runtime hangs' start 'did not end within 1 s, and was killed; it last said "the tool is here"' \
        on_gpu "${doctor[@]}" --timeout 1
    # Ctrl-C while it waits for a child that hangs.
    expect 'Ctrl-C ends it' 130 'asking the runtime' on_terminal --interrupt 'asking the runtime' \
        env HSA_TOOLS_LIB="$scratch/tool.so" "$kfdemu" run -- "${doctor[@]}"
    holds 'and its child' bash -c '! grep -lz "^HSA_TOOLS_LIB=.*$0/tool.so" /proc/[0-9]*/environ 2>/dev/null | grep -q .' "$scratch"
else
    skip 4 'there is no C compiler'
fi

# ---- no GPU, and machines made of files

expect 'no GPU: a fault' 1 'AMD GPUs on the PCI bus +none' on_none "${doctor[@]}"
cause 'no GPU' pci 'none.*kfdemu run -- PROGRAM' on_none "${doctor[@]}"
expect 'no GPU, and a name of one' 1 'The cause: AMD GPUs' on_none "${doctor[@]}" --device 0

why=$(why_no_machines)
if [ -n "$why" ]; then
    skip 60 "machines made of files: $why"
    finish
fi

lay_out
cause 'a device of no driver' dev-kfd 'No such device or address: no driver answers to device 236:0' inside 0:0 "${doctor[@]}"
lay_out && without_gpu
cause 'an empty bus' pci 'none.*lspci' inside 0:0 "${doctor[@]}"
expect 'the module is no cause then' 0 '^note$' verdict cause.json module
lay_out && without_module
cause 'no module' module 'not loaded.*sudo modprobe amdgpu' inside 1234:1234 "${doctor[@]}"
shown 'No kernel module' inside 1234:1234 env COLUMNS=100 "${doctor[@]}"
echo 'blacklist amdgpu' >"$tree/etc/modprobe.d/gpu.conf"
cause 'blacklisted' module "blacklisted by /etc/modprobe.d/gpu.conf: blacklist amdgpu.*sed -i '/amdgpu/s/\^/#/' /etc/modprobe.d/gpu.conf" \
    inside 1234:1234 "${doctor[@]}"
echo 'quiet nomodeset splash' >"$tree/over/cmdline"
cause 'nomodeset' module "command line keeps it out: nomodeset.*update-grub" inside 1234:1234 "${doctor[@]}"
lay_out && without_module && kernel_says 'Loading of unsigned module is rejected'
cause 'secure boot' module 'secure boot refuses.*mokutil --import /var/lib/dkms/mok.pub' inside 0:0 "${doctor[@]}"
lay_out && bound_to vfio-pci
cause 'given to virtual machines' driver "vfio-pci has it.*echo amdgpu \| sudo tee .*driver_override" inside 0:0 "${doctor[@]}"
lay_out && bound_to radeon
cause 'the old driver' driver 'radeon has it.*amdgpu.cik_support=1' inside 0:0 "${doctor[@]}"
lay_out && rm "$tree/sys/bus/pci/devices/0000:03:00.0/driver" &&
    kernel_says 'amdgpu 0000:03:00.0: Direct firmware load for amdgpu/aldebaran_mec.bin failed with error -2'
cause 'missing firmware' driver 'no driver has taken it.*aldebaran_mec.bin.*firmware-amd-graphics' inside 0:0 "${doctor[@]}"
lay_out && rm -rf "$tree/sys/devices/virtual/kfd"
cause 'a kernel without KFD' kfd 'CONFIG_HSA_AMD=y' inside 0:0 "${doctor[@]}"
lay_out && rm -rf "$tree/sys/devices/virtual/kfd/kfd/topology/nodes/1" &&
    kernel_says 'kfd kfd: amdgpu: skipped device 1002:740f, PCI rejects atomics 730<0'
cause 'no PCIe atomics' kfd-node 'has not added it.*rejects atomics.*slot that the CPU serves' inside 0:0 "${doctor[@]}"
: >"$tree/dev/kmsg"
cause 'KFD left it out, and no reason' kfd-node "rejects atomics.*dmesg \| grep -iE 'amdgpu\|kfd'" inside 0:0 "${doctor[@]}"
lay_out
cause 'no permission' dev-kfd 'mode 0660, owner 0, group render \(109\); alice \(1234\) is not in that group.*sudo usermod -aG render alice' \
    inside 1234:1234 "${doctor[@]}"
shown 'No permission' inside 1234:1234 env COLUMNS=100 "${doctor[@]}"
sed -i 's/^render:x:109:/&alice/' "$tree/etc/group"
cause 'not in this session' dev-kfd 'by /etc/group, and not in this session.*log out and in again.*newgrp render' inside 1234:1234 "${doctor[@]}"
lay_out && sed -i /^render/d "$tree/etc/group"
cause 'a group without a name' dev-kfd 'group 109; that group has no name.*sudo groupadd -r -g 109 render' inside 1234:1234 "${doctor[@]}"
touch "$tree/.dockerenv"
cause 'the same in a container' dev-kfd 'no name in this container.*docker run --device=/dev/kfd --device=/dev/dri --group-add 109 IMAGE' \
    inside 1234:1234 "${doctor[@]}"
lay_out && chown 0:0 "$tree/dev/kfd" && chmod 600 "$tree/dev/kfd"
cause 'no udev rule' dev-kfd 'mode 0600.*70-kfd.rules.*udevadm trigger' inside 1234:1234 "${doctor[@]}"
lay_out && rm -r "$tree/dev/kfd" "$tree/dev/dri" && touch "$tree/.dockerenv"
cause 'not passed into docker' dev-kfd 'this docker container has not been given it.*docker run --device=/dev/kfd --device=/dev/dri' inside 0:0 "${doctor[@]}"
shown 'A container without the devices' inside 0:0 env COLUMNS=100 "${doctor[@]}"
rm "$tree/.dockerenv" && touch "$tree/run/.containerenv"
cause 'not passed into podman' dev-kfd 'podman run --device=/dev/kfd' inside 0:0 "${doctor[@]}"
rm "$tree/run/.containerenv" && echo '0::/lxc.payload.box' >"$tree/over/cgroup"
cause 'not passed into LXC' dev-kfd 'lxc.mount.entry = /dev/kfd' inside 0:0 "${doctor[@]}"
lay_out && rm "$tree/dev/kfd"
cause 'no file, and no container' dev-kfd 'missing, although the kernel has the device.*udevadm trigger; sudo mknod -m 666 /dev/kfd c 236 0' \
    inside 0:0 "${doctor[@]}"
lay_out && rm "$tree/dev/kfd" && touch "$tree/dev/kfd"
cause 'a file in its place' dev-kfd 'is no device.*sudo rm -r /dev/kfd' inside 0:0 "${doctor[@]}"
lay_out && rm "$tree/dev/kfd" && device kfd 1 3 && rm "$tree/dev/dri/renderD128"
cause 'no render node' render-node 'missing, although' inside 0:0 "${doctor[@]}"
device dri/renderD128 1 3
cause 'another device in its place' interface 'it is device 1:3; the kernel.s KFD is 236:0.*sudo rm /dev/kfd' inside 0:0 "${doctor[@]}"
if ls /usr/lib/*/libhsa-runtime64.so.1.5.* >/dev/null 2>&1; then
    lay_out && rm -r "$tree/sys/devices/system" "$tree/dev/kfd" "$tree/dev/dri/renderD128" && device kfd 1 3 && device dri/renderD128 1 3
    cause 'no CPU caches' cpu-caches 'shows none in /sys/devices/system/cpu.*ROCm 6.1 or newer' inside 0:0 "${doctor[@]}"
else
    skip 3 'the runtime here needs no CPU caches'
fi
lay_out && without_gpu && echo 5.15.167.4-microsoft-standard-WSL2 >"$tree/over/osrelease"
cause 'WSL without its device' wsl 'wsl --update' inside 0:0 "${doctor[@]}"
finish
