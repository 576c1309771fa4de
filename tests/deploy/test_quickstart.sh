#!/bin/sh
# The newcomer's path: the quickstart from an empty store measures this machine, answers the README's curl line and the trend page;
# a second start on the same store does not measure again; and the made-up project.
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export BREAKEVEN_STORE="sqlite:$work/breakeven.db" BREAKEVEN_MACHINE=quickstart-test

deploy/quickstart --port 0 --exit | tee "$work/first"
grep -q 'ThreadPoolSpawn.*executor:fifo.*threads:2.*task_cost:1000' "$work/first"
grep -q '/p/breakeven/b/ThreadPoolSpawn' "$work/first"

deploy/quickstart --port 0 --exit | tee "$work/second"
grep -q 'has been measured on quickstart-test already' "$work/second"
runs=$(sqlite3 "$work/breakeven.db" 'SELECT count(*) FROM run')
[ "$runs" -eq 1 ] || { echo "a second start measured again: $runs runs" >&2; exit 1; }

deploy/quickstart --demo --port 0 --exit | tee "$work/demo"
grep -q '/p/demo/b/ThreadPoolSpawn' "$work/demo"
