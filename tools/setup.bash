# Functions shared by tools/demo and tools/test: packages, configuration, build. Sourced, not run.
#
# Sets: root (the checkout), builddir. Reads: install (yes or no), the functions' arguments.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
builddir=$root/build
install=yes

# Debian packages, by use. A name with a question mark exists in some releases only: since 6.4 the HSA runtime contains its
# thunk, DLPack is in Debian 12 and newer (versioned tensors since 13), and each release has other old clangs. Tests report
# clangs that they miss.
build_packages=(g++ meson ninja-build cmake pkg-config libhsa-runtime-dev libhsakmt-dev? libmsgpack-cxx-dev
    libzstd-dev zlib1g-dev libdlpack-dev? libdw-dev libfmt-dev libxbyak-dev libcli11-dev nlohmann-json3-dev clang-19 lld-19 llvm-19 clang-tools-19)
# What tools/demo's last lines and the README run besides.
demo_packages=(rocminfo)
# Versions of the formatter differ in their output: both releases have 19.
lint_packages=(clang-format-19 shellcheck codespell git)
test_packages=(catch2 "${demo_packages[@]}" kmod python3-jsonschema python3-numpy python3-yaml mypy man-db zsh libxml2-utils)
ci_packages=(libclang-rt-19-dev debootstrap qemu-user clang-14? lld-14? clang-16? lld-16? llvm-22? "${lint_packages[@]}")

# What kfdemu emulates: the kernels inside the libraries are compiled for these alone where no GPU is.
kfdemu_models=gfx900,gfx906,gfx908,gfx90a,gfx942,gfx1030,gfx1100,gfx1151

# Kernels that were compiled before, by any build of this checkout: tools/kernel-cache.
export HSADRV_KERNEL_CACHE=${HSADRV_KERNEL_CACHE-$root/.cache/kernels}

# Meson uses ccache if it is installed. By default, ccache caches no compilation with a precompiled header, and shares nothing
# between build folders.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}
export CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}

say() { printf '%s\n' "$*"; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

apt_knows() { apt-cache show "$1" >/dev/null 2>&1; }

# Prints the arguments that are not installed. Packages with a question mark are left out if apt's lists do not have them.
missing_packages() {
    local name
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "${name%\?}" 2>/dev/null)" = installed ] && continue
        case $name in *\?) apt_knows g++ && ! apt_knows "${name%\?}" && continue ;; esac
        printf '%s\n' "${name%\?}"
    done
}

# Installs the missing arguments from the machine's package sources.
need_packages() {
    command -v dpkg-query >/dev/null || return 0 # not Debian: the build reports missing dependencies
    local missing as_root=() log
    # Names contain no blanks, and a process substitution needs /proc, which a bare chroot may lack.
    # shellcheck disable=SC2207
    missing=($(missing_packages "$@"))
    [ ${#missing[@]} -gt 0 ] || return 0
    local by_hand="apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    [ "$install" = yes ] || fail "these packages are missing: ${missing[*]}
Install them as root:  $by_hand"
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "these packages are missing: ${missing[*]}
There is no sudo here. Install them as root:  $by_hand"
        say "Installing ${#missing[@]} packages needs root; sudo may ask for your password."
        as_root=(sudo)
    fi
    say "Installing ${#missing[@]} packages: ${missing[*]}"
    log=$(mktemp)
    # shellcheck disable=SC2207
    if ! "${as_root[@]}" apt-get update -qq >"$log" 2>&1 ||
        ! missing=($(missing_packages "$@")) ||
        ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "${missing[@]}" >"$log" 2>&1; then
        local unknown=() name
        for name in "${missing[@]}"; do
            apt_knows "$name" || unknown+=("$name")
        done
        [ ${#unknown[@]} -eq 0 ] || fail "apt does not know these packages: ${unknown[*]}
They are in Debian 12 and newer. Check that this is such a system and that its main archive is among apt's sources."
        fail "apt-get could not install the packages (full output: $log):
$(grep -E '^[EW]:' "$log" | head -n 5)"
    fi
    rm -f "$log"
}

# cpu_level: prints this CPU's highest x86-64 level that kfdemu has an executor for (v2, v3 or v4), from the dynamic linker.
cpu_level() {
    local level
    for level in v4 v3; do
        /lib64/ld-linux-x86-64.so.2 --help 2>/dev/null | grep -q "x86-64-$level (supported" && say $level && return
    done
    say v2
}

# cpu_name: prints this CPU's name.
cpu_name() { sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1; }

# need_configure FOLDER MESON-OPTION…: sets up the build folder, or sets the options of an existing one.
need_configure() {
    local folder=$1 log=$1/setup.log
    shift
    mkdir -p "$folder"
    if [ ! -f "$folder/build.ninja" ]; then
        say "Configuring $folder"
        meson setup "$folder" "$root" "$@" >"$log" 2>&1 || fail "configuring failed; the end of $log:
$(tail -n 15 "$log")"
    elif [ $# -gt 0 ]; then
        # Meson only notes the options; Ninja runs it again, and then its list of tests is that of these options.
        { meson configure "$folder" "$@" && ninja -C "$folder" build.ninja; } >"$log" 2>&1 ||
            fail "configuring failed; the end of $log:
$(tail -n 15 "$log")"
    fi
}

minutes() { printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); }

# show_progress: reads ninja's output, where each step begins with "87 of 140", and prints one line per tenth of the steps.
show_progress() {
    local line built total shown=0 start=$SECONDS
    while IFS= read -r line; do
        [[ $line =~ ^([0-9]+)\ of\ ([0-9]+)\  ]] || continue
        built=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
        [ $((built * 10 / total)) -gt $shown ] || continue
        shown=$((built * 10 / total))
        say "  $built of $total, $(minutes $((SECONDS - start)))"
    done
}

# show_tests: reads the output of meson test, names each failing test at once, and says now and then how far it is.
show_tests() {
    local line name result took ended total shown=0 start=$SECONDS
    while IFS= read -r line; do
        [[ $line =~ ^\ *([0-9]+)/([0-9]+)\ (.*[^\ ])\ +(OK|EXPECTEDFAIL|SKIP|FAIL|TIMEOUT|ERROR|INTERRUPT|UNEXPECTEDPASS)\ +([0-9.]+)s ]] || continue
        ended=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} name=${BASH_REMATCH[3]} result=${BASH_REMATCH[4]} took=${BASH_REMATCH[5]}
        case $result in OK | EXPECTEDFAIL | SKIP) ;; *) say "  FAILED: ${name#* / } ($result after $took s)" ;; esac
        [ $((ended * 10 / total)) -gt $shown ] || continue
        shown=$((ended * 10 / total))
        say "  $ended of $total tests, $(minutes $((SECONDS - start)))"
    done
}

# need_build FOLDER [TARGET…]: builds the targets, or all.
need_build() {
    local folder=$1 log=$1/compile.log
    shift
    say "Building in $folder"
    if [ -t 1 ]; then
        ninja -C "$folder" "$@" || fail "the build failed, see above"
    else
        NINJA_STATUS='%f of %t ' ninja -C "$folder" "$@" 2>&1 | tee "$log" | show_progress || fail "the build failed; the end of $log:
$(tail -n 40 "$log")"
    fi
}
