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
test_packages=(catch2 rocminfo kmod python3-jsonschema python3-yaml man-db zsh libxml2-utils)
ci_packages=(libclang-rt-19-dev clang-14? clang-16?)

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

# need_build FOLDER MESON-OPTION…: configures if that was not done yet or options are given, and compiles.
need_build() {
    local folder=$1 log
    shift
    mkdir -p "$folder"
    log=$folder/setup.log
    if [ ! -f "$folder/build.ninja" ]; then
        say "Configuring $folder"
        meson setup "$folder" "$root" "$@" >"$log" 2>&1 || fail "configuring failed; the end of $log:
$(tail -n 15 "$log")"
    elif [ $# -gt 0 ]; then
        meson configure "$folder" "$@" >"$log" 2>&1 || fail "configuring failed; the end of $log:
$(tail -n 15 "$log")"
    fi
    say "Building in $folder"
    log=$folder/compile.log
    if [ -t 1 ]; then
        ninja -C "$folder" || fail "the build failed, see above"
    else
        ninja -C "$folder" >"$log" 2>&1 || fail "the build failed; the end of $log:
$(tail -n 40 "$log")"
    fi
}
