#!/bin/bash
# `kfdemu run --check` from a user's view, on a program with known defects.
set -u
kfdemu=$1 defects=$2 lines=$3
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

expect 'no leak' 0 'check: leak in [0-9]+ kernels, .*: nothing found$' check --check=leak -- "$defects" inside
for end in '' exit; do
    # shellcheck disable=SC2086
    leak() { check --check=leak -- "$defects" $1 $end; }
    expect "memory ${end:-shut down}" 99 '^kfdemu\[[0-9]+\] check leak: 2 allocations of 200 bytes in all are never freed$' leak memory
    expect "memory of another size ${end:-shut down}" 99 'check leak: 1 allocation of 5000 bytes is never freed$' leak memory
    expect "the places of memory ${end:-shut down}" 99 '2 findings$' leak memory
    expect "signals ${end:-shut down}" 99 'check leak: 3 signals are never destroyed$' leak signals
    expect "a signal of the extension ${end:-shut down}" 99 'check leak: 1 signal is never destroyed$' leak signals
    expect "a queue ${end:-shut down}" 99 'check leak: 1 queue is never destroyed$' leak queue
    expect "an executable ${end:-shut down}" 99 'check leak: 1 executable is never destroyed$' leak executable
    expect "a code object reader ${end:-shut down}" 99 'check leak: 1 code object reader is never destroyed$' leak executable
done
expect 'where it was made' 99 '^    made at .*lose_queue\(\), check_defects$' check --check=leak -- "$defects" queue
expect 'from where' 99 '^        from .*main, check_defects$' check --check=leak -- "$defects" queue
expect 'where memory was allocated' 99 '^    allocated at .*allocate\(unsigned long\), check_defects$' check --check=leak -- "$defects" memory
printf 'leak:*lose_queue*\n' >"$scratch/leaks"
expect 'a suppressed leak' 99 '4 findings, 1 suppressed$' check --check=leak --suppress "$scratch/leaks" -- "$defects" queue executable memory
printf 'leak:check_defects\n' >"$scratch/leaks"
expect 'all of a program' 0 'nothing found, 7 suppressed$' \
    check --check=leak --suppress "$scratch/leaks" -- "$defects" queue executable memory signals
expect 'leaks in the report' 0 '"rule": "memory", "what": "2 allocations of 200 bytes in all are never freed", "count": 2, "bytes": 200, "stacks": \[\{"what": "allocated", "frames": \[\{"function": "' \
    bash -c '"$0" run --check=leak --check-report "$2" -- "$1" memory >/dev/null 2>&1; python3 -m json.tool "$2" >/dev/null && cat "$2"' \
    "$kfdemu" "$defects" "$scratch/leaks.json"
expect 'without the check' 0 'nothing found$' check --check=memory -- "$defects" memory signals
expect 'beside a tool that is not there' 99 '1 queue is never destroyed' env HSA_TOOLS_LIB=/nowhere/tool.so "$kfdemu" run --check=leak -- "$defects" queue
expect 'it is named' 99 "Tool lib \"/nowhere/tool.so\" failed to load" env HSA_TOOLS_LIB=/nowhere/tool.so "$kfdemu" run --check=leak -- "$defects" queue
expect 'no file of a tool' 99 'Tool lib .*/good.* failed to load' env HSA_TOOLS_LIB="$scratch/good" "$kfdemu" run --check=memory -- "$defects" outside
expect 'the emulator is not loaded as a tool' 0 'check: memory and leak: the HSA runtime has not loaded libkfdemu-tool.so' \
    check --check=memory,leak -- "$defects" --no-tools outside queue
expect 'other checks go on' 99 '1 finding$' check --check -- "$defects" --no-tools late

expect 'where freed memory was allocated' 99 '^    allocated at .*Program::allocate' check --check=memory -- "$defects" freed
expect 'and where it was freed' 99 '^    freed at .*Program::freed' check --check=memory -- "$defects" freed
expect 'where memory that is left was allocated' 99 '^    allocated at .*hsa_test::Memory::Memory' check --check=memory -- "$defects" outside

expect 'a child that has found nothing' 99 "^the child's status is 0$" check --check=wait,leak -- "$defects" late queue fork
expect 'and says nothing' 0 '^1$' bash -c '"$0" run --check=wait,leak -- "$1" late queue fork 2>&1 | grep -c "check: wait"' "$kfdemu" "$defects"

if [ "$lines" = lines ]; then
    expect 'the line of the host' 99 '^    made at .*/defects.cpp:[0-9]+ in .*lose_queue\(\), check_defects$' check --check=leak -- "$defects" queue
fi

totals
