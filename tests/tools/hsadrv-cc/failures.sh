#!/usr/bin/env bash
# Failures of hsadrv-cc: messages, exit status, and remaining files. Usage: failures.sh TOOL CLANG KERNELS
. "$(dirname "$0")/expect.bash"
first=$kernels/first.cpp second=$kernels/second.cpp third=$kernels/third.cl
cp "$second" mine.cpp
cp "$kernels/factor.hpp" .

# Wrong options: 2, and no command runs.
refused() {
    local name=$1 pattern=$2
    shift 2
    expect "$name" 2 "^hsadrv-cc: .*$pattern" "$tool" "$@"
}
refused 'an unknown option' '--frobnicate' --frobnicate
refused 'no source' 'no source' -t gfx90a -o a.hsaco
refused 'no output' 'no -o' -t gfx90a "$second"
refused 'standard output for two things' '-o - and --json do not go together' -t gfx90a "$second" -o - --json
refused 'a rule for standard output' '-o - and --depfile do not go together' -t gfx90a "$second" -o /dev/stdout --depfile a.d
refused 'a rule of standard input' 'the source - and --depfile do not go together' -t gfx90a - -o a.hsaco --depfile a.d
refused 'standard input twice' 'standard input can be read once' -t gfx90a - - -o a.hsaco
refused 'a generic target of an old version' 'gfx9-generic: generic targets need --code-object-version 6' -t gfx9-generic mine.cpp -o a.hsaco
refused 'another language' 'k.cu: its name ends neither' -t gfx90a k.cu -o a.hsaco
refused 'an unknown language' '-x rust: the languages are c\+\+, cl' -x rust -t gfx90a mine.cpp -o a.hsaco
refused 'macros for LLVM IR' '-D N: LLVM IR has no preprocessor' -x ir -DN -t gfx90a mine.cpp -o a.hsaco
refused 'macros for assembly' 'use -- -Wa,-defsym,NAME=VALUE' -x asm -DN -t gfx90a mine.cpp -o a.hsaco
refused 'assembly and another source' 'assembly cannot be optimised together' -t gfx90a a.s mine.cpp -o a.hsaco
refused 'assembly of assembly' '-S and the assembly a.s' -t gfx90a -S a.s -o b.s
refused 'an output that is a source' 'mine.cpp is also a source' -t gfx90a mine.cpp -o ./mine.cpp
refused 'a depfile that is a source' '--depfile mine.cpp is also a source' -t gfx90a mine.cpp -o a.hsaco --depfile mine.cpp
refused 'a depfile that is the output' 'are both a.hsaco' -t gfx90a mine.cpp -o a.hsaco --depfile a.hsaco
refused '--json and --quiet' '--json and --quiet do not go together' -t gfx90a mine.cpp -o a.hsaco --json -q
refused '-S and --compress' '-S and --compress do not go together' -t gfx90a mine.cpp -o a.s -S --compress
refused '-S and --json' '-S and --json do not go together' -t gfx90a mine.cpp -o a.s -S --json
refused '-S and several sources' '-S and several sources do not' -t gfx90a mine.cpp "$third" -o a.s -S
refused '-S and several targets' '-S and 2 targets do not go together' -t gfx90a,gfx900 mine.cpp -o a.s -S
refused 'a code object version' 'not in range' -t gfx90a mine.cpp -o a.hsaco --code-object-version 3
refused 'an empty work-group' 'not in range' -t gfx90a mine.cpp -o a.hsaco --workgroup 0
refused 'an invalid target' "'x86' is not a processor name" -t x86 mine.cpp -o a.hsaco
refused 'an unknown feature' "unknown feature 'magic'" -t gfx90a:magic+ mine.cpp -o a.hsaco
refused 'an unknown target, with those that clang knows' 'does not know gfx90f; it knows .*gfx90a' -t gfx90f mine.cpp -o a.hsaco
refused 'targets of which a GPU may run both' 'conflict: .*specify xnack in both' -t gfx90a,gfx90a:xnack+ mine.cpp -o a.hsaco
refused 'and the other feature' 'specify sramecc in both' -t gfx90a:sramecc-,gfx90a mine.cpp -o a.hsaco
for word in -o -c -S -E -emit-llvm -MD -MF -xcl -mcpu=gfx900 --target=x86_64 -mcode-object-version=4 -flto -fsyntax-only \
    @words --compile --output=b.hsaco --output --assemble --preprocess -march=gfx900 --language=cl --config=words -target-cpu -triple \
    --cuda-gpu-arch=gfx900 --write-dependencies --analyze -emit-obj '-###'; do
    refused "$word after --" "${word//\#/.} is not allowed after --: use " -t gfx90a mine.cpp -o a.hsaco -- $word
done
refused 'a source after --' 'name sources before it' -t gfx90a mine.cpp -o a.hsaco -- "$third"
if [ ! -e /dev/kfd ]; then
    refused 'no target and no GPU' 'no --target, and this machine has no AMD GPU' mine.cpp -o a.hsaco
else
    skipped=1
