#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# one_object.sh DIRECTORY platform=build-directory...
# Compiles one object file with no platform defined, links it with the library of each platform and
# runs the programs: amd without a GPU on the fake HIP runtime; nvidia without a GPU must start and
# report that there is no device.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
mkdir -p "$out"
c++ -std=c++20 -O2 -I "$here/../../include" -c "$here/one_object/program.cpp" -o "$out/program.o"
for pair in "$@"; do
  platform=${pair%%=*}
  tree=${pair#*=}
  program=$out/program_$platform
  c++ "$out/program.o" -o "$program" -L "$tree/src" -lrocarray -Wl,-rpath,"$tree/src" -pthread
  status=0
  case $platform in
    amd)
      host_stubs=$tree/test/librocarray_library_host_stubs.so
      if [ -e /dev/kfd ]; then "$program" || status=$?; else
        LD_LIBRARY_PATH=$tree/fake_runtime ROCARRAY_HOST_STUBS=$host_stubs "$program" || status=$?; fi
      ;;
    *) "$program" || status=$? ;;
  esac
  if [ "$platform" = nvidia ] && [ ! -e /dev/nvidiactl ] && [ $status = 77 ]; then status=0; fi
  if [ $status != 0 ]; then
    echo "one_object: with the library of $platform the program ended with $status" >&2
    exit 1
  fi
done
