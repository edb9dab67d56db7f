#!/bin/sh
# Finds the bug of examples/live/player.cpp while it plays; needs `debugger` and c++ on the PATH.
set -eu
cd "$(dirname "$0")"
player=${TMPDIR:-/tmp}/player-$$
trap 'debugger stop >/dev/null 2>&1 || true; rm -f "$player"' EXIT
c++ -g -O0 -std=c++17 -pthread -o "$player" player.cpp

run() {
    printf '\n$ debugger'
    for word in "$@"; do
        case $word in *[!A-Za-z0-9_./:=-]*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
    done
    printf '\n'
    debugger "$@"
}

# What a wait that ends first answers with is no failure here.
wait_for() { run "$@" || [ $? -eq 3 ]; }

echo "# A buffer of 4,096 frames lasts for 70 blocks at least. Is it filled that seldom?"
run start "$player" --backend frida --no-wait
run trace add player::advance player::refill
wait_for await --timeout 1
run events --kind function_enter --limit 6
echo "# refill() is called in every third call of advance(): for one of the three tracks, always. Which?"
run trace remove --all
run break player.cpp:29 --condition 'step < 0'
run await --timeout 10
run read track.name sampleRate bufferSize step
echo "# It is played backwards: its rate is negative. 44100 is what the file says; does that help?"
run write track.sampleRate 44100
run write step 58
run continue --no-wait
echo "# No block has a negative step from now on: the breakpoint is not met again, and refill() is rare."
run trace add player::refill
wait_for await --timeout 1
run events --kind function_enter --since -0.5s --limit 6
run read player::blocks
echo "The bug: load() keeps the rate in a short. 44100 does not fit: it becomes -21436."
