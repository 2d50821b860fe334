#!/usr/bin/env bash
# Every unit of kernels/ by every installed clang, for every target at every level, against its host twin.
# Usage: matrix.sh DIFFERENTIAL-TEST [Catch2's arguments…]
#   CLANGS="14 16 19 22" TARGETS="gfx900 …" LEVELS="O0 …" SEEDS="1 …" choose less, or other inputs. JOBS is how many
#   compilers run at once. OUT keeps the code objects there. IN_TURN=1: one target and level of each clang,
#   another for each $HSADRV_TEST_TURN.
set -euo pipefail
test=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
read -ra clangs <<<"${CLANGS:-14 16 19 22}"
read -ra targets <<<"${TARGETS:-gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1030w64 gfx1100 gfx1100w64 gfx1201 gfx1201w64}"
read -ra levels <<<"${LEVELS:-O0 O1 O2 O3}"
if [ -n "${OUT:-}" ]; then
    mkdir -p "$OUT"
    out=$(cd "$OUT" && pwd)
else
    out=$(mktemp -d)
    trap 'rm -rf "$out"' EXIT
fi

# knows CLANG TARGET. The newest clang, whose code is like that of the one before, has the target that it alone knows.
knows() {
    case $2 in
        gfx942) [ "$1" = 19 ] ;;
        gfx11* | gfx12*) [ "$1" = 19 ] || [ "$1" = 22 ] ;;
        gfx950) [ "$1" = 22 ] ;;
        *) [ "$1" != 22 ] ;;
    esac
}

builds=()
narrowed=
skipped=0
libraries=yes
if ! "$here/compile.sh" --device-libraries; then
    libraries=no
    echo "skipped: ROCm's device libraries are not installed"
    skipped=$((skipped + 1))
fi
for clang in "${clangs[@]}"; do
    if ! command -v "clang-$clang" >/dev/null; then
        echo "skipped: clang-$clang is not installed"
        skipped=$((skipped + 1))
        continue
    fi
    of_clang=()
    for target in "${targets[@]}"; do
        knows "$clang" "$target" || continue
        for level in "${levels[@]}"; do of_clang+=("$clang.$target.$level"); done
    done
    [ ${#of_clang[@]} != 0 ] || continue
    if [ -n "${IN_TURN:-}" ]; then of_clang=("${of_clang[(${HSADRV_TEST_TURN:-0} + clang) % ${#of_clang[@]}]}"); fi
    builds+=("${of_clang[@]}")
done
if [ ${#builds[@]} = 0 ]; then
    echo "0 passed, 0 failed, $skipped skipped"
    exit 77
fi

# Units without special code for the targets between the first and the last.
declare -A narrow=([matrices]="gfx906,gfx908,gfx90a,gfx942,gfx950" [assembly]="gfx900,gfx90a,gfx942,gfx950")
for unit in launches memory math opencl convergence_halves; do narrow[$unit]="gfx900,gfx90a,gfx942,gfx950,gfx1030,gfx1030w64,gfx1100,gfx1100w64,gfx1201,gfx1201w64"; done
if [ $libraries = no ]; then narrow[math]='' narrow[opencl]=''; fi
for unit in "${!narrow[@]}"; do narrowed+=" $unit=${narrow[$unit]}"; done

start=$SECONDS
compiled=yes
for build in "${builds[@]}"; do
    IFS=. read -r clang target _ <<<"$build"
    for source in "$here"/kernels/*.c{pp,l}; do
        unit=${source##*/}
        unit=${unit%.*}
        if [ -v "narrow[$unit]" ] && [[ ${narrow[$unit]} != *$target* ]]; then continue; fi
        # opencl.cpp has the twins of opencl.cl. clang 14 cannot read the libraries, which clang 15 made, and our headers are for clang 16.
        case $unit.${source##*.}.$clang in
            opencl.cpp.* | convergence_cl.cpp.* | opencl.*.14 | math.*.14 | convergence*.14) continue ;;
        esac
        printf '%s\0%s\0%s\0' "$build" "$source" "$out/$unit.clang-$build.hsaco"
    done
done | xargs -0 -n 3 -P "${JOBS:-$(nproc)}" "$here/compile.sh" || compiled=no
echo "$(find "$out" -name '*.hsaco' | wc -l) code objects in $((SECONDS - start)) s"
if [ $compiled = no ]; then
    echo "FAILED: not all code objects could be compiled"
    echo "0 passed, 1 failed, $skipped skipped"
    exit 1
fi

start=$SECONDS
status=0
export KFDEMU_DIFFERENTIAL="$out: ${builds[*]}$narrowed" KFDEMU_DIFFERENTIAL_SEEDS="${SEEDS:-1}"
"$test" "$@" | tee "$out/report" || status=$?
echo "${#builds[@]} builds of each kernel ran in $((SECONDS - start)) s"
# The last line has the totals.
read -r passed _ failed _ lacking _ < <(tail -n 1 "$out/report")
echo "$passed passed, $failed failed, $((skipped + lacking)) skipped"
exit $status
