#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the parts of the fault matrix: fault_matrix_parts.sh PROGRAM
# Three parts have each case of the matrix once, and what they execute adds up to what one process
# with several jobs executes.
set -eu
program=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

fail() {
  echo "$1" >&2
  exit 1
}

# The numbers of executed cases, of all cases and of findings in the last line of a run.
summary() {
  sed -n 's/^fault matrix:.* \([0-9]*\) of \([0-9]*\) cases;.* \([0-9]*\) findings;.* [0-9.]* s$/\1 \2 \3/p' "$1"
}

# Cases of scenarios that poll differ from one count to the next, so that all read one file.
"$program" --scenario map --counts counts --list-cases >all
for part in 1 2 3; do
  "$program" --scenario map --counts counts --part $part/3 --list-cases >part.$part
  test -s part.$part || fail "part $part has no case"
done
sort all >all.sorted
sort part.1 part.2 part.3 >parts.sorted
test -z "$(uniq -d parts.sorted)" || fail "parts have a case in common"
cmp all.sorted parts.sorted || fail "the parts are not the whole"

sum=0
for part in 1 2 3; do
  "$program" --scenario map --state warm --counts counts --part $part/3 >log.$part
  set -- $(summary log.$part)
  test "$#" = 3 || fail "part $part has no summary: $(cat log.$part)"
  test "$1" = "$(grep -c 'state warm' part.$part)" || fail "part $part executed $1 cases"
  test "$3" = 0 || fail "part $part has findings"
  sum=$((sum + $1))
done
"$program" --scenario map --state warm --counts counts --jobs 2 --seed 7 >log.all
test "$(sed 1q log.all)" = "fault matrix: --seed 7" || fail "the first line has no seed: $(sed 1q log.all)"
set -- $(summary log.all)
test "$1" = "$2" || fail "$1 of $2 cases were executed"
test "$1" = "$sum" || fail "the parts executed $sum cases, and one process $1"

# refuses TEXT ARGUMENT...: the program ends with status 2 and this text.
refuses() {
  text=$1
  shift
  status=0
  "$program" "$@" --list-cases >refused 2>&1 || status=$?
  test "$status" = 2 || fail "status $status instead of 2: $*"
  grep -qF -e "$text" refused || fail "no message \"$text\": $(cat refused)"
}

refuses 'it lacks 2, the first for "map on stream" in state warm' \
  --scenario 'map on stream' --counts counts
refuses 'written for another --scenario or --state' --counts counts
refuses 'written for another --scenario or --state' --counts counts --part 1/3
"$program" --scenario map --state warm --counts counts.warm --list-cases >warm
test -s warm || fail "no warm case"
refuses 'it lacks 1, the first for "map" in state cold' \
  --scenario map --counts counts.warm
ROCARRAY_HOST_MODE=inline
export ROCARRAY_HOST_MODE
refuses 'but this run is in mode inline; use a file for each mode' --scenario map --counts counts
sed 's/ map$/ maps/' counts >counts.other
unset ROCARRAY_HOST_MODE  # mode threaded
sed '1s/mode .*/mode threaded/' counts.other >counts.threaded
refuses 'has the scenario "maps", which this program lacks' --scenario map --counts counts.threaded
sed 1d counts >counts.none
refuses 'not written by this version of the program' --scenario map --counts counts.none
head -c 300 counts >counts.cut
sed -i '1s/mode .*/mode threaded/' counts.cut
refuses 'a line is not complete' --scenario map --counts counts.cut
# Counts of a part of the selection are not written.
"$program" --seconds 0.001 --counts counts.part --list-cases >part 2>messages
test ! -e counts.part || fail "counts of some scenarios were written"
grep -q 'not written, because' messages || fail "no message: $(cat messages)"
