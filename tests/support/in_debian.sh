#!/usr/bin/env bash
# tests/support/in_debian where making the root fails, takes long, or is begun by several processes at once. No root of a release is
# made: debootstrap, apt and chroot are replaced.
#
#     in_debian.sh SOURCE
set -uo pipefail
source=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# The scripts as they are, beside an in_root that runs the program here, and nothing for `inside`.
mkdir -p "$folder/tree/tools/kfdemu" "$folder/bin"
cp "$source/tools/setup.bash" "$folder/tree/tools"
cp "$source/tools/kfdemu/chroots.bash" "$folder/tree/tools/kfdemu"
write() { cat >"$1" && chmod +x "$1"; }
write "$folder/tree/tools/kfdemu/in_root" <<'END'
#!/bin/sh
[ "$2" != env ] || exit 0
shift && exec "$@"
END
# debootstrap --variant=minbase RELEASE FOLDER MIRROR: waits while $folder/hold exists, for 20 seconds at most.
write "$folder/bin/debootstrap" <<'END'
#!/bin/sh
echo "$2" >>"$calls"
n=0
while [ -e "$hold" ] && [ $n -lt 200 ]; do sleep 0.1 && n=$((n + 1)); done
[ "$fails" = no ] || { echo 'E: no such mirror' && exit 1; }
mkdir -p "$3/etc/apt/apt.conf.d"
END
write "$folder/bin/apt-get" <<<'echo Debian Debian http://mirror.invalid/debian'
write "$folder/bin/apt-config" <<<true
export PATH=$folder/bin:$PATH calls=$folder/calls hold=$folder/hold fails=no

in_debian() { "$source/tests/support/in_debian" "${@:-trixie}" "$folder/tree" "$folder" echo ran; }
run() { said=$(in_debian "$@" 2>&1) && status=0 || status=$?; }
# begin NAME: with an empty cache.
begin() {
    export XDG_CACHE_HOME=$folder/$1
    : >"$calls"
}
begun() { until [ -s "$calls" ]; do sleep 0.05; done; }
# expect NAME PATTERN: of the exit status, what was printed, and how often a root was begun.
expect() {
    local got
    got="$status $said; $(wc -l <"$calls")"
    # shellcheck disable=SC2053 # a pattern
    [[ $got == $2 ]] && return
    printf 'FAILED: %s: expected %s, got %s\n' "$1" "$2" "$got"
    failed=1
}

begin possible
run
if [ $status = 77 ]; then
    echo "$said"
    exit 77
fi
expect 'a root is made' '0 ran; 1'
run
expect 'and used again' '0 ran; 1'

begin failure
fails=yes run
expect 'a failure has a reason' '77 skipped: *E: no such mirror*; 1'
run
expect 'a failure is remembered' '77 skipped: *E: no such mirror*; 1'
touch -d '-2 hours' "$XDG_CACHE_HOME/kfdemu-compat/trixie.tests.failed"
run
expect 'for an hour' '0 ran; 2'

begin together
touch "$hold"
for n in 1 2 3; do in_debian >"$folder/together.$n" 2>&1 & done
# As tools/kfdemu/compat does.
bash -c '. "$1/tools/setup.bash" && . "$1/tools/kfdemu/chroots.bash" && mirror=http://mirror.invalid/debian &&
    mkdir -p "$cache" && make_chroot trixie' compat "$folder/tree" &
begun && sleep 0.2 && rm "$hold"
wait
said=$(cat "$folder"/together.* | xargs)
expect 'processes that begin together make one root' '0 ran ran ran; 1'

begin slow
touch "$hold"
IN_DEBIAN_PATIENCE_S=0 run
begun
expect 'a slow one is not waited for' '77 skipped: *it is being made*'
rm "$hold"
run
expect 'but is made meanwhile' '0 ran; 1'

# As meson does at a time limit.
begin killed
touch "$hold"
set -m
in_debian >/dev/null 2>&1 &
set +m
begun
{ kill -KILL -- -$! && wait $!; } 2>/dev/null
rm "$hold"
run
expect 'it does not end with the test that began it' '0 ran; 1'

begin early
touch "$hold"
run --begin trixie
begun
expect 'it may begin early' '0 ; 1'
rm "$hold"
run
expect 'for the tests that follow' '0 ran; 1'
exit $failed
