# What tools/demo and tools/test share: packages, configuring, building. Sourced, not run.
#
# Sets: root (the checkout), builddir. Reads: install (yes or no), the functions' arguments.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
builddir=$root/build
install=yes

# Debian's packages, by what needs them. A name with a question mark is of some releases only: from 6.4 on the HSA runtime has
# its thunk inside, and DLPack came with Debian 12 (with versioned tensors from 13 on). Old clangs are of some releases, too: a test says so where it misses one.
build_packages=(g++ meson ninja-build cmake pkg-config libhsa-runtime-dev libhsakmt-dev? libmsgpack-cxx-dev
    libzstd-dev zlib1g-dev libdlpack-dev? libfmt-dev libcli11-dev nlohmann-json3-dev clang-19 lld-19 llvm-19 clang-tools-19)
# The formatter's versions differ: both releases have 19.
lint_packages=(clang-format-19 shellcheck codespell git)
test_packages=(catch2 rocminfo kmod python3-jsonschema python3-numpy python3-yaml man-db zsh libxml2-utils)
ci_packages=(libclang-rt-19-dev qemu-user clang-14? lld-14? clang-16? lld-16? "${lint_packages[@]}")

# Meson takes ccache where it is installed. By default it would not cache what is compiled with a precompiled header, and would see
# other compilations in other build folders.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros,include_file_mtime,include_file_ctime}
export CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}

say() { printf '%s\n' "$*"; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$1" >&2
    exit 1
}

apt_knows() { apt-cache show "$1" >/dev/null 2>&1; }

# Prints those of its arguments that are not installed. What only some releases have counts once apt's lists are there to tell.
missing_packages() {
    local name
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "${name%\?}" 2>/dev/null)" = installed ] && continue
        case $name in *\?) apt_knows g++ && ! apt_knows "${name%\?}" && continue ;; esac
        printf '%s\n' "${name%\?}"
    done
}

# Installs what is missing of its arguments from the machine's own package sources.
need_packages() {
    command -v dpkg-query >/dev/null || return 0 # not Debian: what is missing, the build will name
    local missing as_root=() log
    # Names have no blanks; and a process substitution would need /proc, which a bare chroot may lack.
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
They are in Debian 12 and newer; is this such a system, with its main archive among apt's sources?"
        fail "apt-get could not install the packages. It said (all of it is in $log):
$(grep -E '^[EW]:' "$log" | head -n 5)"
    fi
    rm -f "$log"
}

# cpu_level: the x86-64 level of this CPU that kfdemu has an executor for (v2, v3 or v4), as the dynamic linker tells it.
cpu_level() {
    local level
    for level in v4 v3; do
        /lib64/ld-linux-x86-64.so.2 --help 2>/dev/null | grep -q "x86-64-$level (supported" && say $level && return
    done
    say v2
}

# need_configure FOLDER MESON-OPTION…: sets the build folder up, or gives one that is there those options.
need_configure() {
    local folder=$1 log=$1/setup.log
    shift
    mkdir -p "$folder"
    if [ ! -f "$folder/build.ninja" ]; then
        say "Configuring $folder"
        meson setup "$folder" "$root" "$@" >"$log" 2>&1 || fail "configuring failed; the end of $log:
$(tail -n 15 "$log")"
    elif [ $# -gt 0 ]; then
        meson configure "$folder" "$@" >"$log" 2>&1 || fail "configuring failed; the end of $log:
$(tail -n 15 "$log")"
    fi
}

# show_progress: of ninja's output on standard input, where a step begins with "87 of 140", a line for each tenth of the steps.
show_progress() {
    local line built total shown=0
    while IFS= read -r line; do
        [[ $line =~ ^([0-9]+)\ of\ ([0-9]+)\  ]] || continue
        built=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
        [ $((built * 10 / total)) -gt $shown ] || continue
        shown=$((built * 10 / total))
        say "  $built of $total"
    done
}

# need_build FOLDER [TARGET…]: compiles them, or all.
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
