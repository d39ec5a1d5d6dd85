#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exported_symbols.sh check|write LIST NM LIBRARY
# The shared library's interface for linkers, held against a list in the source tree: the same on
# every platform, besides the host platform's HIP. `write` makes the list anew.
set -euo pipefail
export LC_ALL=C
what=$1
list=$2
nm=$3
library=$4

# Functions, and types by which exceptions are caught. Instances of the standard library's templates
# come and go with the compiler; hipcc hides no kernel (weak, and no type).
exported=$("$nm" -D --defined-only "$library" |
  awk '$2 ~ /^[TDBR]$/ || ($2 == "V" && $3 ~ /^_ZT/) {print $3}' |
  grep -E '^_Z(N|NK|TIN|TSN|TVN)3roc' | grep -v '^_ZN3roc8host_hip' | sort)
foreign=$("$nm" -D --defined-only "$library" | awk '$2 ~ /[TDBR]/ {print $3}' |
  grep -vE '^_Z.*3roc' || true)

if [ "$what" = write ]; then
  printf '%s\n' "$exported" >"$list"
  exit
fi
status=0
gone=$(comm -23 "$list" - <<<"$exported")
new=$(comm -13 "$list" - <<<"$exported")
if [ -n "$gone" ]; then
  echo "Programs that were linked before need these, which are gone; if that is meant, a new SONAME is"
  echo "too (the project's minor version before 1.0), and the list is written anew by"
  echo "  $0 write $list $nm $library"
  c++filt <<<"$gone" | sed 's/^/  - /'
  status=1
fi
if [ -n "$new" ]; then
  echo "New in the library's interface; if that is meant, write the list anew by"
  echo "  $0 write $list $nm $library"
  c++filt <<<"$new" | sed 's/^/  + /'
  status=1
fi
if [ -n "$foreign" ]; then
  echo "Exported, and not of namespace roc: they could meet others' names in a program"
  c++filt <<<"$foreign" | sed 's/^/  /'
  status=1
fi
exit $status
