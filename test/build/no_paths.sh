#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# no_paths.sh DIRECTORY PATH...: fails if a CMake file or a header of the installed package in
# DIRECTORY names one of the paths of the build.
set -euo pipefail
package=$1
shift
for path in "$@"; do
  if grep -rlF --include='*.cmake' --include='*.hpp' "$path/" "$package"; then
    echo "the files above name a path of the build: $path" >&2
    exit 1
  fi
done
