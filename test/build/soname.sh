#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# soname.sh READELF LIBRARY MAJOR.MINOR: checks the shared library's SONAME.
set -euo pipefail
found=$("$1" -d "$2" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
if [ "$found" != "librocarray.so.$3" ]; then
  echo "wrong SONAME of $2: \"$found\"; expected librocarray.so.$3" >&2
  exit 1
fi
