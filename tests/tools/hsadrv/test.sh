#!/usr/bin/env bash
# hsadrv test: the suite's tests for real, on emulated GPUs and on none; what fails, crashes, hangs and is interrupted.
. "$(dirname "$0")/expect.bash"

# ---- what there is to run
"$hsadrv" test --list >list 2>list.err
outcome 'the tests are listed without a GPU' $? "$(cat list.err)"
expect 'every area has tests' 0 '^10$' bash -c "cut -d' ' -f1 list | sort -u | wc -l"
expect 'all tests are listed, those of the suite itself' 0 '^0$' bash -c \
    'echo $(($("$1" --conformance-list | tail -n +2 | wc -l) - $(wc -l <list)))' - "$build/tests/conformance/hsadrv-conformance"
expect 'listed by area and text' 0 '^code-objects +a stream of another device is refused$' "$hsadrv" test --list --area code-objects --filter 'ANOTHER dev'
expect 'areas with commas and again' 0 '^3$' bash -c '"$0" test --list --area lds,queues --area signals | cut -d" " -f1 | sort -u | wc -l' "$hsadrv"
expect_json listed "$hsadrv" test --list --json --area lds
expect 'nothing of a list has run' 0 "^\('listed', None, True\)$" field listed.json \
    "(j['verdict'], j['device'], all(t['outcome'] == 'not run' for t in j['tests']))"

# ---- for real
expect_json one on_gpu "$hsadrv" test --area signals --json --junit one.xml
expect 'an area passes' 0 "^\('passed', 'gfx90a', 0\)$" field one.json "(j['verdict'], j['device']['name'], j['all']['failed'])"
expect 'every test has run' 0 '^True$' field one.json "len(j['tests']) == j['all']['passed'] + j['all']['skipped'] > 20"
# junit FILE EXPRESSION: of the XML, as python sees its root in x; tests(…) are the test cases.
junit() { "$python" -c 'import sys, xml.etree.ElementTree as e; x = e.parse(sys.argv[1]).getroot(); print(eval(sys.argv[2]))' "$1" "$2"; }
sums="all(int(s.get(k)) == len(s.findall(p)) for s in x for k, p in {'tests': 'testcase', 'failures': 'testcase/failure', 'errors': 'testcase/error', 'skipped': 'testcase/skipped'}.items())"
expect 'JUnit: counts are those of its test cases' 0 '^True$' junit one.xml "$sums"
expect 'JUnit: the tests are those of the JSON' 0 "^True$" "$python" -c "
import json, xml.etree.ElementTree as e
j, x = json.load(open('one.json')), e.parse('one.xml').getroot()
print([(t['area'], t['name']) for t in j['tests']] == [(t.get('classname'), t.get('name')) for t in x.iter('testcase')]
      and int(x.get('tests')) == len(j['tests']) and x.get('failures') == x.get('errors') == '0')"
if command -v xmllint >/dev/null; then
    holds 'JUnit is well-formed' xmllint --noout one.xml
else
    skip 1 'xmllint is not installed'
fi
expect 'as text, with a verdict, on two gfx900' 0 '^passed: no test failed; [0-9]+ passed, [0-9]+ skipped, in ' on --gpus 2 --gpu gfx900 -- "$hsadrv" test --area queues
expect 'two GPUs are tested together' 0 '1 passed, 0 skipped' on_gpus 2 "$hsadrv" test --filter 'a stream of another device is refused'
expect 'one of two alone' 0 '1  there is one GPU' on_gpus 2 "$hsadrv" test --device 1 --filter 'a stream of another device is refused'
expect 'one of two alone is named' 0 '^conformance of gpu1 gfx90a' on_gpus 2 "$hsadrv" test --device 1 --filter 'a GPU reports its identity'
expect 'a GPU without kernels skips tests that need some' 0 'the tests. kernels were not compiled for gfx906' on --gpu gfx906 -- "$hsadrv" test --filter 'a fault inside a graph'
expect 'a GPU without kernels: the others run' 0 '1 passed, 0 skipped' on --gpu gfx906 -- "$hsadrv" test --filter 'a GPU reports its identity'

# ---- under the checks of the emulator
expect 'tests under checks' 0 '^passed: no test failed; [0-9]+ passed, 0 skipped' on_gpu "$hsadrv" test --area signals --check memory,wait,leak
expect 'errors on purpose are none' 0 '1 passed, 0 skipped' on_gpu "$hsadrv" test --check memory,leak --filter 'a store to null is reported'
expect 'what checks would disturb' 0 'the memory check keeps freed memory' on_gpu "$hsadrv" test --check memory --filter 'a store into a freed allocation'
expect 'checks need the emulator' 2 'kfdemu run -- hsadrv test --check wait' env -u LD_PRELOAD "$hsadrv" test --check wait

