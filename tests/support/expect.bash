# For shell tests: counts results, and checks the exit status and output of commands. Sourced.
passed=0 failed=0 skipped=0

# outcome NAME GOOD TEXT: counts; the text is shown if GOOD is not 0.
outcome() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s: %s\n' "$1" "$3"
    fi
}

# expect NAME STATUS PATTERN COMMAND…: the command's exit status, and a pattern in its output.
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

# totals: prints them as the last line, and exits.
totals() {
    printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    [ $failed = 0 ]
    exit
}
