#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# driver.sh RUN PROGRAM LINKED_PROGRAM PROGRAM_WITH_RPATH DIRECTORY TOOL
# Tests how the preloaded object finds the CUDA driver, and what it does without one. RUN is the path of
# rocarray-run, the programs are those of driver_program.cpp, DIRECTORY has the fake driver and is the RPATH of
# PROGRAM_WITH_RPATH, TOOL is the object of fake_tool.cpp.
set -euo pipefail
run=$1
program=$2
linked=$3
with_rpath=$4
in_rpath=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# LD_PRELOAD and LD_LIBRARY_PATH cannot contain all paths.
cp "$run" "${run%/*}"/librocarray-preload*.so "$scratch"
cp "$6" "$scratch/tool.so"
mkdir "$scratch/driver" "$scratch/other" "$scratch/foreign" "$scratch/bin"
cp "$in_rpath/libcuda.so.1" "$scratch/driver"
cp "$in_rpath/libcuda.so.1" "$scratch/other"
run=$scratch/rocarray-run
object=$scratch/librocarray-preload.so
directory=$scratch/driver
other=$scratch/other

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

# expect_driver FILE COMMAND...: the command, a program that prints the file of its driver, prints FILE.
expect_driver() {
  local file=$1
  shift
  expect 0 "^driver: $file\$" "$@"
}

# By LD_LIBRARY_PATH, with and without rocarray-run.
expect 0 "$served" env LD_LIBRARY_PATH="/nowhere:$directory" "$run" --summary "$program" contiguous libcuda.so.1
expect 0 "$served" env LD_LIBRARY_PATH="$directory" LD_PRELOAD="$object" ROCARRAY_PRELOAD_SUMMARY=1 \
  "$program" contiguous libcuda.so.1
# By LD_LIBRARY_PATH as a script sets it later.
expect_driver "$directory/libcuda.so.1" env LD_LIBRARY_PATH="$other" "$run" \
  sh -c 'LD_LIBRARY_PATH=$1 exec "$2" file table' sh "$directory" "$program"
# A library for another processor, and one without the driver's functions, are passed over.
cp "$directory/libcuda.so.1" "$scratch/foreign/libcuda.so.1"
printf '\1' | dd of="$scratch/foreign/libcuda.so.1" bs=1 seek=4 conv=notrunc status=none
expect_driver "$directory/libcuda.so.1" env LD_LIBRARY_PATH="$scratch/foreign:$directory" "$run" \
  "$program" file table
cp "$scratch/tool.so" "$scratch/foreign/libcuda.so.1"
expect_driver "$directory/libcuda.so.1" env LD_LIBRARY_PATH="$scratch/foreign:$directory" "$run" \
  "$program" file table
# By the RPATH of the program, which has precedence.
expect_driver "$in_rpath/libcuda.so.1" env LD_LIBRARY_PATH="$directory" "$run" "$with_rpath" file table
# By the loader's cache, if it is in no such directory.
cat >"$scratch/bin/ldconfig" <<TEXT
#!/bin/sh
echo '	libcuda.so.1 (libc6) => /nowhere/libcuda.so.1'
echo '	libcuda.so.1 (libc6,x86-64) => $other/libcuda.so.1'
TEXT
chmod +x "$scratch/bin/ldconfig"
expect_driver "$other/libcuda.so.1" env -u LD_LIBRARY_PATH PATH="$scratch/bin:$PATH" "$run" "$program" file table
expect_driver "$directory/libcuda.so.1" env LD_LIBRARY_PATH="$directory" PATH="$scratch/bin:$PATH" "$run" \
  "$program" file table
# What an outer rocarray-run has found may be missing, in a container for example.
expect_driver "$directory/libcuda.so.1" env LD_LIBRARY_PATH="$directory" \
  ROCARRAY_PRELOAD_CACHED_DRIVER=/nowhere/libcuda.so.1 "$run" "$program" file table
# By the variable, which has precedence.
expect_driver "$other/libcuda.so.1" env LD_LIBRARY_PATH="$directory" \
  ROCARRAY_PRELOAD_DRIVER="$other/libcuda.so.1" "$run" "$with_rpath" file table
(cd "$other" && expect_driver "$other/libcuda.so.1" env LD_LIBRARY_PATH="$directory" \
  ROCARRAY_PRELOAD_DRIVER=libcuda.so.1 "$run" sh -c 'cd / && exec "$@"' sh "$program" file table)
mv "$directory/libcuda.so.1" "$scratch/other_name.so"
ln -s "$scratch/other_name.so" "$scratch/libcuda.so.1"
expect 0 "$served" env ROCARRAY_PRELOAD_DRIVER="$scratch/libcuda.so.1" "$run" --summary \
  "$program" contiguous libcuda.so.1
expect 0 "$served" env ROCARRAY_PRELOAD_DRIVER="$scratch/libcuda.so.1" "$run" --summary \
  "$linked" contiguous linked
mv "$scratch/other_name.so" "$directory/libcuda.so.1"
expect 2 'ROCARRAY_PRELOAD_DRIVER is "/nowhere/libcuda.so.1", which cannot be read' \
  env ROCARRAY_PRELOAD_DRIVER=/nowhere/libcuda.so.1 "$run" true
# Neither this object nor a library without the driver's functions is taken for the driver.
for file in "$object" "$scratch/librocarray-preload-copy.so" /nowhere libcuda.so.1; do
  expect 0 "$served" env LD_LIBRARY_PATH="$directory" LD_PRELOAD="$object" ROCARRAY_PRELOAD_SUMMARY=1 \
    ROCARRAY_PRELOAD_DRIVER="$file" "$program" contiguous libcuda.so.1
  expect 0 "ROCARRAY_PRELOAD_DRIVER is \"$file\", which is not a CUDA driver" \
    env LD_LIBRARY_PATH="$directory" LD_PRELOAD="$object" ROCARRAY_PRELOAD_DRIVER="$file" \
    "$program" file table
done
# A tool that replaces dlsym calls this object, which calls the driver.
for access in libcuda.so.1 table; do
  expect 0 "$served" env LD_PRELOAD="$scratch/tool.so" LD_LIBRARY_PATH="$directory" "$run" --summary \
    "$program" contiguous "$access"
done
# The second name of the driver leads to the object beside it, not to another one.
cp "$scratch/tool.so" "$scratch/foreign/librocarray-preload.so"
expect 0 '^0$' env LD_LIBRARY_PATH="$scratch/foreign:$directory" "$run" \
  sh -c "grep -c '$scratch/foreign' /proc/self/maps || true"

# Functions that the toolkit or the driver lacks.
expect 0 '^later: not found$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown libcuda.so.1
expect 0 '^0 42$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown table
expect 0 '^null: not found$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown table
expect 0 '^801$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown libcuda.so.1
expect 0 '^replaced: 801$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown libcuda.so.1
expect 0 '^earlier: not found$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown table
expect 0 '^replaced: not found$' env LD_LIBRARY_PATH="$directory" "$run" "$program" unknown table

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
