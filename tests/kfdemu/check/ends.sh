#!/bin/bash
# How checked programs end, fork, wait and load libraries: `kfdemu run --check` must not change what they do.
set -u
kfdemu=$1 program=$2
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

printf '%d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
