#!/usr/bin/env bash
# kfdemu on limited machines, simulated in mount namespaces: HSA programs start there, or one sentence names the problem and the remedy.
#
#     machines.sh KFDEMU RAW_HSA KERNELS DOCKER_FILTER LEVELS-OF-THE-BUILD
set -u
kfdemu=$(realpath "$1") raw_hsa=$(realpath "$2") kernels=$(realpath "$3") docker_filter=$(realpath "$4")
# shellcheck source=tests/support/expect.bash
. "$(dirname "$0")/../support/expect.bash"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; [ -z "${groups[*]-}" ] || rmdir "${groups[@]}" 2>/dev/null' EXIT
chmod 755 "$scratch" # for other users
cp "$kfdemu" "$(dirname "$kfdemu")/libkfdemu.so" "$raw_hsa" "$docker_filter" "$scratch"
cp -r "$kernels" "$scratch/kernels"
# The simulated folders hide others: the programs are in /mnt.
room=/mnt emulated=(/mnt/kfdemu run --log warning --)
namespace=(unshare --mount --propagation private)
[ "$(id -u)" = 0 ] || namespace+=(--user --map-root-user)

why=
"${namespace[@]}" mount -t tmpfs none /mnt 2>/dev/null || why='mount namespaces are not permitted here'

# inside SETUP COMMAND…: SETUP, commands of the shell, makes the machine; it may set `as`, a prefix of the command.
inside() {
    # shellcheck disable=SC2016
    "${namespace[@]}" bash -c 'scratch=$1 setup=$2; shift 2
        empty() { mount -t tmpfs -o "mode=755${2:+,$2}" none "$1"; }
        as=()
        mount --bind "$scratch" /mnt && eval "$setup" || exit 99
        cd / && exec "${as[@]}" "$@"' - "$scratch" "$@"
}

# starts NAME SETUP [PATTERN]: kernels run there; rocminfo lists a CPU with a name and a cache, the GPU, and PATTERN.
starts() {
    local name=$1 setup=$2 output pattern
    if [ -n "$why" ]; then skip 2 "$name: $why" && return; fi
    expect "$name: kernels run" 0 '^all right$' inside "$setup" "${emulated[@]}" $room/raw_hsa $room/kernels
    if ! command -v rocminfo >/dev/null; then skip 1 "$name: rocminfo is not installed" && return; fi
    output=$(inside "$setup" "${emulated[@]}" rocminfo 2>&1)
    for pattern in 'Marketing Name: +[^ ]' 'L1: +[1-9]' 'Name: +gfx90a' 'Done' "${3:-Done}"; do
        grep -qE -- "$pattern" <<<"$output" && continue
        outcome "$name: rocminfo" 1 "no \"$pattern\" in: $(head -n 40 <<<"$output")"
        return
    done
    outcome "$name: rocminfo" 0
}

# says NAME SETUP PATTERN [OPTION…]: no program starts, and one line gives the reason and the remedy.
says() {
    if [ -n "$why" ]; then skip 1 "$1: $why" && return; fi
    local output
    ! output=$(inside "$2" $room/kfdemu run "${@:4}" -- $room/raw_hsa $room/kernels 2>&1) && grep -qE -- "$3" <<<"$output"
    outcome "$1: says why" $? "no \"$3\", or a success, in: $output"
}

skip() { skipped=$((skipped + $1)) && echo "skipped: $2"; }

# ---- the host's properties

# cpu NUMBER APIC-ID [NODE]: into the made-up /sys and /proc/cpuinfo; in the node's folder if one is named.
cpu() {
    local folder=$scratch/sys/devices/system/cpu/cpu$1
    mkdir -p "$folder"
    [ -z "${3-}" ] || { mkdir -p "$scratch/sys/devices/system/node/node$3" && ln -s "../../cpu/cpu$1" "$scratch/sys/devices/system/node/node$3/cpu$1"; }
    printf 'processor\t: %d\nvendor_id\t: GenuineIntel\nmodel name\t: A made-up CPU\napicid\t\t: %d\n\n' "$1" "$2" >>"$scratch/cpuinfo"
}

