# Machines made of files: a root folder with the /sys, /dev, /etc of a machine that has an AMD GPU, in a separate mount namespace.
# Sourced, after expect.bash.
#
#     lay_out                                  # a machine whose files say that all is well
#     echo nomodeset >"$tree/over/cmdline"     # put over /proc/cmdline
#     inside 1234:1234 "$hsadrv" doctor        # as that user and group (and groups after it), in that machine
tree=$scratch/tree

# Why no such machine can be made here; empty if it can.
why_no_machines() {
    [ "$(id -u)" = 0 ] || { echo 'only root can mount files and change owners'; return; }
    unshare -m mount --bind /tmp /tmp 2>/dev/null || echo 'mount namespaces are not permitted here'
}

lay_out() {
    rm -rf "$tree"
    mkdir -p "$tree"/{dev/dri,etc/modprobe.d,proc,tmp,run,usr,over,lib/modules} "$tree/$build" "$tree/$scratch"
    local folder
    for folder in bin sbin lib32 lib64; do [ -e "/$folder" ] && ln -s "usr/$folder" "$tree/$folder"; done
    printf 'root:x:0:0::/root:/bin/sh\nalice:x:1234:1234::/:/bin/sh\n' >"$tree/etc/passwd"
    printf 'root:x:0:\nvideo:x:44:\nrender:x:109:\nalice:x:1234:\n' >"$tree/etc/group"
    # libraries: the linker's cache, and all of /usr/lib beside the machine's own /lib/modules
    cp /etc/ld.so.cache "$tree/etc/" 2>/dev/null
    rmdir "$tree/lib/modules" "$tree/lib" && ln -s usr/lib "$tree/lib"

    mkdir -p "$tree/sys/devices/system/cpu/cpu0/cache/index0"
    local sys=$tree/sys gpu=$tree/sys/bus/pci/devices/0000:03:00.0 nodes=$tree/sys/devices/virtual/kfd/kfd/topology/nodes
    mkdir -p "$gpu" "$sys/bus/pci/drivers/amdgpu" "$sys/module/amdgpu" "$nodes"/{0,1}/mem_banks/0 "$sys/class/kfd/kfd"
    echo 0x1002 >"$gpu/vendor" && echo 0x740f >"$gpu/device" && echo 0x038000 >"$gpu/class"
    ln -s ../../../../bus/pci/drivers/amdgpu "$gpu/driver"
    echo live >"$sys/module/amdgpu/initstate"
    echo 236:0 >"$sys/class/kfd/kfd/dev"
    echo 0 >"$nodes/0/gpu_id" && printf 'cpu_cores_count 8\nsimd_count 0\n' >"$nodes/0/properties"
    echo 4711 >"$nodes/1/gpu_id"
    printf 'simd_count 416\ngfx_target_version 90010\ndevice_id 29711\nlocation_id 768\ndomain 0\ndrm_render_minor 128\n' \
        >"$nodes/1/properties"
    device kfd 236 0
    device dri/renderD128 226 128
    device null 1 3 && chmod 666 "$tree/dev/null"
    : >"$tree/dev/kmsg"
    echo 'BOOT_IMAGE=/vmlinuz quiet' >"$tree/over/cmdline"
    echo '0::/' >"$tree/over/cgroup"
}

# device NAME MAJOR MINOR: mode 0660, group render. Opening one that no driver has is ENXIO.
device() { mknod -m 660 "$tree/dev/$1" c "$2" "$3" && chown 0:109 "$tree/dev/$1"; }

# without_gpu: nothing of AMD's is on the bus.
without_gpu() { rm -rf "$tree"/sys/bus/pci/devices/* "$tree/sys/module/amdgpu" "$tree/sys/devices" "$tree/sys/class/kfd" "$tree/dev/kfd" "$tree"/dev/dri/*; }
# without_module: amdgpu is not loaded.
without_module() { rm -rf "$tree"/sys/bus/pci/devices/*/driver "$tree/sys/module/amdgpu" "$tree/sys/devices" "$tree/sys/class/kfd" "$tree/dev/kfd" "$tree"/dev/dri/*; }
# bound_to DRIVER
bound_to() { ln -sfn "../../../../bus/pci/drivers/$1" "$tree/sys/bus/pci/devices/0000:03:00.0/driver"; }
# kernel_says LINE: in the kernel log.
kernel_says() { printf '4,100,5000000,-;%s\n' "$*" >>"$tree/dev/kmsg"; }

# inside USER:GROUP[,GROUP…] COMMAND…
inside() {
    local who=$1 groups
    shift
    groups=${who#*:}
    # shellcheck disable=SC2016
    unshare -m bash -c '
        tree=$1 build=$2 user=$3 group=$4 groups=$5; shift 5
        mount --bind /usr "$tree/usr" && mount --bind "$build" "$tree/$build" && mount --rbind /proc "$tree/proc" &&
            mount --bind "$tree/over/cmdline" "$tree/proc/cmdline" && mount --bind "$tree/over/cgroup" "$tree/proc/1/cgroup" &&
            chmod 1777 "$tree/tmp" || exit 99
        [ ! -e "$tree/over/osrelease" ] || mount --bind "$tree/over/osrelease" "$tree/proc/sys/kernel/osrelease" || exit 99
        [ "$groups" = "$group" ] && groups=--clear-groups || groups=--groups=${groups#*,}
        exec chroot "$tree" /usr/bin/setpriv --reuid "$user" --regid "$group" "$groups" \
            /usr/bin/env TMPDIR=/tmp "$@"' - "$tree" "$build" "${who%%:*}" "${groups%%,*}" "$groups" "$@"
}
