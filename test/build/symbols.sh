#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh NM LIBRARY...: fails if the host library defines a C symbol of HIP or CUDA: it must not
# replace those of a real runtime in the same process.
set -euo pipefail
nm=$1
shift
for library in "$@"; do
  found=$("$nm" --defined-only "$library" 2>/dev/null | awk '$3 ~ /^(hip|__hip|cuda|hsa)/ {print $3}')
  if [ -n "$found" ]; then
    echo "$library defines $found" >&2
    exit 1
  fi
done
