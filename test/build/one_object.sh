#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# one_object.sh FOLDER platform=build-tree...
# One object file, compiled once without a word about a platform, linked with each platform's
# library and run where that can run: the host, AMD's library on its CPU double, NVIDIA's if there
# is a GPU (without one the program must still start and say that there is no device).
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
      twins=$tree/test/librocarray_library_host_stubs.so
      if [ -e /dev/kfd ]; then "$program" || status=$?; else
        LD_LIBRARY_PATH=$tree/fake_runtime ROCARRAY_HOST_STUBS=$twins "$program" || status=$?; fi
      ;;
    *) "$program" || status=$? ;;
  esac
  if [ "$platform" = nvidia ] && [ ! -e /dev/nvidiactl ] && [ $status = 77 ]; then status=0; fi
  if [ $status != 0 ]; then
    echo "one_object: with the library of $platform the program ended with $status" >&2
    exit 1
  fi
done
