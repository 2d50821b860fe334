#!/bin/bash
# `kfdemu run --check` from a user's view, on a program with known defects.
set -u
kfdemu=$1 defects=$2
# shellcheck source=tests/support/expect.bash
. "$(dirname "$0")/../../support/expect.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check() { "$kfdemu" run "$@"; }
# Without any of a pattern in its output.
lacks() { local pattern=$1; shift; ! "$@" 2>&1 | grep -qE -- "$pattern"; }

expect 'a defect' 99 '1 finding$' check --check=wait -- "$defects" late
printf '# known\nwait:load_late\nwait:late  # without lines\n' >"$scratch/good"
expect 'a suppressed one' 0 'nothing found, 1 suppressed$' check --check=wait --suppress "$scratch/good" -- "$defects" late
lacks 'is missing' check --check=wait --suppress "$scratch/good" -- "$defects" late
outcome 'it is not printed' $? ''
expect 'another one is not suppressed' 99 '1 finding, 1 suppressed$' \
    check --check=wait,memory --suppress "$scratch/good" -- "$defects" late outside
printf 'wait:load_late\nwait=late\nspeed:*\nwait:late' >"$scratch/bad"
expect 'a wrong line' 0 "^kfdemu\[[0-9]+\] warning: $scratch/bad:2: 'wait=late': expected CHECK:PATTERN, such as wait:copy_\*; the line is ignored" \
    check --check=wait --suppress "$scratch/bad" -- "$defects" late
expect 'a wrong check in a line' 0 "warning: $scratch/bad:3: 'speed' is not a check; .*; the line is ignored" \
    check --check=wait --suppress "$scratch/bad" -- "$defects" late
expect 'and the program runs' 0 '^done$' check --check=wait --suppress "$scratch/bad" -- "$defects" late
expect 'no such file' 2 'nowhere' check --check=wait --suppress "$scratch/nowhere" -- "$defects" late
expect 'no such file in KFDEMU' 99 'warning: suppress=/nowhere: cannot be read: nothing is suppressed by it' \
    env KFDEMU=on,check=wait,suppress=/nowhere "$defects" late
expect 'a suppression in KFDEMU' 0 'nothing found, 1 suppressed$' \
    env KFDEMU="on,check=wait,suppress=$scratch/good" "$defects" late
expect 'the number in the report' 0 '"distinct": 0, "suppressed": 1,' bash -c \
    '"$0" run --check=wait --suppress "$2" --check-report "$3" -- "$1" late 2>&1 >/dev/null && python3 -m json.tool "$3" >/dev/null && cat "$3"' \
    "$kfdemu" "$defects" "$scratch/good" "$scratch/report.json"

expect 'a stop at the first finding' 99 '1 finding$' check --check=memory,wait --check-stop -- "$defects" late outside
lacks '^(done|outside)$' check --check=memory,wait --check-stop -- "$defects" late outside
outcome 'it ends the program' $? ''
expect 'what it wrote is kept' 99 '^late$' check --check=wait --check-stop -- "$defects" late
expect 'no stop without a finding' 0 '^done$' check --check=memory,wait --check-stop -- "$defects" inside
expect 'a limit' 99 'more than 1 findings: further ones are counted only' \
    check --check=memory,wait --check-limit 1 -- "$defects" late outside
expect 'the rest in the summary' 99 '^    1 more are not listed$' \
    check --check=memory,wait --check-limit 1 -- "$defects" late outside

printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
