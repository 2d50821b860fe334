# Common to the tests of hsadrv: a scratch folder, the command on emulated GPUs, and its JSON checked by its schema. Sourced, with
# BUILD-ROOT SOURCE-ROOT PYTHON [FILE…] as the script's arguments; the files are in `files`.
#
#     expect 'names the GPU' 0 'gfx90a' on_gpu "$hsadrv" info
#     expect_json info on_gpus 2 "$hsadrv" info --json          # keeps it in info.json
#     expect 'as JSON' 0 '^gfx90a$' field info.json 'j["agents"][1]["name"]'
set -u
# shellcheck source=tests/support/expect.bash
. "$(dirname "${BASH_SOURCE[0]}")/../../support/expect.bash"
build=$(realpath "$1") source_root=$(realpath "$2") python=$3 files=()
for file in "${@:4}"; do files+=("$(realpath "$file")"); done
hsadrv=$build/tools/hsadrv/hsadrv kfdemu=$build/tools/kfdemu/kfdemu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"
export TMPDIR=$scratch/tmp LC_ALL=C.UTF-8
unset NO_COLOR COLUMNS ROCR_VISIBLE_DEVICES KFDEMU LD_LIBRARY_PATH
cd "$scratch" || exit 1

# COMMAND… on one emulated gfx90a, on N of them, on none, and with kfdemu's OPTION… (up to --).
on_gpu() { "$kfdemu" run -- "$@"; }
on_gpus() { "$kfdemu" run --gpus "$1" -- "${@:2}"; }
on_none() { env KFDEMU=off "$@"; }
on() { "$kfdemu" run "$@"; }

# True if AddressSanitizer is built in: it cannot be preloaded into other programs, and valgrind does not run it.
sanitized() { grep -q __asan_init "$hsadrv"; }
# skip N REASON
skip() {
    skipped=$((skipped + $1))
    printf 'skipped: %s\n' "$2"
}

# field FILE EXPRESSION: of JSON, as python sees it in j.
field() { "$python" -c 'import json, sys; j = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

# expect_json NAME COMMAND…: succeeds or finds something (exit status 1), prints only JSON, valid by docs/schema.
# It is kept in NAME.json.
expect_json() {
    local name=$1 status
    shift
    "$@" >"$name.json" 2>"$name.err"
    status=$?
    if [ $status -gt 1 ]; then
        outcome "$name as JSON" 1 "exit status $status: $(cat "$name.err")"
        return
    fi
    holds "$name's JSON is as its schema says" "$python" "$source_root/tests/tools/hsadrv/schema.py" "$source_root/docs/schema" "$name.json"
}

# on_terminal COMMAND…: what it prints with a terminal of 100 columns as standard output and error.
on_terminal() { TERM=xterm "$python" "$source_root/tests/tools/hsadrv/terminal.py" "$@"; }

finish() {
    holds 'no temporary file is left' [ -z "$(ls -A "$TMPDIR")" ]
    totals
}
