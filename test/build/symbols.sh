#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh NM LIBRARY...: the host library defines no C symbol of HIP, so that it never stands in
# the way of a real runtime in one process.
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
