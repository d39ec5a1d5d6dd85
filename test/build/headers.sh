#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh stand_alone|native|no_vendor|cost COMPILER FLAG...: what including the public headers
# takes. `native` is given the platform's flags; the others need none.
set -euo pipefail
what=$1
shift
compile=("$@")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../include"

# clang_at_hand: the first clang++ from version 15 on: older ones do not know std::source_location.
clang_at_hand() {
  local clang version
  for clang in clang++ clang++-{15..30}; do
    version=$("$clang" -dumpversion 2>/dev/null || echo 0)
    if [ "${version%%.*}" -ge 15 ]; then echo "$clang" && return; fi
  done
}

# check COMPILER HEADER...: in one file, twice: a header must stand being included again.
check() {
  local compiler=$1
  shift
  echo "$* with $compiler"
  printf '#include <%s>\n' "$@" "$@" |
    "$compiler" "${compile[@]:1}" -Wall -Wextra -Werror -fsyntax-only -x c++ -
}

# each_alone HEADER...: compiles every header by itself with the compiler; and all of them with
# clang++, whose C++ library, so what a header lacks, is the same.
each_alone() {
  local header clang
  for header in "$@"; do check "${compile[0]}" "$header"; done
  clang=$(clang_at_hand)
  if [ -n "$clang" ]; then check "$clang" "$@"; fi
}

case $what in
  stand_alone)
    mapfile -t headers < <(find roc -name '*.hpp' -not -path 'roc/native*' \
      -not -path 'roc/interop/dlpack*' -not -path 'roc/interop/thrust*')
    [ ${#headers[@]} -gt 0 ]
    each_alone "${headers[@]}"
    ;;
  native)
    # The other files below native/ are parts of these.
    each_alone roc/native.hpp roc/native/hip.hpp roc/native/elementwise.hpp
    # Thrust's headers are for the device compiler, which test/interop has.
    if "${compile[@]}" -E -x c++ - <<<'#include <dlpack/dlpack.h>' >/dev/null 2>&1; then
      each_alone roc/interop/dlpack.hpp
    fi
    ;;
  no_vendor)
    included=$(echo '#include <roc/roc.hpp>' | "${compile[@]}" -M -x c++ -)
    found=$(tr ' \\' '\n\n' <<<"$included" |
      grep -Ei '(^|/)(hip|cuda|rocm|hsa)[^/]*/|/native|/interop' || true)
    if [ -n "$found" ]; then
      echo "roc/roc.hpp includes headers of a vendor, or the way to them:" "$found" >&2
      exit 1
    fi
    ;;
  cost)
    # Machines differ by a factor of two, from one hour to the next too. So the measure is what a
    # user pays anyway: common headers of the standard library, compiled in turns with ours.
    # Processor time, and the least of several runs: not what else the machine does.
    limit=${ROCARRAY_TEST_COMPILE_PERCENT:-150}
    usual='<algorithm> <functional> <iostream> <string> <vector>'
    # compiled HEADER...
    compiled() { printf '#include %s\n' "$@" | "${compile[@]}" -fsyntax-only -x c++ -; }
    # milliseconds HEADER...
    milliseconds() {
      local TIMEFORMAT='%3U %3S'
      { time compiled "$@"; } 2>&1 | awk '{printf "%d", 1000 * ($1 + $2)}'
    }
    # least A B: the smaller number; the first round has nothing to compare with.
    least() { if [ -z "$1" ] || [ "$2" -lt "$1" ]; then echo "$2"; else echo "$1"; fi; }
    compiled '<roc/roc.hpp>' # what does not compile costs little
    ours= standard=
    for _ in 1 2 3 4 5 6 7; do
      ours=$(least "$ours" "$(milliseconds '<roc/roc.hpp>')")
      # shellcheck disable=SC2086 # one header a word
      standard=$(least "$standard" "$(milliseconds $usual)")
    done
    percent=$((100 * ours / standard))
    echo "roc/roc.hpp compiles in $ours ms, $percent % of $usual ($standard ms); the limit is $limit %"
    [ "$percent" -lt "$limit" ]
    ;;
esac
