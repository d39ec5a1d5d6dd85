#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# headers.sh stand_alone|no_vendor|cost COMPILER FLAG...: what including the public headers takes.
set -euo pipefail
what=$1
shift
compile=("$@")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../include"

case $what in
  stand_alone)
    # What is below native/ belongs to a platform's compiler; the library's own build compiles it.
    compilers=("${compile[0]}")
    # Clang from version 15 on: older ones do not know std::source_location.
    for clang in clang++ clang++-{15..30}; do
      version=$("$clang" -dumpversion 2>/dev/null || echo 0)
      if [ "${version%%.*}" -ge 15 ]; then compilers+=("$clang") && break; fi
    done
    find roc -name '*.hpp' -not -path 'roc/native*' | while read -r header; do
      for compiler in "${compilers[@]}"; do
        echo "$header with $compiler"
        # Twice: a header must stand being included again.
        printf '#include <%s>\n#include <%s>\n' "$header" "$header" |
          "$compiler" "${compile[@]:1}" -Wall -Wextra -Werror -fsyntax-only -x c++ -
      done
    done
    ;;
  no_vendor)
    found=$(echo '#include <roc/roc.hpp>' | "${compile[@]}" -M -x c++ - | tr ' \\' '\n\n' |
      grep -Ei '(^|/)(hip|cuda|rocm|hsa)[^/]*/|/native' || true)
    if [ -n "$found" ]; then
      echo "roc/roc.hpp includes headers of a vendor, or the way to them:" "$found" >&2
      exit 1
    fi
    ;;
  cost)
    # The least of several runs: what the header costs, not what else the machine does.
    limit=${ROC_TEST_COMPILE_MILLISECONDS:-500}
    least=
    for _ in 1 2 3 4 5 6 7; do
      start=$(date +%s%N)
      echo '#include <roc/roc.hpp>' | "${compile[@]}" -fsyntax-only -x c++ -
      took=$((($(date +%s%N) - start) / 1000000))
      if [ -z "$least" ] || [ $took -lt "$least" ]; then least=$took; fi
    done
    echo "roc/roc.hpp compiles in $least ms; the limit is $limit"
    [ "$least" -lt "$limit" ]
    ;;
esac
