#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hipify.sh CASE DIRECTORY HIPIFY-PERL: checks the output, the messages and the exit status of
# scripts/hipify. A case that needs hipify-perl is skipped if there is none.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
case=$1
out=$2/$case
program=$3
unset HIPIFY_PERL

if [ ! -f "$program" ] && [ "$case" != missing ] && [[ $case != *to_sources ]]; then
  echo "hipify-perl was not found: install it, or set ROCARRAY_HIPIFY_PERL or HIPIFY_PERL to it"
  exit 77
fi
rm -rf "$out"
mkdir -p "$out"

# hipify ARGUMENT...: runs the script; sets `status` and `output`.
hipify() {
  output=$("$root/scripts/hipify" "$@" 2>&1)
  status=$?
  printf '%s\n' "$output"
}

# expect STATUS TEXT...: checks the status, and that the output contains every TEXT.
expect() {
  [ "$status" = "$1" ] || { echo "FAILED: exit status $status; expected $1"; exit 1; }
  shift
  local text
  for text in "$@"; do
    grep -qF -- "$text" <<<"$output" || { echo "FAILED: missing in the output: $text"; exit 1; }
  done
}

# expect_not TEXT...
expect_not() {
  local text
  for text in "$@"; do
    if grep -qF -- "$text" <<<"$output"; then echo "FAILED: unexpected in the output: $text"; exit 1; fi
  done
}

