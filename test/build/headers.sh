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

# each_alone HEADER...: compiles every header by itself, with the compiler and with clang++.
each_alone() {
  local compilers=("${compile[0]}") clang version header compiler
  # Clang from version 15 on: older ones do not know std::source_location.
  for clang in clang++ clang++-{15..30}; do
    version=$("$clang" -dumpversion 2>/dev/null || echo 0)
    if [ "${version%%.*}" -ge 15 ]; then compilers+=("$clang") && break; fi
  done
  for header in "$@"; do
    for compiler in "${compilers[@]}"; do
      echo "$header with $compiler"
      # Twice: a header must stand being included again.
      printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
        "$compiler" "${compile[@]:1}" -Wall -Wextra -Werror -fsyntax-only -x c++ -
    done
  done
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
    # Processor time, and the least of several runs: what the header costs, not what else the
    # machine does.
    limit=${ROC_TEST_COMPILE_MILLISECONDS:-500}
    least=
    TIMEFORMAT='%3U %3S'
    for _ in 1 2 3 4 5 6 7; do
      took=$({ time "${compile[@]}" -fsyntax-only -x c++ - <<<'#include <roc/roc.hpp>'; } 2>&1)
      took=$(awk '{printf "%d", 1000 * ($1 + $2)}' <<<"$took")
      if [ -z "$least" ] || [ "$took" -lt "$least" ]; then least=$took; fi
    done
    echo "roc/roc.hpp compiles in $least ms; the limit is $limit"
    [ "$least" -lt "$limit" ]
    ;;
esac