fi
holds 'no file was written' test ! -e a.hsaco -a ! -e a.s

# clang's errors are printed verbatim.
echo '#include <shared/device/device.hpp>
HSADRV_KERNEL void broken(int* p) { *p = undeclared; }' >broken.cpp
expect 'an error in a source' 1 'broken.cpp:2:[0-9]+: error: use of undeclared' "$tool" -t gfx90a broken.cpp -o a.hsaco
"$tool" -t gfx90a broken.cpp -o a.hsaco 2>said
"$tool" -v -t gfx90a broken.cpp -o a.hsaco 2>&1 | head -n 1 | bash 2>said-by-clang
holds 'is printed as clang prints it' cmp said said-by-clang
# script gives it a terminal.
expect 'in colour on a terminal' 0 $'\e\\[[0-9;]*merror: ' env TERM=xterm script -qc "'$tool' -t gfx90a broken.cpp -o a.hsaco" /dev/null
expect 'and not on a plain one' 1 '^0$' bash -c 'TERM=dumb script -qc "$0 -t gfx90a broken.cpp -o a.hsaco" /dev/null | grep -c "$(printf "\033")"' "$tool"
expect 'a missing source' 1 "no such file or directory: 'nowhere.cl'" "$tool" -t gfx90a nowhere.cl -o a.hsaco
expect 'an undefined function' 1 'undefined.*scaled' "$tool" -t gfx90a "$first" -o a.hsaco
expect 'nor in another source' 1 'undefined.*scaled' "$tool" -t gfx90a "$first" "$third" -o a.hsaco
expect 'a kernel twice' 1 'duplicate|multiple|redefin' "$tool" -t gfx90a "$second" mine.cpp -o a.hsaco
expect 'a setting that the processor lacks' 1 'invalid target ID' "$tool" -t gfx900:sramecc+ mine.cpp -o a.hsaco
expect 'an error only for the second target' 1 'only gfx90a' bash -c '
    printf "#ifndef __gfx90a__\n#error only gfx90a\n#endif\n" >only.cpp
    "$0" -t gfx90a,gfx900 only.cpp -o a.hsaco' "$tool"
holds 'none of these wrote an output' test ! -e a.hsaco

# Functions that are not linked: the remedy follows clang's message.
without_library() {
    printf '#include <shared/device/device.hpp>\n%s\nHSADRV_KERNEL void k(double* p) { p[0] = %s; }\n' "$2" "$3" >mathematics.cpp
    expect "$1" 1 'link ROCm.s device libraries: docs/guide/compile.md' "$tool" -t gfx90a mathematics.cpp -o a.hsaco
}
without_library 'an undeclared function of mathematics' '' 'sin(p[1])'
without_library 'one that is declared' 'extern "C" double atan2(double, double);' 'atan2(p[1], p[2])'
without_library 'a builtin that is a call' '' '__builtin_exp(p[1])'
expect 'no such advice on other functions' 1 '^0$' bash -c '"$0" -t gfx90a broken.cpp -o a.hsaco 2>&1 | grep -c "device libraries"; exit 1' "$tool"

# Existing files stay until the end.
"$tool" -q -t gfx90a mine.cpp -o kept.hsaco --depfile kept.d
cp kept.hsaco before.hsaco
cp kept.d before.d
expect 'a failure' 1 'error' "$tool" -t gfx90a broken.cpp -o kept.hsaco --depfile kept.d
holds 'leaves the output before it' cmp kept.hsaco before.hsaco
holds 'and the depfile' cmp kept.d before.d

# Paths that cannot be written.
expect 'a missing folder' 4 'cannot write no/where.hsaco: No such file' "$tool" -t gfx90a mine.cpp -o no/where.hsaco
expect 'an output that is a folder' 4 'cannot write tmp: Is a directory' "$tool" -t gfx90a mine.cpp -o tmp
expect 'a folder that takes no files' 4 'cannot write /proc/a.hsaco' "$tool" -t gfx90a mine.cpp -o /proc/a.hsaco
expect 'a depfile without its folder' 4 'cannot write no/where.d: No such file' "$tool" -t gfx90a mine.cpp -o a.hsaco --depfile no/where.d
expect 'before anything is compiled' 4 '^hsadrv-cc: cannot write no/where.hsaco' "$tool" -v -t gfx90a broken.cpp -o no/where.hsaco
expect 'a full disk' 4 'cannot write /dev/full: No space left' "$tool" -t gfx90a mine.cpp -o /dev/full
expect 'no folder for temporary files' 4 'temporary files in /nowhere: No such file' env TMPDIR=/nowhere "$tool" -t gfx90a mine.cpp -o a.hsaco
holds 'none of these wrote the output either' test ! -e a.hsaco
expect 'a table on a full device' 4 'cannot write to standard output' bash -c '"$0" -t gfx90a mine.cpp -o b.hsaco >/dev/full' "$tool"
expect 'a refusal on closed standard error' 2 '^$' bash -c '"$0" -t gfx90f mine.cpp -o b.hsaco 2>&-' "$tool"
expect 'commands on a full device' 4 '^$' bash -c '"$0" -v -t gfx90a mine.cpp -o c.hsaco 2>/dev/full' "$tool"
holds 'were not run' test ! -e c.hsaco
expect 'a device stays a device' 0 '^character special file$' \
    bash -c '"$0" -q -t gfx90a mine.cpp -o /dev/null && stat -c %F /dev/null' "$tool"
