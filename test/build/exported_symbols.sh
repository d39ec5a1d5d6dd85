#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exported_symbols.sh check|write LIST NM LIBRARY
# Compares the symbols that the shared library exports with a list in the source tree. The list is
# the same on every platform; the host platform's HIP is not part of it. `write` replaces the list.
set -euo pipefail
export LC_ALL=C
mode=$1
list=$2
nm=$3
library=$4

# Functions, and the type information of exceptions; the functions of the C interface begin with roc_. Instances of the standard library's templates
# vary with the compiler; hipcc exports every kernel (weak, without type information).
exported=$("$nm" -D --defined-only "$library" |
  awk '$2 ~ /^[TDBR]$/ || ($2 == "V" && $3 ~ /^_ZT/) {print $3}' |
  grep -E '^_Z(N|NK|TIN|TSN|TVN)3roc|^roc_' | grep -vE '^_ZN3roc(8host_hip|12host_kernels)' | sort)
foreign=$("$nm" -D --defined-only "$library" | awk '$2 ~ /[TDBR]/ {print $3}' |
  grep -vE '^_Z.*3roc|^roc_' || true)

if [ "$mode" = write ]; then
  printf '%s\n' "$exported" >"$list"
  exit
fi
status=0
removed=$(comm -23 "$list" - <<<"$exported")
added=$(comm -13 "$list" - <<<"$exported")
if [ -n "$removed" ]; then
  echo "Removed symbols break programs that were linked before. If the removal is intended, raise the"
  echo "project's version (before 1.0 the minor one: it is in the SONAME), and update the list with"
  echo "  $0 write $list $nm $library"
  c++filt <<<"$removed" | sed 's/^/  - /'
  status=1
fi
if [ -n "$added" ]; then
  echo "New symbols. If they are intended, update the list with"
  echo "  $0 write $list $nm $library"
  c++filt <<<"$added" | sed 's/^/  + /'
  status=1
fi
if [ -n "$foreign" ]; then
  echo "Exported symbols outside namespace roc and without its prefix, which may collide with those of other libraries:"
  c++filt <<<"$foreign" | sed 's/^/  /'
  status=1
fi
exit $status
