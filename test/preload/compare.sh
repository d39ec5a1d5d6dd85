#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compare.sh RUN PATTERN... -- PROGRAM [ARGUMENT]...
# Runs a program without and with rocarray-run (RUN). Both runs must print the same and have the same
# exit status; 77 is skipped. If they print different lines, the program is run without rocarray-run up to
# four times more, and one of these runs must print the same: under load, copies of CUDA 13.0 itself
# delivered old bytes in a third of the runs of driver_program.
# The summary of the run with rocarray-run must contain a line for each extended regular expression PATTERN,
# and none for a PATTERN that begins with "!". A PATTERN +N is the number of copies in all its lines.
set -euo pipefail
run=$1
shift
patterns=()
while [ "$1" != -- ]; do
  patterns+=("$1")
  shift
done
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# LD_PRELOAD cannot contain a path with a space.
case $run in
  *\ *)
    cp "$run" "${run%/*}"/librocarray-preload*.so "$scratch"
    run=$scratch/${run##*/}
    ;;
esac

fail() {
  echo "$*" >&2
  tail -n 40 "$scratch"/*.err >&2
  exit 1
}

plain=0
# What the test injects into the library does not concern this run.
env -u ROCARRAY_INJECT_FAILURE "$@" >"$scratch/plain.out" 2>"$scratch/plain.err" || plain=$?
[ $plain != 77 ] || exit 77
# A program that is linked with a driver that is not installed.
[ $plain != 127 ] || ! grep "libcuda.so.1: cannot open" "$scratch/plain.err" || exit 77
[ $plain = 0 ] || fail "the program fails without rocarray-run: exit status $plain"
served=0
"$run" --summary "$@" >"$scratch/served.out" 2>"$scratch/served.err" || served=$?
[ $served = $plain ] || fail "exit status $served with rocarray-run, $plain without"
for repetition in 1 2 3 4 last; do
  ! diff "$scratch/plain.out" "$scratch/served.out" || break
  [ $repetition != last ] || fail "the output above differs with rocarray-run"
  env -u ROCARRAY_INJECT_FAILURE "$@" >"$scratch/plain.out" 2>"$scratch/plain.err" || true
done
for pattern in ${patterns[@]+"${patterns[@]}"}; do
  if [ "${pattern#!}" != "$pattern" ]; then
    ! grep -E -- "${pattern#!}" "$scratch/served.err" >/dev/null || fail "unexpected: ${pattern#!}"
  elif [[ $pattern =~ ^\+[0-9]+$ ]]; then
    copies=$(awk '$3 == "copies" { n += $2 } END { print n + 0 }' "$scratch/served.err")
    [ "$copies" = "${pattern#+}" ] || fail "the summary has $copies copies instead of ${pattern#+}"
  else
    grep -E -- "$pattern" "$scratch/served.err" >/dev/null || fail "the summary has no line \"$pattern\""
  fi
done
cat "$scratch/served.err"
