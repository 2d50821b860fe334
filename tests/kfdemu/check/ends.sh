#!/bin/bash
# How checked programs end, fork, wait and load libraries: `kfdemu run --check` must not change what they do.
set -u
kfdemu=$1 program=$(realpath "$2") module=${3-}
# shellcheck source=tests/support/expect.bash
. "$(dirname "$0")/../../support/expect.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
check() { timeout 60 "$kfdemu" run --check=wait "$@"; }
# Without any of a pattern in its output.
lacks() { local pattern=$1; shift; ! "$@" 2>&1 | grep -qE -- "$pattern"; }

expect "a plugin's own OnLoad" 0 "^the plugin's OnLoad$" check -- "$program" plugin
expect "a plugin's own OnUnload" 0 "^the plugin's OnUnload$" check -- "$program" plugin
expect 'without checks' 0 "^the plugin's OnLoad$" "$kfdemu" run -- "$program" plugin

# Another thread waits for input, which never comes, and holds the stream's lock.
mkfifo "$scratch/input"
exec 9<>"$scratch/input"
for defect in '' late; do
    status=0
    [ -z "$defect" ] || status=99
    # shellcheck disable=SC2086
    expect "an end during input, ${defect:-nothing found}" $status '^done$' check -- "$program" input $defect <&9
done
expect 'a stop during input' 99 '1 finding$' check --check-stop -- "$program" input late <&9
exec 9<&-

expect 'a kernel in a constructor, without checks' 0 '^done$' \
    timeout 60 "$kfdemu" run --workers 16 -- "$program" constructor
expect 'a kernel in a constructor' 99 '1 finding$' check -- "$program" constructor
expect 'its findings are known there' 99 '^1 findings in the constructor$' check -- "$program" constructor

expect "a child's status" 99 '^done$' check -- "$program" late fork
lacks "a child's status" check -- "$program" late fork
outcome 'is its own' $? ''
check -- "$program" forks >"$scratch/forks" 2>&1
expect 'children while kernels report' 0 '^done$' grep -E '^(done|a child .*)$' "$scratch/forks"
lacks 'a child' cat "$scratch/forks"
outcome 'they neither hang nor fail' $? "$(grep 'a child' "$scratch/forks" | sort | uniq -c)"
count() { local pattern=$1; shift; "$@" 2>&1 | grep -cE -- "$pattern"; }
summaries=$(count 'check: wait in' check -- "$program" late fork)
outcome 'one summary' $((summaries != 1)) "$summaries"

# The report, as a consumer reads it: numbers of processes and of findings.
report=$scratch/report.json
read_report() {
    python3 -c 'import json, sys
all = json.load(open(sys.argv[1]))["processes"]
print(len(all), "processes,", sum(len(p["findings"]) for p in all), "findings")' "${1:-$report}"
}
reported() {
    local name=$1 pattern=$2
    expect "the report of $name" 0 "^$pattern$" read_report
}
begin() { check --check-report "$report" -- "$@" >/dev/null 2>&1; }
begin "$program" late
reported 'a process' '1 processes, 1 findings'
begin bash -c '"$0" late; true' "$program"
reported 'a process in a shell' '1 processes, 1 findings'
begin bash -c '"$0" late & "$0" late & "$0" fine & wait' "$program"
reported 'three processes' '3 processes, 2 findings'
begin "$program" late fork-late
reported 'a process and its child' '2 processes, 2 findings'
begin true
reported 'no process' '0 processes, 0 findings'
for end in abort _exit exec; do
    begin "$program" late $end
    reported "a process that ends by $end" '1 processes, 1 findings'
done
(cd "$scratch" && KFDEMU=on,check=wait,check-report=relative.json "$program" late leave >/dev/null 2>&1)
expect 'a relative path and chdir()' 0 '^1 processes, 1 findings$' read_report "$scratch/relative.json"
for n in 1 2; do KFDEMU="on,check=wait,check-report=$scratch/several.json" "$program" late >/dev/null 2>&1; done
expect 'programs that link the emulator share one' 0 '^2 processes, 2 findings$' read_report "$scratch/several.json"
check --check-report "$scratch/a,b\\c.json" -- "$program" late >/dev/null 2>&1
expect 'a comma in a path' 0 '^1 processes, 1 findings$' read_report "$scratch/a,b\\c.json"
printf 'wait:load_late\n' >"$scratch/a, b"
expect 'a comma in another' 0 'nothing found, 1 suppressed$' check --suppress "$scratch/a, b" -- "$program" late
expect 'a report that cannot be written' 2 '^kfdemu: --check-report=/nowhere/x: cannot be written: No such file or directory$' \
    check --check-report /nowhere/x -- "$program" fine
expect 'nor from KFDEMU' 2 'error: check-report=/nowhere/x: cannot be written: No such file or directory$' \
    env KFDEMU=on,check=wait,check-report=/nowhere/x "$program" fine
echo text >"$scratch/text"
expect 'no file of others is overwritten' 2 'cannot be written: it exists and is no report of kfdemu$' \
    env KFDEMU="on,check=wait,check-report=$scratch/text" "$program" fine
expect 'a report of nothing' 2 "^kfdemu: --check-report=$report: nothing is checked; add check or check=NAME$" \
    "$kfdemu" run --check-report "$report" -- "$program" fine

expect 'quick_exit()' 99 '1 finding$' check -- "$program" late quick_exit
expect 'of a program without errors' 0 'nothing found$' check -- "$program" fine quick_exit
expect 'no kernels' 0 'check: wait in 0 kernels' check -- true
summaries=$(count 'check: wait in' check -- bash -c '"$0" fine; true' "$program")
outcome 'one summary from a shell' $((summaries != 1)) "$summaries"
expect 'checks add up' 0 'check: memory\+wait in' "$kfdemu" run --check=wait --check=memory -- "$program" fine

check --gpus 2 -- "$program" other-gpu >"$scratch/place" 2>&1
place=$(sed -n 's/^expected: //p' "$scratch/place")
expect 'the GPU and the queue' 0 "kernel object 0x[0-9a-f]+, $place$" grep 'kernel object' "$scratch/place"
expect 'findings beyond the limit are counted' 99 '^1 findings$' check --check-limit 0 -- "$program" late count

# A program that configures the emulator itself, and loads the HSA runtime then.
later() {
    env -u KFDEMU LD_PRELOAD="$(dirname "$kfdemu")/libkfdemu.so" timeout 60 python3 -c 'import ctypes, os, sys
os.environ["KFDEMU"] = sys.argv[1]
ctypes.CDLL(sys.argv[2]).run_late()' "$1,check-report=$scratch/later.json" "$module"
}
if [ -n "$module" ]; then # not where a sanitizer's runtime has to come first
    expect 'checks that begin later' 99 'check: wait in .*: 1 finding$' later on,check=wait
    expect 'their report' 0 '^1 processes, 1 findings$' read_report "$scratch/later.json"
    lacks 'has not loaded' later on,check=memory
    outcome 'they know allocations' $? ''
fi
expect 'checks that begin when the runtime runs' 0 'check: memory and leak: the HSA runtime has not loaded libkfdemu-tool.so' \
    "$kfdemu" run -- "$program" fine switch-on fine
lacks 'has not loaded' "$kfdemu" run --check=memory -- "$program" fine
outcome 'and from the start' $? ''

totals
