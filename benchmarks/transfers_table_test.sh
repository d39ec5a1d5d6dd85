#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# transfers_table_test.sh ROCBENCH DIRECTORY: tests that scripts/transfers_table.py reads the result
# files of ROCBENCH, and that it refuses unverified results and invalid files. Writes to DIRECTORY.
set -euo pipefail
rocbench=$1 directory=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
source "$here/../test/support/empty_directory.sh"
empty_directory "$directory"
# Options with which scripts/transfers would delete other results.
refuse() {
  local expected=$1 status=0
  shift
  output=$("$here/../scripts/transfers" "$@" 2>&1) || status=$?
  [ $status = 1 ] && grep -qF -- "$expected" <<<"$output" || { echo "transfers $*: $status: $output"; exit 1; }
}
refuse '--rocbench needs --results' --rocbench "$rocbench"
refuse '--before is the directory of --results' --results "$directory" --before "$directory"
refuse '--before is the directory of --results' --results "$directory" --before "$directory/." --table-only
touch "$directory/contiguous.json"
refuse '--before is the directory of --results' --results "$directory" \
  --before "$directory/contiguous.json" --table-only
# expect REGEX: fails unless a line of the output matches.
expect() { grep -qE "$1" <<<"$output" || { printf '%s\n' "$output"; echo "no line matches: $1"; exit 1; }; }

if ! output=$("$rocbench" run '?2?/p*' 'raw/?2?/p*' --size 4K,64K --min-time 0 --max-time 0.01 \
  --json "$directory/contiguous.json" 2>&1); then
  echo "$output"
  case $output in *"no device was found"*) exit 77 ;; esac
  exit 1
fi
"$rocbench" run async/d2h/pageable d2h/pageable --size 64K --min-time 0 --max-time 0.01 \
  --json "$directory/streams.json" >/dev/null 2>&1
"$rocbench" run box/every_2nd_element d2d/copy --size 64K --min-time 0 --max-time 0.01 \
  --json "$directory/boxes.json" >/dev/null 2>&1
"$rocbench" run alloc/pool raw/alloc/driver_pool --size 64K --min-time 0 --max-time 0.01 \
  --json "$directory/alloc.json" >/dev/null 2>&1
"$rocbench" run '*for_each/4d' '*for_each/stencil' --size 64K --min-time 0 --max-time 0.01 \
  --json "$directory/for_each.json" >/dev/null 2>&1
"$rocbench" run '*async/h2d/just_written' --size 64K --min-time 0 --max-time 0.01 \
  --json "$directory/small_copies.json" >/dev/null 2>&1
cat >"$directory/peers.json" <<'JSON'
{"peers": {"torch": "1", "cupy": "2"}, "failed": ["torch: tiles: no memory"],
 "rates": {"d2h/pageable/65536": {"torch": 1e18, "cupy": 2e18}, "alloc/65536": {"torch": 1e6},
           "box/every_2nd_element": {"cupy": 1e18}, "for_each": {"torch": 3e18}}}
JSON
output=$(python3 "$here/../scripts/transfers_table.py" "$directory")
expect '^\| d2h/pageable, 64 KiB \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \|'
expect '^\| every_2nd_element \| [0-9.]+ \| [0-9.]+ \| – \|'
expect '^\| D2: every second element, sectors, relative to a device copy \| 0.950 \| [0-9.]+ \| (met|missed, 1 of 1) \|'
expect '^\| D1: boxes, [^|]*torch and cupy \| 1.000 \| 0.000 \| missed, 1 of 1 \| box/every_2nd_element \| – \|'
expect '^\| P2: pageable, any size, [^|]*\| pageable, to the host, 64 KiB \| 1.000 \| [0-9.]+ \| – \|.*\| 1000000000.0 \| 2000000000.0 \|'
expect '^\| P7: allocation and free through the pool \| 100 ns \| [0-9.]+ ns \| (met|missed, 1 of 1) \| .*\| 1000 ns \| – \|'
expect '^\| D3: for_each, [^|]*\| 0.970 \| [0-9.]+ \| (met|missed, [12] of 2) \|'
expect '^\| D3: for_each, [^|]*\| for_each/stencil \| 0.970 \| [0-9.]+ \|'
expect '^\| c = a \+ b, rank 4 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| 3000000000.0 \| – \|'
expect '^\| five-point stencil \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| – \| – \|'
expect '^\| S4: [^|]*\| async/h2d/just_written, 64 KiB \| 0.980 \| [0-9.]+ \|'
expect '^\| async/h2d/just_written, 64 KiB \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \|'
expect '^Failed: torch: tiles: no memory\.'
expect '^\| pinned, to the device, 64 KiB \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \| 1.00 \|'
expect '^\| pageable, to the host, 4 KiB \| [0-9.]+ \| [0-9.]+ \|'
expect '^\| P2: pageable, any size, relative to HIP.s call \| 1.000 \| [0-9.]+ \| (met|missed, [0-9] of 4) \|'
expect '^\| P2: pageable, 64 MiB, relative to pinned \| 0.750 \| – \| – \|'
# An earlier version's results: a directory, or one file, which has no rows of other lengths.
for before in "$directory" "$directory/contiguous.json"; do
  output=$(python3 "$here/../scripts/transfers_table.py" --before "$before" "$directory")
  expect '^\| P2: pageable, any size, [^|]*\| pageable, to the host, 64 KiB \| 1.000 \| [0-9.]+ \| [0-9.]+ \| [0-9.]+ \|'
done
expect '^\| P7: [^|]*\| [^|]*\| [^|]*\| [^|]*\| alloc/pool, 64 KiB \| – \| [0-9]+ ns \|'
if python3 "$here/../scripts/transfers_table.py" --before "$directory/none" "$directory" 2>/dev/null; then exit 1; fi

PYTHONIOENCODING=ascii python3 "$here/../scripts/transfers_table.py" "$directory" >/dev/null

# Results that were not verified are refused.
sed 's/"verified": *true/"verified": false/' "$directory/alloc.json" >"$directory/wrong.json"
mkdir "$directory/times"
mv "$directory/wrong.json" "$directory/times/alloc.json"
if python3 "$here/../scripts/transfers_table.py" "$directory/times" 2>"$directory/error"; then exit 1; fi
grep -q "alloc: the data of alloc/pool was not verified" "$directory/error"
sed 's/"verified": *true/"verified": false/' "$directory/contiguous.json" >"$directory/wrong.json"
mv "$directory/wrong.json" "$directory/contiguous.json"
if python3 "$here/../scripts/transfers_table.py" "$directory" 2>"$directory/error"; then exit 1; fi
grep -q "was not verified" "$directory/error"
# The name of an invalid file is reported.
echo '{"context": ' >"$directory/contiguous.json"
if python3 "$here/../scripts/transfers_table.py" "$directory" 2>"$directory/error"; then exit 1; fi
grep -q "contiguous.json" "$directory/error"
