#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# consumer_install.sh CMAKE BUILD-DIRECTORY: installs a project that contains the library's source. The
# library, its headers and its documents are installed only if ROCARRAY_INSTALL is ON in its cache.
set -euo pipefail
cmake=$1
build=$2
out=$build/installation
rm -rf "$out"
"$cmake" --install "$build" --prefix "$out" >/dev/null
files=$(cd "$out" && find . -type f)
if ! grep -qx './bin/consumer' <<<"$files"; then
  echo "the project's own program is not installed: $files" >&2
  exit 1
fi
if grep -q '^ROCARRAY_INSTALL:BOOL=ON' "$build/CMakeCache.txt"; then
  for file in librocarray.a roc/roc.hpp rocarray.pc LICENSE docs/index.md examples/round_trip.cpp; do
    grep -q "/$file\$" <<<"$files" || { echo "$file is not installed" >&2; exit 1; }
  done
elif [ "$(wc -l <<<"$files")" != 1 ]; then
  echo "files of the library are installed: $files" >&2
  exit 1
fi
