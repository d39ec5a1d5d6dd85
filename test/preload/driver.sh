#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# driver.sh RUN PROGRAM LINKED_PROGRAM DIRECTORY
# Tests how the preloaded object finds the CUDA driver, and what it does without one. RUN is the path of
# rocarray-run, PROGRAM and LINKED_PROGRAM are those of driver_program.cpp, DIRECTORY has the fake driver.
set -euo pipefail
run=$1
program=$2
linked=$3
directory=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# LD_PRELOAD and LD_LIBRARY_PATH cannot contain all paths.
cp "$run" "${run%/*}"/librocarray-preload*.so "$scratch"
mkdir "$scratch/driver"
cp "$directory/libcuda.so.1" "$scratch/driver"
run=$scratch/rocarray-run
object=$scratch/librocarray-preload.so
directory=$scratch/driver

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
served='cuMemcpyHtoD .*served'

# By LD_LIBRARY_PATH, with and without rocarray-run, and by the variable, which has precedence.
expect 0 "$served" env LD_LIBRARY_PATH="/nowhere:$directory" "$run" --summary "$program" contiguous libcuda.so.1
expect 0 "$served" env LD_LIBRARY_PATH="$directory" LD_PRELOAD="$object" ROCARRAY_PRELOAD_SUMMARY=1 \
  "$program" contiguous libcuda.so.1
mv "$directory/libcuda.so.1" "$scratch/other_name.so"
ln -s "$scratch/other_name.so" "$scratch/libcuda.so.1"
expect 0 "$served" env ROCARRAY_PRELOAD_DRIVER="$scratch/libcuda.so.1" "$run" --summary \
  "$program" contiguous libcuda.so.1
expect 0 "$served" env ROCARRAY_PRELOAD_DRIVER="$scratch/libcuda.so.1" "$run" --summary \
  "$linked" contiguous linked
mv "$scratch/other_name.so" "$directory/libcuda.so.1"
expect 2 'ROCARRAY_PRELOAD_DRIVER is "/nowhere/libcuda.so.1", which cannot be read' \
  env ROCARRAY_PRELOAD_DRIVER=/nowhere/libcuda.so.1 "$run" true
# This object is not the driver, and a library without the driver's functions is none.
for file in "$object" "$scratch/librocarray-preload-copy.so" /nowhere libcuda.so.1; do
  expect 0 "$served" env LD_LIBRARY_PATH="$directory" LD_PRELOAD="$object" ROCARRAY_PRELOAD_SUMMARY=1 \
    ROCARRAY_PRELOAD_DRIVER="$file" "$program" contiguous libcuda.so.1
done

# Functions that the toolkit or the driver lacks.
expect 0 '^later: not found$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown libcuda.so.1
expect 0 '^0 42$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown table
expect 0 '^null: not found$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown table
expect 0 '^801$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown libcuda.so.1
expect 0 '^earlier: not found$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown table

# A program that does not call the driver does not load it.
expect 0 '^0$' env LD_LIBRARY_PATH="$directory" "$run" \
  sh -c "grep -c '$directory' /proc/self/maps || true"
# The summary names the call site in the program.
expect 0 'at rocarray_preload_driver_program\+0x.*1500 small copies of 100 bytes' \
  env LD_LIBRARY_PATH="$directory" "$run" --summary "$program" small table

# Without a driver, rocarray-run runs the program as it is, and an object that was preloaded by hand says so.
installed=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | grep -c 'libcuda\.so\.1 ' || true)
if [ "$installed" = 0 ]; then
  expect 0 'there is no CUDA driver .*"sh" runs without rocarray' env -u LD_LIBRARY_PATH "$run" sh -c 'true'
  expect 0 '^preloaded: $' env -u LD_LIBRARY_PATH "$run" sh -c 'echo "preloaded: ${LD_PRELOAD-}"'
  expect 77 'the CUDA driver libcuda.so.1 was not found' \
    env -u LD_LIBRARY_PATH LD_PRELOAD="$object" "$program" contiguous libcuda.so.1
  expect 0 '^integers: 34$' env -u LD_LIBRARY_PATH LD_PRELOAD="$object" "$program" integers libcuda.so.1
fi
