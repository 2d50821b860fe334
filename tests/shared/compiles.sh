#!/usr/bin/env bash
# The headers of shared/ with every installed compiler: on the host, and for GPUs, most of which cannot be run here. One in five
# compilations: others in other turns (HSADRV_TEST_TURN); HSADRV_LONG_TESTS=1: all.
# Usage: compiles.sh SHARED'S-PARENT-FOLDER KERNELS-FOLDER
set -u
include=$1 kernels=$2
# Older clangs have gfx940 instead of gfx942, with the same instructions.
targets=(gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100)
declare -A instead=([gfx942]=gfx940)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# try NAME COMMAND…: writes its outcome as a line of $scratch/results.
try() {
    local name=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo passed >>"$scratch/results"
    else
        echo failed >>"$scratch/results"
        printf 'FAILED: %s\n%s\n' "$name" "$output"
    fi
}
export -f try
export scratch

skip() {
    echo skipped >>"$scratch/results"
    printf 'skipped: %s\n' "$1"
}

jobs_of() { # prints one line of words for each compilation
    local compiler version target known source
    for compiler in g++ g++-12 clang++-14 clang++-16 clang++-19; do
        command -v "$compiler" >/dev/null || continue
        printf '%s\0' "$compiler, the host" "$compiler -std=c++20 -Wall -Wextra -Wpedantic -Werror -I$include -I$kernels -fsyntax-only \
-x c++ $scratch/host.cpp"
    done
    for version in 16 19; do
        command -v clang-$version >/dev/null || continue
        known=$(clang-$version --target=amdgcn-amd-amdhsa -print-supported-cpus 2>&1)
        for target in "${targets[@]}"; do
            grep -qw "$target" <<<"$known" || target=${instead[$target]:-$target}
            for source in "$kernels"/*.cl "$kernels"/*.cpp; do
                case $source in
                */occupancy.cl) continue ;; # it needs registers that not all targets have
                *.cl) language='-x cl -cl-std=CL2.0' ;;
                *) language='-x c++ -std=c++20 -ffreestanding -fno-exceptions -fno-rtti -Xclang -fconvergent-functions' ;;
                esac
                printf '%s\0' "clang-$version, $target, ${source##*/}" "clang-$version $language -Wall -Wextra -Werror -I$include \
--target=amdgcn-amd-amdhsa -mcpu=$target -nogpulib -O2 -S $source -o /dev/null"
            done
        done
    done
}

cat >"$scratch/host.cpp" <<'E2'
#include <shared/group_size.hpp>
#include <shared/lds_layout.hpp>
#include <shared/occupancy.hpp>
#include "random_layouts.hpp"
constexpr auto facts = [] {
    LayoutFacts result{};
    layouts::describe({2, 10, 20, 30, 1}, result);
    return result;
}();
static_assert(facts.offsets_bytes[1] == 10 * 21 * sizeof(float) && facts.row_pitches[1] == 31);
static_assert(hsadrv::shared::occupancy(hsadrv::shared::compute_unit("gfx900"), {.vgprs = 64}).waves_per_simd == 4);
E2

for version in 16 19; do
    command -v clang-$version >/dev/null || skip "clang-$version is not installed"
done
for version in 14 16 19; do
    command -v clang++-$version >/dev/null || skip "clang++-$version is not installed"
done
touch "$scratch/results"
# Appends of one short line are atomic.
of_turn() {
    local name command number=0
    while IFS= read -r -d '' name && IFS= read -r -d '' command; do
        if [ -n "${HSADRV_LONG_TESTS:-}" ] || [ $(((number++ + ${HSADRV_TEST_TURN:-0}) % 5)) = 0 ]; then printf '%s\0' "$name" "$command"; fi
    done
}
jobs_of | of_turn | xargs -0 -n 2 -P "$(nproc)" bash -c 'try "$0" $1'

count() { grep -c "^$1$" "$scratch/results"; }
printf '%d passed, %d failed, %d skipped\n' "$(count passed)" "$(count failed)" "$(count skipped)"
[ "$(count failed)" = 0 ] && [ "$(count passed)" != 0 ]
