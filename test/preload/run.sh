#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh RUN OBJECT PROGRAM DIRECTORY [DRIVER]
# Tests the script rocarray-run: arguments, exit status, signals, and an incomplete installation. DRIVER is,
# on nvidia, the directory of a fake driver, for machines without a driver.
set -euo pipefail
run=$1
object=$2
program=$3
scratch=$4
driver=${5-}
source "$(dirname "$0")/../support/empty_directory.sh"
empty_directory "$scratch"
# LD_PRELOAD cannot contain a path with a space.
case $run$scratch in
  *\ *)
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    mkdir "$scratch/objects"
    cp "$run" "${object%/*}"/librocarray-preload*.so "$scratch/objects"
    run=$scratch/objects/${run##*/}
    object=$scratch/objects/${object##*/}
    ;;
esac
mkdir -p "$scratch"

fail() {
  echo "$*" >&2
  exit 1
}
# expect STATUS PATTERN COMMAND...: the command exits with STATUS and prints a line that matches.
expect() {
  local expected=$1 pattern=$2 status=0 output
  shift 2
  output=$("$@" 2>&1) || status=$?
  [ "$status" = "$expected" ] || fail "exit status $status instead of $expected: $*: $output"
  grep -E -- "$pattern" <<<"$output" >/dev/null || fail "no \"$pattern\" in the output of $*: $output"
}

if [ -n "$driver" ]; then
  libraries=${LD_LIBRARY_PATH-}
  export LD_LIBRARY_PATH=$driver
fi
expect 0 '^Usage: rocarray-run' "$run" --help
expect 0 '^rocarray-run \(rocarray\) [0-9]' "$run" --version
expect 2 'no program was given' "$run"
expect 2 'unknown option "--sumary"' "$run" --sumary true
expect 2 'program "no_such_program" was not found' "$run" no_such_program
expect 7 '^a b  c$' "$run" sh -c 'echo "$1"; exit 7' sh 'a b  c'
expect 0 '^-x$' "$run" -- printf '%s\n' -x
expect 143 '' "$run" sh -c 'kill -TERM $$'
expect 0 'librocarray-preload.so:(/.*-alias.so:)?/other.so$' \
  env LD_PRELOAD=/other.so "$run" sh -c 'echo "$LD_PRELOAD"'
# A program without a GPU prints nothing more, and loads no GPU runtime.
expect 0 '^$' "$run" --summary true
expect 0 '^0$' "$run" sh -c 'grep -cE "libamdhip|libcuda|preload-copy" /proc/$$/maps || true'

mkdir "$scratch/without_objects" "$scratch/without_copy" "$scratch/with a space"
cp "$run" "$scratch/without_objects"
expect 2 'librocarray-preload.so was not found' "$scratch/without_objects/rocarray-run" true
cp "$run" "$object" "$scratch/without_copy"
expect 2 'librocarray-preload-copy.so is not beside' "$scratch/without_copy/rocarray-run" true
cp "$run" "${object%/*}"/librocarray-preload*.so "$scratch/with a space"
expect 2 'has a space or a colon' "$scratch/with a space/rocarray-run" true

# Without the second object, everything is passed on, and said so.
if [ -n "$driver" ]; then
  export LD_LIBRARY_PATH=$libraries
  # An object that is preloaded by hand does not search the loader's cache for the driver.
  ROCARRAY_PRELOAD_CACHED_DRIVER=$("$run" sh -c 'echo "${ROCARRAY_PRELOAD_CACHED_DRIVER-}"')
  export ROCARRAY_PRELOAD_CACHED_DRIVER
fi
status=0
"$program" contiguous >"$scratch/plain.out" || status=$?
if [ $status = 0 ]; then
  LD_PRELOAD=$scratch/without_copy/librocarray-preload.so ROCARRAY_PRELOAD_SUMMARY=1 \
    "$program" contiguous >"$scratch/served.out" 2>"$scratch/served.err"
  diff "$scratch/plain.out" "$scratch/served.out"
  grep 'all copies are passed on: .*librocarray-preload-copy.so' "$scratch/served.err" >/dev/null ||
    fail "no message: $(cat "$scratch/served.err")"
  grep 'passed on: the library could not be loaded' "$scratch/served.err" >/dev/null ||
    fail "no reason: $(cat "$scratch/served.err")"
  ROCARRAY_PRELOAD=maybe "$run" "$program" contiguous 2>&1 >/dev/null |
    grep 'ROCARRAY_PRELOAD is "maybe"; it can be on or off' >/dev/null || fail "no warning of a bad value"
fi