# caches NUMBER: of that CPU's, 40 KiB for data.
caches() {
    local folder=$scratch/sys/devices/system/cpu/cpu$1/cache/index0
    mkdir -p "$folder"
    local name
    for name in level:1 type:Data size:40K coherency_line_size:64 ways_of_associativity:10 physical_line_partition:1 \
        "shared_cpu_list:$1" shared_cpu_map:1; do echo "${name#*:}" >"$folder/${name%%:*}"; done
}

# node NUMBER KIB: with so much memory, and no CPUs yet.
node() {
    local folder=$scratch/sys/devices/system/node/node$1
    mkdir -p "$folder"
    printf 'Node %d MemTotal: %d kB\nNode %d MemFree: %d kB\n' "$1" "$2" "$1" "$2" >"$folder/meminfo"
    : >"$folder/cpulist" && : >"$folder/cpumap" && echo "10 20" >"$folder/distance"
}

nothing() { rm -rf "$scratch/sys" "$scratch/cpuinfo" && mkdir -p "$scratch/sys/devices/system/"{cpu,node} && : >"$scratch/cpuinfo"; }
online() { echo "$1" | tee "$scratch/sys/devices/system/cpu/online" >"$scratch/sys/devices/system/cpu/possible"; }
# shellcheck disable=SC2016
made_up='mount --rbind /mnt/sys /sys && mount --bind /mnt/cpuinfo /proc/cpuinfo'

starts 'this machine' ''
starts 'no NUMA nodes' 'empty /sys/devices/system/node'
starts 'no /sys/devices/system' 'empty /sys/devices/system'
starts 'no /sys' 'empty /sys'
# Without /proc the dynamic linker does not know $ORIGIN either.
starts 'no /proc' 'empty /proc && export LD_LIBRARY_PATH=/mnt'
if [ -z "$why" ]; then
    expect 'no /proc: a file of sysfs is read and not written' 0 '^1$' inside 'empty /proc && export LD_LIBRARY_PATH=/mnt' \
        "${emulated[@]}" sh -c 'exec 3</sys/class/kfd/kfd/topology/generation_id; echo 7 >&3 2>/dev/null && exit 1; cat <&3'
fi
starts 'neither /proc nor /sys' 'empty /proc && empty /sys && export LD_LIBRARY_PATH=/mnt'

nothing && cpu 0 0 0 && cpu 1 1 0 && online 0-1
starts 'no CPU caches' "$made_up" 'Compute Unit: +2 *$'
nothing && cpu 0 0 0 && caches 0 && online 0
starts 'one CPU' "$made_up" 'Compute Unit: +1 *$'
nothing && for ((i = 0; i < 300; ++i)); do cpu $i $((2 * i)) 0 && caches $i; done && online 0-299
starts '300 CPUs' "$made_up" 'Compute Unit: +300 *$'
nothing && for i in 0 1 2 3; do cpu $i $i 0; done && caches 0 && caches 2 && online 0,2 && sed -i '/^processor.*[13]$/,/^$/d' "$scratch/cpuinfo"
starts 'offline CPUs' "$made_up" 'Compute Unit: +2 *$'
nothing && for i in 4 130 131; do cpu $i $((i + 100)) 0 && caches $i; done && online 4,130-131
starts 'sparse numbering' "$made_up" 'L1: +40960'
starts 'sparse numbering, by name' "$made_up" 'Name: +A made-up CPU'
nothing && node 0 4000000 && node 1 4000000 && cpu 0 0 0 && caches 0 && cpu 1 16 1 && caches 1 && online 0-1
starts 'two NUMA nodes' "$made_up" 'Compute Unit: +2 *$'
nothing && node 0 4000000 && node 1 4000000 && cpu 0 0 1 && caches 0 && online 0
starts 'a memory-only node' "$made_up" 'Compute Unit: +1 *$'
nothing && echo 'processor : 0' >"$scratch/cpuinfo"
starts 'a cpuinfo that tells next to nothing' "$made_up"

# ---- little memory, little room

