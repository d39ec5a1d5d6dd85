#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh stand_alone|native|no_vendor|old_compiler|cost COMPILER FLAG...: checks the public headers.
#   stand_alone  every header compiles by itself, and twice in one file; <roc/c.h> also as C99
#   native       the same for the headers that include HIP, with the platform's flags
#   no_vendor    <roc/roc.hpp> includes no header of a vendor
#   old_compiler a compiler that is too old, or not set to C++20, stops with a message that says so
#   cost         <roc/roc.hpp> compiles fast enough, and does not include the slowest headers itself
set -euo pipefail
what=$1
shift
# CMake 3.31 and later pass an empty argument for an empty list of flags.
compile=()
for argument in "$@"; do
  if [ -n "$argument" ]; then compile+=("$argument"); fi
done
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../include"

# Prints the first clang++ of version 15 or later; older ones have no std::source_location.
find_clang() {
  local clang version
  for clang in clang++ clang++-{15..30}; do
    version=$("$clang" -dumpversion 2>/dev/null || echo 0)
    if [ "${version%%.*}" -ge 15 ]; then echo "$clang" && return; fi
  done
}

# check COMPILER HEADER...: compiles one file that includes every header twice.
check() {
  local compiler=$1
  shift
  echo "$* with $compiler"
  printf '#include <%s>\n' "$@" "$@" |
    "$compiler" "${compile[@]:1}" -Wall -Wextra -Werror -fsyntax-only -x c++ -
}

# check_each HEADER...: compiles every header by itself with the compiler, and all of them in one
# file with clang++, which uses the same C++ library.
check_each() {
  local header clang
  for header in "$@"; do check "${compile[0]}" "$header"; done
  clang=$(find_clang)
  if [ -n "$clang" ]; then check "$clang" "$@"; fi
}

case $what in
  stand_alone)
    mapfile -t headers < <(find roc -name '*.hpp' -not -path 'roc/native*' \
      -not -path 'roc/interop/dlpack*' -not -path 'roc/interop/thrust*' -not -path 'roc/interop/mpi*' \
      -not -path 'roc/interop/collectives*')
    [ ${#headers[@]} -gt 0 ]
    check_each "${headers[@]}" roc/c.h
    printf '#include <roc/c.h>\n#include <roc/c.h>\n' |
      "${compile[0]}" -I. -std=c99 -Wall -Wextra -Werror -pedantic -fsyntax-only -x c -
    ;;
  native)
    # The other files of native/ are included by these.
    check_each roc/native.hpp roc/native/hip.hpp roc/native/elementwise.hpp \
      roc/native/for_each_kernel.hpp
    # Thrust's headers need the device compiler: test/interop compiles them.
    if "${compile[@]}" -E -x c++ - <<<'#include <dlpack/dlpack.h>' >/dev/null 2>&1; then
      check_each roc/interop/dlpack.hpp
    fi
    # Needs NCCL or RCCL on the other platforms: test/interop compiles it there.
    if [[ " ${compile[*]} " == *ROCARRAY_PLATFORM_HOST* ]]; then
      check_each roc/interop/collectives.hpp roc/interop/collectives/*.hpp roc/interop/collectives/host/*.hpp
    fi
    # The flags of each MPI are those of its compiler wrapper.
    for wrapper in mpicc.openmpi mpicc.mpich; do
      command -v $wrapper >/dev/null || continue
      mapfile -t flags < <($wrapper -show | grep -oE -- '-I[^ ]+' | sed 's/^-I/-isystem/')
      compile+=("${flags[@]}")
      check_each roc/interop/mpi.hpp
      compile=("${compile[@]:0:${#compile[@]}-${#flags[@]}}")
    done
    ;;
  no_vendor)
    included=$(echo '#include <roc/roc.hpp>' | "${compile[@]}" -M -x c++ -)
    found=$(tr ' \\' '\n\n' <<<"$included" |
      grep -Ei '(^|/)(hip|cuda|rocm|hsa)[^/]*/|/native|/interop' || true)
    if [ -n "$found" ]; then
      echo "roc/roc.hpp includes headers of a vendor, or headers that include them:" "$found" >&2
      exit 1
    fi
    ;;
  old_compiler)
    # expect TEXT COMPILER FLAG...: the first error of <roc/roc.hpp> contains the text.
    expect() {
      local text=$1 message
      shift
      message=$(echo '#include <roc/roc.hpp>' | "$@" -I. -fsyntax-only -x c++ - 2>&1 | grep -m 1 error: || true)
      echo "$*: $message"
      [[ $message == *"$text"* ]] || { echo "expected: $text" >&2; exit 1; }
    }
    expect "rocarray needs C++20" "${compile[@]}" -std=c++17
    # An old version of a compiler is imitated by its macros, which its library reads as well.
    if "${compile[0]}" -dM -E -x c++ /dev/null | grep -q __clang__; then
      expect "rocarray needs Clang 15" "${compile[@]}" -Wno-everything -U__clang_major__ -D__clang_major__=14
    else
      expect "rocarray needs GCC 11" "${compile[@]}" -w -U__GNUC__ -D__GNUC__=10
    fi
    if command -v clang++-14 >/dev/null; then
      expect "rocarray needs Clang 15" clang++-14 -std=c++20
    fi
    ;;
  cost)
    # The speed of a machine varies by a factor of two, so the measure is relative to common headers
    # of the standard library, compiled alternately. Processor time, minimum of several runs: more on a
    # busy machine, whose caches other processes use.
    limit=${ROCARRAY_TEST_COMPILE_PERCENT:-150}
    reference='<algorithm> <functional> <iostream> <string> <vector>'
    # compile_headers HEADER...
    compile_headers() { printf '#include %s\n' "$@" | "${compile[@]}" -fsyntax-only -x c++ -; }
    # milliseconds HEADER...
    milliseconds() {
      local TIMEFORMAT='%3U %3S'
      { time compile_headers "$@"; } 2>&1 | awk '{printf "%d", 1000 * ($1 + $2)}'
    }
    # minimum A B: prints the smaller number; A may be empty.
    minimum() { if [ -z "$1" ] || [ "$2" -lt "$1" ]; then echo "$2"; else echo "$1"; fi; }
    compile_headers '<roc/roc.hpp>' # fails if the header does not compile
    mapfile -t headers < <(echo '#include <roc/roc.hpp>' | "${compile[@]}" -M -x c++ - |
      grep -oE 'include/roc/[a-z0-9_/]+[.]hpp' | sed 's,^include/,,' | sort -u)
    [ ${#headers[@]} -gt 10 ]
    slow=$(grep -lE '^#include <(algorithm|functional|iostream|ranges|regex)>' "${headers[@]}" || true)
    if [ -n "$slow" ]; then
      echo "headers of roc/roc.hpp include a header that is slow to compile:" "$slow" >&2
      exit 1
    fi
    ours='' standard=''
    for run in {1..25}; do
      ours=$(minimum "$ours" "$(milliseconds '<roc/roc.hpp>')")
      # shellcheck disable=SC2086 # one header a word
      standard=$(minimum "$standard" "$(milliseconds $reference)")
      percent=$((100 * ours / standard))
      if [ "$run" -ge 7 ] && [ "$percent" -lt "$limit" ]; then break; fi
    done
    echo "roc/roc.hpp compiles in $ours ms, $percent % of $reference ($standard ms); the limit is $limit %"
    [ "$percent" -lt "$limit" ]
    ;;
esac
