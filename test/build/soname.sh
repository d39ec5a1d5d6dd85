#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# soname.sh READELF LIBRARY MAJOR.MINOR: the shared library's name has its version.
set -euo pipefail
found=$("$1" -d "$2" | sed -n 's/.*SONAME.*\[\(.*\)\].*/\1/p')
if [ "$found" != "librocarray.so.$3" ]; then
  echo "$2 has the SONAME \"$found\", not librocarray.so.$3" >&2
  exit 1
fi