# cgroup CONTROLLER SETTING…: makes a group of this test's own; prints the file that a process enters it by.
groups=()
cgroup() {
    local controller=$1 folder setting
    shift
    if [ -e /sys/fs/cgroup/cgroup.controllers ]; then folder=/sys/fs/cgroup; else folder=/sys/fs/cgroup/$controller; fi
    folder+=/kfdemu-test-$$-$controller
    mkdir "$folder" 2>/dev/null || return
    groups+=("$folder")
    for setting in "$@"; do
        [ ! -e "$folder/${setting%%=*}" ] || echo "${setting#*=}" >"$folder/${setting%%=*}" || return
    done
    entry=$folder/cgroup.procs
}
if cgroup memory memory.limit_in_bytes=512M memory.max=512M memory.swap.max=0 2>/dev/null; then
    starts 'a cgroup with 512 MiB' "echo \$\$ >$entry"
else
    skip 2 'a cgroup with 512 MiB: cannot be made here'
fi
if cgroup cpu cpu.cfs_quota_us=50000 cpu.max='50000 100000' 2>/dev/null; then
    starts 'a cgroup with half a CPU' "echo \$\$ >$entry"
else
    skip 2 'a cgroup with half a CPU: cannot be made here'
fi
starts '64 KiB of locked memory' 'ulimit -l 64'
starts '6 GiB of addresses' 'ulimit -v 6291456'
says '3 GiB of addresses' 'ulimit -v 3145728' \
    'address space .*limited to 3\.0 GiB.* 4\.5 GiB.*ulimit -v unlimited'
says '6 GiB of addresses for two GPUs' 'ulimit -v 6291456' \
    'address space .*limited to 6\.0 GiB.* 8\.5 GiB.*ulimit -v unlimited' --gpus 2
if [ "$(cat /proc/sys/vm/overcommit_memory)" = 2 ]; then
    starts 'memory that is not overcommitted' ''
else
    skip 2 'memory that is not overcommitted: vm.overcommit_memory is not 2 here, and is the whole machine'\''s'
fi
starts '64 MiB of /dev/shm' 'empty /dev/shm size=64M'
# shellcheck disable=SC2016
starts 'no /dev/shm' 'mkdir /mnt/dev && for f in null zero random urandom; do : >/mnt/dev/$f && mount --bind /dev/$f /mnt/dev/$f; done &&
    mount --rbind /mnt/dev /dev; rm -f /mnt/dev; true'
starts 'a read-only root with 1 MiB of /tmp' 'empty /tmp size=1M && mount -o remount,bind,ro /'
starts 'a /tmp without exec' 'empty /tmp size=1M,noexec'

# ---- users and settings

if [ "$(id -u)" = 0 ]; then
    starts 'an ordinary user' 'as=(setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/nonexistent)'
    starts 'a user without a passwd entry or HOME' 'as=(setpriv --reuid 54321 --regid 54321 --clear-groups env -u HOME -u USER -u LOGNAME)'
    starts 'hidepid' 'mount -o remount,hidepid=2 /proc 2>/dev/null || mount -t proc -o hidepid=2 proc /proc
        as=(setpriv --reuid 54321 --regid 54321 --clear-groups)'
else
    skip 6 'other users: only root can be one'
fi
starts 'system calls as Docker allows them' 'as=(/mnt/docker_filter)'
starts 'a locale that is not installed' 'export LC_ALL=xx_XX.UTF-8 LANG=xx_XX.UTF-8'
starts 'an empty environment' 'as=(env -i PATH=/usr/bin:/bin)'

# ---- lesser CPUs, by qemu's user mode
levels=$5
# lesser NAME CPU LEVELS PATTERN: LEVELS are those of which the CPU has one.
lesser() {
    local output
    if ! grep -qE -- "$3" <<<"$levels"; then skip 1 "$1: this build has executors for $levels alone" && return; fi
    if ! command -v qemu-x86_64 >/dev/null; then skip 1 "$1: qemu-x86_64 is not installed" && return; fi
    output=$(qemu-x86_64 -cpu "$2" -E LD_PRELOAD="$scratch/libkfdemu.so" -E KFDEMU=on "$scratch/raw_hsa" "$scratch/kernels" 2>&1)
    grep -qE -- "$4" <<<"$output"
    outcome "$1" $? "no \"$4\" in: $output"
}
lesser 'a CPU without AVX-512' Haswell-noTSX 'v2|v3' '^all right$'
lesser 'a CPU without AVX2' Nehalem v2 '^all right$'
lesser 'a CPU without SSE4.2' core2duo . 'this CPU has no SSE4\.2 .*run it on a newer CPU'

totals