ln -s target.hsaco link.hsaco
expect 'a link is followed' 0 '^symbolic link$' bash -c '"$0" -q -t gfx90a mine.cpp -o link.hsaco && stat -c %F link.hsaco' "$tool"
holds 'to what it leads to' test -s target.hsaco
expect 'an output has the mode of any new file' 0 '^640$' \
    bash -c 'umask 027; "$0" -q -t gfx90a mine.cpp -o mode.hsaco && stat -c %a mode.hsaco' "$tool"
if [ "$(id -u)" != 0 ]; then
    touch fixed.hsaco && chmod 444 fixed.hsaco
    expect 'a file that may not be written' 4 'cannot write fixed.hsaco: Permission denied' "$tool" -t gfx90a mine.cpp -o fixed.hsaco
else
    skipped=$((skipped + 1))
fi

# A clang that fails when compiling; $WRONG is the command.
cat >wrong-clang <<SCRIPT
#!/usr/bin/env bash
case " \$* " in *' -E '*) exec "$clang" "\$@" ;; *' -o '*) ;; *) exec "$clang" "\$@" ;; esac
eval "\$WRONG"
SCRIPT
chmod +x wrong-clang
export HSADRV_CLANG=$scratch/wrong-clang
expect 'a clang that crashes' 139 '' env WRONG='kill -SEGV $$' "$tool" -t gfx90a mine.cpp -o a.hsaco
echo 'static int unused;' >unused.cpp
expect 'a compile that fails is run once' 0 '^1$' bash -c '
    WRONG="echo >>times; exec \"$1\" \"\$@\"" "$0" -t gfx90a broken.cpp -o a.hsaco 2>/dev/null
    wc -l <times' "$tool" "$clang"
expect 'and one that succeeds says its warnings' 0 'warning: .*unused' env WRONG="exec $clang \"\$@\"" \
    "$tool" -q -t gfx90a unused.cpp -o said.hsaco -- -Wall
expect "clang's own exit status" 70 '' env WRONG='exit 70' "$tool" -t gfx90a mine.cpp -o a.hsaco
expect 'a clang that makes something else' 4 'hsadrv cannot load what .*not an ELF file' \
    env WRONG='echo hello >"${!#}"' "$tool" -t gfx90a mine.cpp -o a.hsaco
expect 'a clang that makes it for another target' 4 'made for gfx90a is for gfx906: ' \
    env WRONG="args=(\"\$@\"); exec $clang \"\${args[@]/-mcpu=gfx90a/-mcpu=gfx906}\"" "$tool" -t gfx90a mine.cpp -o a.hsaco
expect 'and with another setting' 4 'made for gfx90a is for gfx90a:xnack-: an option after -- changed the target' \
    env WRONG="args=(\"\$@\"); exec $clang \"\${args[@]/-mcpu=gfx90a/-mcpu=gfx90a:xnack-}\"" "$tool" -t gfx90a mine.cpp -o a.hsaco -- -Wall
expect 'a clang without output' 4 'No such file' env WRONG=: "$tool" -t gfx90a mine.cpp -o a.hsaco

# interrupted SIGNAL STATUS: while clang runs, which gets the signal, too.
interrupted() {
    rm -f started heard
    # A background job of a shell would ignore SIGINT.
    WRONG='touch started; trap "touch heard; echo told >&2; exit 1" INT TERM HUP; while :; do sleep 0.05; done' \
        env --default-signal=INT,TERM,HUP "$tool" -t gfx90a mine.cpp "$third" -o a.hsaco --depfile a.d 2>said &
    local job=$! tries=0
    until [ -e started ] || [ $((tries += 1)) = 200 ]; do sleep 0.05; done
    holds "SIG$1: a temporary folder, meanwhile" test -n "$(ls -A "$TMPDIR")"
    kill -"$1" $job
    wait $job 2>/dev/null
    local status=$?
    outcome "SIG$1 is the end" $((status != $2)) "exit status $status (wanted $2)"
    holds "SIG$1: clang was told" test -e heard
    holds "SIG$1: what it said is printed" grep -q '^told$' said
    holds "SIG$1: nothing is left" nothing_left
    holds "SIG$1: nothing was written" test ! -e a.hsaco -a ! -e a.d
}
interrupted INT 130
interrupted TERM 143
interrupted HUP 129
expect 'an ignored signal stays ignored' 0 '^$' bash -c '
    trap "" INT
    WRONG="kill -INT \$PPID; exec \"$1\" \"\$@\"" "$0" -q -t gfx90a mine.cpp -o ignored.hsaco' "$tool" "$clang"
finish
