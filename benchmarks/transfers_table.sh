#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# transfers_table.sh ROCBENCH FOLDER: scripts/transfers_table.py reads what rocbench writes, and fails
# for what it cannot read.
set -euo pipefail
rocbench=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
rm -rf "$folder"
mkdir -p "$folder"
expect() { grep -qE "$1" <<<"$printed" || { printf '%s\n' "$printed"; echo "lacks: $1"; exit 1; }; }

if ! printed=$("$rocbench" run '?2?/p*' 'raw/?2?/p*' --size 4K,64K --min-time 0 --max-time 0.01 \
  --json "$folder/contiguous.json" 2>&1); then
  echo "$printed"
  case $printed in *"no device was found"*) exit 77 ;; esac
  exit 1
fi
printed=$(python3 "$here/../scripts/transfers_table.py" "$folder")
expect '^\| pinned, to the device, 64 KiB \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| 1.00 \|'
expect '^\| pageable, back, 4 KiB \| [0-9.]+ \| [0-9.]+ \|'
expect '^\| any host memory, any size, of HIP.s call \| 0.97 \| [0-9.]+ \| (reached|missed) \|'
expect '^\| pageable, 64 MiB, of pinned \| 0.75 \| – \| – \|'

# A figure whose bytes were not verified is no figure.
sed 's/"verified": *true/"verified": false/' "$folder/contiguous.json" >"$folder/wrong.json"
mv "$folder/wrong.json" "$folder/contiguous.json"
if python3 "$here/../scripts/transfers_table.py" "$folder" 2>"$folder/said"; then exit 1; fi
grep -q "was not verified" "$folder/said"
echo '{"context": ' >"$folder/contiguous.json"
if python3 "$here/../scripts/transfers_table.py" "$folder" 2>"$folder/said"; then exit 1; fi
grep -q "contiguous.json" "$folder/said"
