# Debian releases in chroots, used by compat, distribution and tools/package. Sourced, after tools/setup.bash.
#
# Sets and reads: cache (the folder that has the chroots), mirror (of Debian's main archive; empty: that of this machine's apt).
# Mounts are in a mount namespace of their own, which ends with the command.

cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/kfdemu-compat
mirror=

# The first source of Debian's main archive in this machine's apt configuration.
# shellcheck disable=SC2016
apt_mirror() {
    apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's/^Debian Debian //p' | head -n 1
}
need_mirror_and_cache() {
    [ -n "$mirror" ] || mirror=$(apt_mirror)
    [ -n "$mirror" ] || fail "apt has no source of Debian's main archive: run apt-get update, or pass --mirror URL"
    mkdir -p "$cache" || fail "cannot create $cache: choose another directory with --cache"
}

# inside RELEASE COMMAND…: runs the command in the chroot; its mounts and processes end with it.
inside() {
    local release=$1
    shift
    "$root/tools/kfdemu/in_root" "$cache/$release" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin CCACHE_DIR=/ccache "$@"
}

# The apt settings that the chroot needs to reach the same mirror.
apt_settings() {
    apt-config dump | grep -E '^Acquire::(http::Proxy|https::Proxy|Check-Valid-Until|Check-Date) '
}

# experimental is no whole distribution: sid, with the HSA runtime, HIP and ROCm's libraries of experimental.
add_experimental() {
    local folder=$cache/experimental
    printf 'deb %s experimental main\n' "$mirror" >"$folder/etc/apt/sources.list.d/experimental.list"
    printf 'Package: libhsa-runtime* rocm-device-libs* libamd-comgr* rocminfo libamdhip64* hipcc* libhip* libroc*\nPin: release a=experimental\nPin-Priority: 990\n' \
        >"$folder/etc/apt/preferences.d/experimental"
}

# bare_chroot NAME RELEASE: nothing but what debootstrap installs.
bare_chroot() {
    local folder=$cache/$1
    rm -rf --one-file-system "$folder"
    unshare --mount --propagation private debootstrap --variant=minbase "$2" "$folder" "$mirror" || return
    apt_settings >"$folder/etc/apt/apt.conf.d/90compat"
    return 0
}

# locked NAME COMMAND…: while no other process makes or changes the chroot of that name. Its children hold the lock, too.
locked() {
    local name=$1
    shift
    (flock 9 && "$@") 9>>"$cache/$name.lock"
}

make_chroot() { [ -e "$cache/$1/ready" ] || locked "$1" new_chroot "$1"; }
new_chroot() {
    local release=$1 folder=$cache/$1 base=$1
    [ -e "$folder/ready" ] && return
    [ "$release" != experimental ] || base=sid
    bare_chroot "$release" "$base" || return
    [ "$release" = "$base" ] || add_experimental || return
    inside "$release" apt-get update -qq &&
        inside "$release" apt-get install -y -qq --no-install-recommends ca-certificates ccache && touch "$folder/ready"
}

# Copies the committed tree to /tree. Unchanged files keep their modification time, so that a second build is incremental.
copy_tree() {
    local old=$cache/$1/tree new=$cache/$1/tree.new file
    rm -rf "$new" && mkdir "$new" || return
    git -c safe.directory="$root" -C "$root" archive HEAD | tar -xmC "$new" || return
    while IFS= read -r -d '' file; do
        if cmp -s "$new/$file" "$old/$file"; then touch -r "$old/$file" "$new/$file"; fi
    done < <(cd "$new" && find . -type f -print0)
    rm -rf "$old" && mv "$new" "$old"
}

# Builds the emulator, and no tests, in /build-emulator.
build_emulator() {
    # shellcheck disable=SC2016
    inside "$1" bash -c '. /tree/tools/setup.bash
        need_packages "${build_packages[@]}"
        [ -f /build-emulator/build.ninja ] ||
            meson setup /build-emulator /tree -Dtests=false -Dexamples=false "-Dlevels=$(cpu_level)" || exit
        ninja -C /build-emulator tools/kfdemu/kfdemu tools/kfdemu/libkfdemu.so \
            tools/kfdemu/lines/libkfdemu-lines.so tools/kfdemu/tool/libkfdemu-tool.so'
}

# The HSA runtime and what its tests need, without headers. The chroot may be of an earlier day, and an installation may have been
# interrupted.
install_runtime() {
    locked "$1" inside "$1" sh -c 'install() { apt-get install -y -qq --no-install-recommends libhsa-runtime64-1 libdw1 rocminfo; }
        dpkg --configure -a && install || { apt-get update -qq && install; }'
}

# ROCR 6.1's hsa_shut_down locks a freed mutex: GpuAgent's scratch_lock_ is destroyed before queues_, whose destructor locks it. If
# another thread has reused the memory, the call hangs (one shutdown in some hundreds) or aborts. Workaround: freed memory is not
# overwritten (MALLOC_PERTURB_, which meson sets) and stays in the cache of the thread that freed it.
keep_freed=(env MALLOC_PERTURB_=0 GLIBC_TUNABLES=glibc.malloc.tcache_count=65535)
