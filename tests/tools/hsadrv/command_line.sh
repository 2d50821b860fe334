#!/usr/bin/env bash
# hsadrv as a whole: help, wrong words, closed streams, completion, manual pages.
. "$(dirname "$0")/expect.bash"

expect 'help lists the subcommands' 0 'completion +print' "$hsadrv" --help
expect 'help tells the exit statuses' 0 'Exit status: 0' "$hsadrv" -h
expect 'a version' 0 '^hsadrv [0-9]' "$hsadrv" --version
expect 'no subcommand' 2 'hsadrv: missing subcommand: there are info, .*completion' "$hsadrv"
expect 'an unknown subcommand' 2 "there is no subcommand 'frobnicate'; there are .*completion" "$hsadrv" frobnicate
expect 'nearly a subcommand' 2 "did you mean completion\?" "$hsadrv" completoin
expect 'an unknown option' 2 'not expected: --frobnicate' "$hsadrv" --frobnicate
expect 'an unknown option of a subcommand' 2 'hsadrv completion --help lists the options' "$hsadrv" completion --frobnicate
expect 'a closed standard output' 4 'cannot write to standard output: Bad file descriptor' bash -c '"$0" completion bash >&-' "$hsadrv"
expect 'help with a closed standard output' 4 'cannot write to standard output' bash -c '"$0" --help >&-' "$hsadrv"
expect 'all closed' 4 '^$' bash -c '"$0" completion bash <&- >&- 2>&-' "$hsadrv"
expect 'a full disk' 4 'cannot write to standard output: No space left' bash -c '"$0" completion bash >/dev/full' "$hsadrv"
expect 'a reader that goes' 141 '^$' bash -c '"$0" completion bash | true; exit ${PIPESTATUS[0]}' "$hsadrv"

# Every option has a place in its manual page, and the page knows no other.
names() { "$hsadrv" --help | sed -n '/^Subcommands/,/^$/p' | grep -oE '^  [a-z]+' | tr -d ' '; }
options() { grep -oE -- '(^|[^a-zA-Z-])(--[a-z][a-z-]*|-[a-zA-Z])\b' | grep -oE -- '-.*' | sort -u; }
in_help() { "$hsadrv" $1 --help | grep -oE '^ +(-[a-zA-Z])?,? *(--[a-z][a-z-]*)?' | options; }
in_manual() { sed 's/\\-/-/g' "$1" | sed -n '/^.SH OPTIONS/,/^.SH [^O]/p' | grep -A1 '^.TP' | grep -E '^\.B' | options; }
counted=0
for name in $(names); do
    manual=$source_root/tools/hsadrv/hsadrv-$name.1
    holds "hsadrv $name has a manual page" test -f "$manual"
    parts=$("$hsadrv" "$name" --help | sed -n '/^Subcommands/,/^$/p' | grep -oE '^  [a-z]+' | tr -d ' ')
    expect "hsadrv $name: the manual and the help agree" 0 '^$' \
        diff <(for part in '' $parts; do in_help "$name $part"; done | sort -u) <(in_manual "$manual")
    expect "hsadrv(1) tells of $name" 0 "^\.BR? $name\$" grep -E "^\.BR? $name\$" "$source_root/tools/hsadrv/hsadrv.1"
    holds "hsadrv-$name(1) is well formed" bash -c '! command -v man >/dev/null || [ -z "$(MANROFFSEQ= man --warnings -E UTF-8 -l "$0" 2>&1 >/dev/null)" ]' "$manual"
    counted=$((counted + 1))
done
holds 'there are subcommands' [ $counted -ge 1 ]

# What bash offers for a line, of which the last word is being typed.
offers() {
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hsadrv; printf "%s\n" "${COMPREPLY[@]}"' - "$scratch/hsadrv.bash" "$@"
}
"$hsadrv" completion bash >hsadrv.bash
expect 'bash: subcommands' 0 '^completion$' offers hsadrv comp
expect 'bash: options' 0 '^--help$' offers hsadrv completion --h
expect 'bash: words of an argument' 0 '^zsh$' offers hsadrv completion z
expect 'bash: nothing that is hidden' 0 '^$' offers hsadrv doctor --pro
expect 'bash: nothing else' 0 '^$' offers hsadrv completion frob
expect 'an unknown shell' 2 'fish' "$hsadrv" completion fish
"$hsadrv" completion zsh >_hsadrv
if command -v zsh >/dev/null; then
    holds 'zsh takes its script' zsh -n _hsadrv
    expect 'zsh completes' 0 'completion' "$python" "$source_root/tests/tools/hsadrv/zsh.py" "$scratch" "$hsadrv" 'hsadrv comp'
else
    skip 2 'zsh is not installed'
fi
finish
