# Common to the tests of hsadrv-cc: a scratch folder, and the kernels. Sourced, with
# TOOL CLANG KERNELS [FILE…] as the script's arguments; the files are in `files`.
set -u
# shellcheck source=tests/support/expect.bash
. "$(dirname "${BASH_SOURCE[0]}")/../../support/expect.bash"
tool=$(realpath "$1") clang=$2 kernels=$(realpath "$3") files=()
for file in "${@:4}"; do files+=("$(realpath "$file")"); done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"
# The build's clang, except in tests of the selection.
export HSADRV_CLANG=$clang TMPDIR=$scratch/tmp LC_ALL=C.UTF-8
cd "$scratch" || exit 1

# field FILE EXPRESSION: of JSON, as python sees it in j.
field() { python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

begins_with() { [ "$(head -c ${#2} "$1" | tr -d '\0')" = "$2" ]; }
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(find "$scratch" -name '.hsadrv-*')" ]; }

finish() {
    holds 'no temporary file is left' nothing_left
    totals
}
