#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# settings.sh SOURCE-FOLDER: docs/settings.md has a row for every variable that the library reads from
# the environment and every option of its build, and for nothing else.
set -euo pipefail
cd "$1"
read_by_name() {
  grep -rhoE '"ROCARRAY_[A-Z_]+"' src --include='*.cpp' --include='*.hpp' | tr -d '"'
  sed -nE 's/^ *option\(([A-Z_]+) .*/\1/p; s/^ *set\((ROCARRAY_[A-Z_]+) .*CACHE.*/\1/p' \
    CMakeLists.txt src/CMakeLists.txt scripts/cmake/*.cmake
}
rows() { sed -nE 's/^\| `([A-Z_]+)` \|.*/\1/p' docs/settings.md; }
there=$(read_by_name | sort -u)
told=$(rows | sort)
[ -n "$there" ]
if ! difference=$(diff <(echo "$there") <(echo "$told")); then
  echo "docs/settings.md and the source differ: < is not in the table, > not in the source" >&2
  grep '^[<>]' <<<"$difference" >&2
  exit 1
fi
echo "$(wc -l <<<"$there") settings"