# ---- without a device, without a suite, with options that cannot be
expect 'no GPU' 3 'run hsadrv doctor to find the cause' on_none "$hsadrv" test --area signals
expect 'not that GPU' 3 'no GPU has that ordinal' on_gpu "$hsadrv" test --device 7
expect 'an unknown area' 2 'discovery' on_gpu "$hsadrv" test --area frobnication
expect 'a text that no test has' 2 '\-\-list prints all names' on_gpu "$hsadrv" test --filter frobnication
expect 'stress without the area' 2 'repeats the area stress' on_gpu "$hsadrv" test --area lds --stress 1
expect 'stress for no time' 2 'stress' on_gpu "$hsadrv" test --stress 0
expect 'a timeout of nothing' 2 'timeout' on_gpu "$hsadrv" test --timeout 0
expect 'a list is no run' 2 'excludes' "$hsadrv" test --list --junit a.xml
expect 'a file that cannot be written, before anything runs' 4 'cannot write /nowhere/a.xml' on_gpu "$hsadrv" test --junit /nowhere/a.xml
expect 'a full disk' 4 'cannot write to standard output: No space left' bash -c '"$0" test --list >/dev/full' "$hsadrv"
expect 'a reader that goes' 141 '^$' bash -c '"$0" test --list | true; exit ${PIPESTATUS[0]}' "$hsadrv"
mkdir alone && cp "$hsadrv" alone/hsadrv
expect 'a suite that is not installed' 4 'meson setup -Dtests=true' env LD_LIBRARY_PATH="$build/hsadrv" alone/hsadrv test --list

# ---- what fails
on --fail ioctl/0x02:2-:ENOMEM -- "$hsadrv" test --area queues --json --junit failing.xml >failing.json 2>failing.err
expect 'queues that cannot be made: exit status 1' 0 '^1$' echo $?
expect 'failures are counted, with their places' 0 '^True$' field failing.json \
    "j['verdict'] == 'failed' and j['all']['failed'] > 5 and all('tests/' in t['message'] for t in j['tests'] if t['outcome'] == 'failed')"
expect 'JUnit has the failures' 0 '^True$' junit failing.xml "$sums and int(x.get('failures')) > 5"
expect 'the first failure ends it, if asked to' 1 '^failed: [1-9] of [0-9]+ tests failed; .*, [1-9][0-9]* not run' \
    on --fail ioctl/0x02:2-:ENOMEM -- "$hsadrv" test --area queues --fail-fast
expect 'a failure is shown with what was wrong' 1 '^ +tests/hsadrv/.*cpp:[0-9]+' on --fail ioctl/0x02:2-:ENOMEM -- "$hsadrv" test --area queues

# ---- crashes and hangs: a slow test, in a program that gets a signal; the next test still runs.
begun() { grep -qs '"begin":"eight threads' "$TMPDIR"/hsadrv-*/journal-1; }
# hit SIGNAL OPTION…: sends it to the suite's program in the middle of that test.
hit() {
    local signal=$1 hsadrv_pid suite_pid
    shift
    "$kfdemu" run -- "$hsadrv" test --filter 'eight threads, 64' --filter 'launches leave memory' --json "$@" >hit.json 2>hit.err &
    hsadrv_pid=$!
    for _ in $(seq 300); do begun && break || sleep 0.1; done
    suite_pid=$(cat /proc/$hsadrv_pid/task/$hsadrv_pid/children)
    # shellcheck disable=SC2086
    kill -"$signal" $suite_pid
    wait $hsadrv_pid
}
export HSADRV_STRESS_SECONDS=60
hit KILL --junit crashed.xml
expect 'a crash: exit status 1' 0 '^1$' echo $?
expect 'a crash is of the test that it was in; the next one runs' 0 '^\[.*crashed.*program ended with SIGKILL in the middle of it.*passed.*None.*\]$' \
    field hit.json "[(t['outcome'], t['message']) for t in j['tests']]"
expect 'JUnit has it as an error' 0 "^\('1', '0', 'crashed'\)$" junit crashed.xml "(x.get('errors'), x.get('failures'), x.find('.//error').get('type'))"
hit STOP --timeout 10
expect 'a hang: exit status 1' 0 '^1$' echo $?
expect 'a hang is of the test that it was in; the next one runs' 0 "^\[\('timed out', 'nothing happened for 10 s in the middle of it: killed'\), \('passed', None\)\]$" \
    field hit.json "[(t['outcome'], t['message']) for t in j['tests']]"
expect 'a hang has its time' 0 '^True$' field hit.json "10 <= j['tests'][0]['time_s'] < 60"
holds 'what hung is gone' bash -c '! pgrep -f "[c]onformance-run $0" >/dev/null' "$TMPDIR"

# ---- interrupted
expect 'Ctrl-C: the report of what ran, and dies of the signal' 130 'interrupted.* by SIGINT: no test failed; [1-9][0-9]* passed, .* not run' \
    on_terminal --interrupt 'eight threads, 64' "$kfdemu" run -- "$hsadrv" test --filter 'a GPU reports its identity' --filter 'eight threads, 64' \
    --filter 'launches leave memory' --junit interrupted.xml
expect 'JUnit says so' 0 "^\('2', 'interrupted', 'not run: interrupted in the middle of it'\)$" junit interrupted.xml \
    "(x.get('skipped'), x.find('.//property[@name=\"verdict\"]').get('value'), x.find('.//skipped').get('message'))"
unset HSADRV_STRESS_SECONDS

# ---- stress
# Tests of a fraction of a second each, because growth is measured from the second round on.
expect_json stress on_gpu "$hsadrv" test --stress 0.15 --filter 'pool is shared by threads' --filter 'waiters for one and for several' --json
expect 'rounds with seeds of their own, and a flat footprint' 0 "'passed', True, True, " field stress.json \
    "(j['verdict'], j['stress']['rounds'] == j['stress']['last_seed'] + 1 >= 4, (j['stress']['after'] or j)['descriptors'] <= (j['stress']['before'] or j)['descriptors'], j)"
expect 'a seed to begin with' 0 'seeds 7 to ' env HSADRV_TEST_SEED=7 "$kfdemu" run -- "$hsadrv" test --stress 0.02 --filter '64 waiters'
finish