case $case in
  example)  # the example's second step is the script's output for the first
    hipify --hipify-perl "$program" --include roc/native/hip.hpp -o "$out" \
      "$root/examples/from_cuda/1_cuda"
    expect 0 "cudaMemcpy2DAsync -> hipMemcpy2DAsync" "2 files read, 2 changed"
    diff -r "$root/examples/from_cuda/2_hipified" "$out" || exit 1
    ;;
  left)
    hipify --hipify-perl "$program" -o "$out" "$here/hipify"
    expect 1 "left.cu:4: CUDA is left: cuda_pipeline.h" "left.cu:12: CUDA is left: asm" \
      "left.cu:13: CUDA is left: __CUDA_ARCH__" "left.cu:21: CUDA is left: cudaNameOfNextYear" \
      "left.cu:22: CUDA is left: cuOwn" "6 CUDA names are left" "cudaFree -> hipFree"
    expect_not InAComment InAString CUDA_OWN_CHECK "left: cuda_own.cuh"
    [ -f "$out/left.hip" ] || { echo "FAILED: no left.hip"; exit 1; }
    ;;
  warps)
    hipify --hipify-perl "$program" -o "$out" "$here/hipify/warps.cu"
    expect 1 "warps.cu:5: warps of 32 lanes: WARP_SIZE 32" "warps.cu:7: warps of 32 lanes: warp_size{32" \
      "warps.cu:11: warps of 32 lanes: __shfl_down_sync: a mask of 32 lanes" \
      "warps.cu:12: warps of 32 lanes: __shfl_sync: a mask of 32 lanes" \
      "warps.cu:18: warps of 32 lanes: threadIdx.x & 31" "warps.cu:19: warps of 32 lanes: threadIdx.x / 32" \
      "warps.cu:21: warps of 32 lanes: unsigned const active = __ballot_sync" \
      "warps.cu:22: warps of 32 lanes: __popc(__activemask" "warps.cu:23: warps of 32 lanes: __syncwarp" \
      "warps.cu:23: warps of 32 lanes: warpSize == 32" "11 places assume warps of 32 lanes"
    expect_not "CUDA names are left"
    [ -f "$out/warps.hip" ] || { echo "FAILED: no warps.hip"; exit 1; }
    hipify --hipify-perl "$program" --strict -o "$out/strict" "$here/hipify/warps.cu"
    expect 1
    [ ! -e "$out/strict/warps.hip" ] || { echo "FAILED: warps.hip was written"; exit 1; }
    hipify --hipify-perl "$program" --strict --any-warp-size -o "$out/any" "$here/hipify/warps.cu"
    expect 0
    ;;
  strict)
    hipify --hipify-perl "$program" -o "$out" --strict --own cuOwn "$here/hipify"
    expect 1 "cudaNameOfNextYear" "4 CUDA names are left"
    expect_not "left: cuOwn"
    [ ! -e "$out/left.hip" ] && [ -e "$out/cuda_own.cuh" ] || exit 1
    ;;
  nothing)  # a file without CUDA is copied unchanged
    cp "$here/consumer/consumer.cpp" "$out/plain.cpp"
    hipify --hipify-perl "$program" --include roc/native/hip.hpp -o "$out/new" "$out/plain.cpp"
    expect 0 "nothing to change" "1 files read, 0 changed"
    cmp "$out/plain.cpp" "$out/new/plain.cpp" || exit 1
    ;;
  bad)
    hipify --hipify-perl "$program" "$out/not_there.cu"
    expect 2 "not_there.cu does not exist"
    hipify --hipify-perl "$program" "$out"
    expect 2 "no C++ or CUDA source was found in"
    hipify --hipify-perl "$program" --hurry "$out"
    expect 2 '"--hurry" is not an option'
    hipify --hipify-perl "$program"
    expect 2 "no file or directory was given"
    cp "$here/hipify/left.cu" "$out/a.cu"
    cp "$here/hipify/left.cu" "$out/a.hpp"
    mkdir "$out/b" && cp "$here/hipify/left.cu" "$out/b/a.cu"
    hipify --hipify-perl "$program" "$out/a.cu" "$out/b/a.cu"
    expect 2 "would both become a.hip"
    printf '#!/bin/sh\nexit 3\n' >"$out/hipify-perl"
    hipify --hipify-perl "$out/hipify-perl" "$out/a.cu"
    expect 2 "failed on"
    touch "$out/file"
    hipify --hipify-perl "$program" -o "$out/file/below" "$out/a.cu"
    expect 2 "cannot be written"
    ;;
  into_sources)  # not into the folder of a source, however it is written, or below a folder of sources
    mkdir "$out/sources"
    cp "$here/hipify/left.cu" "$out/sources/a.cuh"
    ln -s sources "$out/link"
    printf 'print "overwritten";' >"$out/hipify-perl"
    hipify --hipify-perl "$out/hipify-perl" -o "$out/link/" "$out/sources/a.cuh"
    expect 2 "$out/link/ is the folder of the source $out/sources/a.cuh"
    hipify --hipify-perl "$out/hipify-perl" -o "$out/sources/new/results" "$out/sources"
    expect 2 "$out/sources/new/results is inside the folder of sources $out/sources"
    cmp "$here/hipify/left.cu" "$out/sources/a.cuh" && [ ! -e "$out/sources/new" ] || exit 1
    hipify --hipify-perl "$out/hipify-perl" -o "$out/sources/new" "$out/sources/a.cuh"
    expect 0
    ;;
  onto_sources)  # not onto a source, however a link leads to it
    mkdir -p "$out/below/src" "$out/results" "$out/other"
    printf 'print "overwritten";' >"$out/hipify-perl"
    make_source() { cp "$here/hipify/left.cu" "$1"; }
    # refused DIRECTORY SOURCE INPUT: the result a.h in DIRECTORY is refused, SOURCE stays.
    refused() {
      hipify --hipify-perl "$out/hipify-perl" -o "$1" "$3"
      expect 2 "the result $1/a.h is the source"
      cmp "$here/hipify/left.cu" "$2" || exit 1
    }
    # The source is a symbolic link to a file where the result would be.
    make_source "$out/below/a.h"
    ln -s ../a.h "$out/below/src/a.h"
    refused "$out/below" "$out/below/a.h" "$out/below/src"
    refused "$out/below" "$out/below/a.h" "$out/below/src/a.h"
    # The result would be written through a symbolic link, or a hard link, to the source.
    make_source "$out/other/a.h"
    ln -s ../other/a.h "$out/results/a.h"
    refused "$out/results" "$out/other/a.h" "$out/other/a.h"
    ln -f "$out/other/a.h" "$out/results/a.h"
    refused "$out/results" "$out/other/a.h" "$out/other"
    # The result of one source would be another one, which nothing is written to then.
    mkdir "$out/first"
    make_source "$out/first/b.h"
    ln -s ../first/b.h "$out/other/b.h"
    hipify --hipify-perl "$out/hipify-perl" -o "$out/other" "$out/first" "$out/below/a.h"
    expect 2 "the result $out/other/b.h is the source $out/first/b.h"
    [ "$(cat "$out/other/a.h")" != overwritten ] || exit 1
    # A file that is no source is replaced.
    hipify --hipify-perl "$out/hipify-perl" -o "$out/other" "$out/below/a.h"
    expect 0
    ;;
  missing)
    hipify --hipify-perl "$out/nowhere" "$here/hipify"
    expect 2 "nowhere does not exist"
    # A PATH without hipify-perl, but with the programs that the script needs.
    mkdir "$out/bin"
    ln -s "$(command -v perl)" "$(command -v env)" "$out/bin"
    if [ -e /opt/rocm/bin/hipify-perl ]; then
      echo "hipify-perl is in /opt/rocm: its absence cannot be tested here"
      exit 77
    fi
    PATH=$out/bin ROCM_PATH=$out hipify "$here/hipify"
    expect 2 "hipify-perl was found neither on PATH nor in ROCm's folder" "--hipify-perl"
    ;;
  *) echo "hipify.sh: unknown case \"$case\""; exit 1 ;;
esac
