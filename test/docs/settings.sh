#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# settings.sh SOURCE-DIRECTORY: docs/settings.md has a row for every environment variable that the
# library reads and for every option of its build, and for nothing else. src/base/environment.cpp also
# has the names that tests and scripts read, so it is not searched.
set -euo pipefail
cd "$1"
names_in_source() {
  grep -rhoE '"ROCARRAY_[A-Z0-9_]+"' src --include='*.cpp' --include='*.hpp' \
    --exclude=environment.cpp | tr -d '"'
  # CACHE may be on the line after set().
  sed -nE '/^ *set\(ROCARRAY_[A-Z_]+ [^)]*$/N
    s/^ *option\(([A-Z_]+) .*/\1/p; s/^ *set\((ROCARRAY_[A-Z_]+) .*CACHE.*/\1/p' \
    CMakeLists.txt src/CMakeLists.txt test/CMakeLists.txt scripts/cmake/*.cmake
}
names_in_table() { sed -nE 's/^\| `([A-Z0-9_]+)` \|.*/\1/p' docs/settings.md; }
in_source=$(names_in_source | sort -u)
in_table=$(names_in_table | sort)
[ -n "$in_source" ]
if ! difference=$(diff <(echo "$in_source") <(echo "$in_table")); then
  echo "docs/settings.md differs from the source; < is only in the source, > only in the table:" >&2
  grep '^[<>]' <<<"$difference" >&2
  exit 1
fi
echo "$(wc -l <<<"$in_source") settings"
