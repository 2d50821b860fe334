# What the tests of hsadrv-cc share: counting, a scratch folder, and the kernels. Sourced, with
# TOOL CLANG KERNELS [FILE…] as the script's arguments; the files are in `files`.
set -u
tool=$(realpath "$1") clang=$2 kernels=$(realpath "$3") files=()
for file in "${@:4}"; do files+=("$(realpath "$file")"); done
passed=0 failed=0 skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tmp"
# The clang that the build takes, except where which one is taken is the test.
export HSADRV_CLANG=$clang TMPDIR=$scratch/tmp LC_ALL=C.UTF-8
cd "$scratch" || exit 1

# outcome NAME GOOD TEXT: counts; the text is shown if GOOD is not 0.
outcome() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: %s\n' "$1" "$3"
    fi
}

# expect NAME STATUS PATTERN COMMAND…: the command's exit status, and a pattern in what it prints.
expect() {
    local name=$1 status=$2 pattern=$3 output got
    shift 3
    output=$("$@" 2>&1)
    got=$?
    if [ $got = "$status" ] && grep -qE -- "$pattern" <<<"$output"; then
        passed=$((passed + 1))
    else
        outcome "$name" 1 "exit status $got (wanted $status), or no \"$pattern\" in:
$output"
    fi
}

# holds NAME COMMAND…: the command succeeds.
holds() {
    local name=$1 output
    shift
    output=$("$@" 2>&1)
    outcome "$name" $? "$* failed: $output"
}

# field FILE EXPRESSION: of JSON, as python sees it in j.
field() { python3 -c 'import json, sys; j = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

begins_with() { [ "$(head -c ${#2} "$1" | tr -d '\0')" = "$2" ]; }
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ] && [ -z "$(find "$scratch" -name '.hsadrv-cc-*')" ]; }

finish() {
    holds 'no temporary file is left' nothing_left
    printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    [ $failed = 0 ]
    exit
}
