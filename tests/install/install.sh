#!/usr/bin/env bash
# Installs into a scratch folder, then builds and runs a program with the installed files only.
# Usage: install.sh BUILD PROGRAM.cpp FOLDER-WITH-ITS-KERNELS PREFIX LIBDIR INCLUDEDIR SNIPPETS.py PAGE.md KERNEL-CLANG COMPILER…
# pkg-config prints several words.
# shellcheck disable=SC2046
set -euo pipefail
build=$1 program=$2 kernels=$3 prefix=$4 libdir=$5 headers=$6 snippets=$7 page=$8 kernel_clang=$9
shift 9
# By path, because another c++ precedes it in PATH below: the compiler, or ccache and its compiler.
words=()
for word in "$@"; do
    case $word in
    -*) words+=("$word") ;;
    *) words+=("$(command -v "$word")") ;;
    esac
done
set -- "${words[@]}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
DESTDIR=$scratch meson install -C "$build" --no-rebuild >"$scratch/log" || { cat "$scratch/log"; exit 1; }
root=$scratch$prefix
export PKG_CONFIG_PATH=$root/$libdir/pkgconfig PKG_CONFIG_SYSROOT_DIR=$scratch LD_LIBRARY_PATH=$root/$libdir

echo 'the installed headers need no others:'
(cd "$root/include/$headers" && printf '#include <%s>\n' {hsadrv,devicearray,shared}/*.hpp) |
    "$@" -std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror -fsyntax-only -x c++ - $(pkg-config --cflags devicearray-0)

echo 'C headers stand alone:'
for header in "$root/include/$headers"/hsadrv/*.h "$root/include/$headers"/hsadrv/c/*.h; do
    name=${header#"$root/include/$headers/"}
    for language in '-x c -std=c99' '-x c++ -std=c++11'; do
        # shellcheck disable=SC2086 # several words
        echo "#include <$name>" | "$@" $language -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Werror -fsyntax-only - \
            -I "$root/include/$headers"
    done
    echo "  $name"
done

echo 'a program against the installed tree:'
# Compiled once by pkg-config's flags and once by CMake's, and linked in each way.
"$@" -std=c++20 -Wall -Wextra -Werror -c "$program" -o "$scratch/program.o" $(pkg-config --cflags devicearray-0)
"$@" "$scratch/program.o" -o "$scratch/program" $(pkg-config --libs devicearray-0)
"$@" "$scratch/program.o" -o "$scratch/with_device" $(pkg-config --libs devicearray-0 kfdemu)
cd "$kernels"
echo '  under the installed kfdemu run'
"$root/bin/kfdemu" run -- "$scratch/program"
echo '  under its checks'
"$root/bin/kfdemu" run --check=leak --check-limit 0 -- "$scratch/program" >"$scratch/log" 2>&1 || [ $? = 99 ]
grep -E 'check: leak in [0-9]+ kernels' "$scratch/log" && ! grep 'libkfdemu-tool' "$scratch/log" || { cat "$scratch/log"; exit 1; }
echo '  the same in C99'
"$@" -x c -std=c99 -Wall -Wextra -Wpedantic -Werror "${program%.cpp}_c.c" -o "$scratch/c_program" $(pkg-config --cflags --libs hsadrv-0)
"$root/bin/kfdemu" run -- "$scratch/c_program"
echo '  with the device linked in'
KFDEMU=on "$scratch/with_device"

echo '  by CMake'
mkdir -p "$scratch/cmake"
cat >"$scratch/cmake/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(program CXX)
find_package(hsadrv 0.1 CONFIG REQUIRED)
add_executable(program ${PROGRAM})
set_target_properties(program PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(program hsadrv::devicearray)
add_executable(raw raw.cpp)
target_link_libraries(raw hsadrv::hsadrv)
CMAKE
# A program that calls the HSA runtime itself, through the targets and through pkg-config.
cat >"$scratch/cmake/raw.cpp" <<'RAW'
#include <hsa/hsa.h>
#include <hsadrv/driver.hpp>
#include <cstdint>
int main() {
    hsadrv::Driver driver;
    std::uint16_t version = 0;
    return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &version) == HSA_STATUS_SUCCESS && version == driver.system().version_major ? 0 : 1;
}
RAW
CXX="$*" cmake -G Ninja -S "$scratch/cmake" -B "$scratch/cmake/build" -DCMAKE_PREFIX_PATH="$root" -DPROGRAM="$program" >"$scratch/log" 2>&1 &&
    cmake --build "$scratch/cmake/build" >>"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
"$root/bin/kfdemu" run -- "$scratch/cmake/build/program"
"$root/bin/kfdemu" run -- "$scratch/cmake/build/raw"
"$@" -std=c++20 "$scratch/cmake/raw.cpp" -o "$scratch/raw" $(pkg-config --cflags --libs hsadrv-0)
"$root/bin/kfdemu" run -- "$scratch/raw"

if [ -e "$root/$libdir/libhsadrv.a" ]; then # meson setup -Ddefault_library=both, as CI has it
    echo '  with static libraries, by CMake and by pkg-config'
    CXX="$*" cmake -G Ninja -S "$scratch/cmake" -B "$scratch/cmake/static" -DCMAKE_PREFIX_PATH="$root" -DPROGRAM="$scratch/program.o" -Dhsadrv_USE_STATIC_LIBS=ON \
        >"$scratch/log" 2>&1 && cmake --build "$scratch/cmake/static" >>"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
    libraries=$(pkg-config --static --libs devicearray-0 | sed "s|$scratch/usr/lib|/usr/lib|g; s/-ldevicearray/-l:libdevicearray.a/; s/-lhsadrv/-l:libhsadrv.a/")
    # shellcheck disable=SC2086 # several words
    "$@" "$scratch/program.o" -o "$scratch/static" $libraries
    for static in "$scratch/cmake/static/program" "$scratch/static"; do
        if ldd "$static" | grep -E 'libhsadrv|libdevicearray'; then exit 1; fi
        "$root/bin/kfdemu" run -- "$static"
    done
fi

echo "the first program of the guide, by its page's commands:"
mkdir "$scratch/guide" "$scratch/guide/bin"
printf '#!/bin/bash\nexec %s "$@"\n' "${*@Q}" >"$scratch/guide/bin/c++"
chmod +x "$scratch/guide/bin/c++"
cd "$scratch/guide"
"$snippets" program "$page" program.cpp
# Only the program runs on the device: a sanitizer's runtime cannot be loaded into the shell.
"$snippets" shell "$page" | sed "s|^\./|'$root/bin/kfdemu' run -- ./|" >commands
grep -q '^c++ ' commands
grep -q ' run -- ' commands
PATH=$scratch/guide/bin:$PATH bash -e ./commands

echo 'a C program finds the control interface, and does without where there is none:'
cat >"$scratch/control.c" <<'C'
#include <kfdemu.h>
#include <stdio.h>
int main(void) {
    const struct kfdemu_control* emulator = kfdemu_find_control();
    printf("  %s\n", emulator ? "a device that can be made to fail" : "no such device");
    return emulator ? 0 : 3;
}
C
"$@" -x c -std=c11 -Wall -Wextra -Wpedantic -Werror "$scratch/control.c" -o "$scratch/control" -I "$root/include" -ldl
"$root/bin/kfdemu" run -- "$scratch/control"
[ "$("$scratch/control" || echo $?)" = "  no such device
3" ]
test -f "$root/share/man/man1/kfdemu.1" || test -f "$root/share/man/man1/kfdemu.1.gz"

echo 'the conformance suite, as installed, with its kernels beside it:'
env -u LD_LIBRARY_PATH "$root/bin/kfdemu" run -- "$root/bin/hsadrv" test --area discovery,lds
test -f "$root/share/man/man1/hsadrv-test.1" || test -f "$root/share/man/man1/hsadrv-test.1.gz"

echo "hsadrv-cc, with the installed headers, and the guide's projects with both:"
test -f "$root/share/man/man1/hsadrv-cc.1" || test -f "$root/share/man/man1/hsadrv-cc.1.gz"
cd "$scratch"
export HSADRV_CLANG=$kernel_clang
echo '#include <shared/device/device.hpp>' >empty.cpp
env -u LD_LIBRARY_PATH "$root/bin/hsadrv-cc" -v -t gfx90a empty.cpp -o empty.hsaco 2>commands
grep -q -- "-isystem $root/include/$headers " commands
mkdir -p "$scratch/usr/include" # of the HSA runtime, to pkg-config in this sysroot; CMake checks that the folder exists
CXX="$*" PATH=$root/bin:$PATH "$(dirname "$snippets")/commands.py" "$(dirname "$page")/compile.md"
CXX="$*" PATH=$root/bin:$PATH "$(dirname "$snippets")/commands.py" "$(dirname "$page")/c.md"
