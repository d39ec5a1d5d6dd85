#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# no_paths.sh FOLDER PATH...: nothing of the package's text names a place of the machine that built it.
set -euo pipefail
folder=$1
shift
for path in "$@"; do
  if grep -rlF --include='*.cmake' --include='*.hpp' "$path/" "$folder"; then
    echo "these files of the package name $path" >&2
    exit 1
  fi
done
