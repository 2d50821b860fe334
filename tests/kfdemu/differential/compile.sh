#!/usr/bin/env bash
# One unit of kernels/ by one clang. Usage: compile.sh CLANG.TARGET.LEVEL SOURCE OUTPUT [DEPFILE]
# A target of two widths has waves of 32 lanes; gfx1030w64 is gfx1030 with 64, gfx1100w64 and gfx1201w64 likewise.
# compile.sh --device-libraries is whether ROCm's are installed, which math.cpp and opencl.cl need. DEVICE_LIBRARIES
# names their folder.
# Code objects of the version that each makes by default: 4 of clang 14 and 16, 5 of clang 19. clang 14 knows kernels in
# OpenCL and HIP alone, so it compiles the source as HIP's language, without HIP.
set -eu
libraries=${DEVICE_LIBRARIES:-/usr/lib/x86_64-linux-gnu/amdgcn/bitcode}
if [ "$1" = --device-libraries ]; then
    [ -e "$libraries/ocml.bc" ]
    exit
fi
IFS=. read -r clang model level <<<"$1"
target=${model%w64}
version=4
[ "$clang" -lt 18 ] || version=5
common="-nogpulib -mcode-object-version=$version -ffp-contract=off -Wall -Wextra"
# clang 16 takes two calls on both sides of a branch for one: see hsadrv-cc's commands.cpp.
[ "$clang" != 16 ] || common+=" -mllvm -simplifycfg-hoist-common=false -mllvm -simplifycfg-sink-common=false"
[ "$target" = "$model" ] || common+=" -mwavefrontsize64"
wide=off
case $model in gfx9* | *w64) wide=on ;; esac
root=$(cd "$(dirname "$0")/../../.." && pwd)
case ${2##*/} in
    convergence_cl.cl)
        language="-x cl -cl-std=CL2.0 -I$root -Wno-unused-parameter --target=amdgcn-amd-amdhsa -mcpu=$target"
        ;;
    convergence.cpp | convergence_halves.cpp)
        language="-x c++ -std=c++20 -ffreestanding -fno-exceptions -fno-rtti -fvisibility=hidden -I$root -Wno-unused-parameter"
        language+=" --target=amdgcn-amd-amdhsa -mcpu=$target -Xclang -fconvergent-functions"
        ;;
    *.cl)
        language="-x cl -cl-std=CL2.0 -Xclang -finclude-default-header -Wno-unused-parameter"
        language+=" --target=amdgcn-amd-amdhsa -mcpu=$target"
        # The library has code for other targets, too, which older ones leave there if they do not optimise.
        [ "$clang.$level" != "$((clang < 18 ? clang : 0)).O0" ] || level=O1
        ;;
    *)
        language="-std=c++17 -ffreestanding -fno-exceptions -fno-rtti -munsafe-fp-atomics"
        if [ "$clang" -lt 16 ]; then
            language+=" -x hip --cuda-device-only --offload-arch=$target -nogpuinc --no-gpu-bundle-output"
        else
            language+=" -x c++ --target=amdgcn-amd-amdhsa -mcpu=$target -fvisibility=hidden -Xclang -fconvergent-functions"
        fi
        ;;
esac
compile="$root/tools/kernel-cache clang-$clang $common $language"

# As HIP links them: IEEE's denormals, infinities and square roots.
case ${2##*/} in
    math.cpp | opencl.cl)
        for library in opencl ocml ockl "oclc_isa_version_${target#gfx}" "oclc_abi_version_${version}00" \
            oclc_daz_opt_off oclc_unsafe_math_off oclc_finite_only_off oclc_correctly_rounded_sqrt_on oclc_wavefrontsize64_$wide; do
            compile+=" -Xclang -mlink-builtin-bitcode -Xclang $libraries/$library.bc"
        done
        ;;
esac

# clang 16's own -O0 reloads registers at the begin of a block before it restores EXEC there, so that the lanes which
# join keep what they had: loops do not end and pointers are wrong, on any device. Its unoptimised code goes through
# the optimising code generator instead, which has no such reloads.
# shellcheck disable=SC2086
if [ "$clang.$level" = 16.O0 ]; then
    trap 'rm -f "$3.bc"' EXIT
    # Optimised, which shared/device/wave.hpp tests.
    $compile -D__OPTIMIZE__=1 -O0 -Xclang -disable-O0-optnone ${4:+-MD -MF "$4" -MT "$3"} -emit-llvm -c "$2" -o "$3.bc"
    "clang-$clang" -x ir --target=amdgcn-amd-amdhsa "-mcpu=$target" $common -O2 -Xclang -disable-llvm-passes "$3.bc" \
        -o "$3"
else
    exec $compile "-$level" ${4:+-MD -MF "$4"} "$2" -o "$3"
fi
