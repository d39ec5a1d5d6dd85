#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# extract.sh AWK EXTRACT COMPILER: what is wrong on a page of the guide fails, and says where.
set -euo pipefail
awk=$1
extract=$2
compiler=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# extracted LINE...: makes page.cpp of a page with an assumption and these lines.
extracted() {
  printf '%s\n' '```cpp assumed' '#include <vector>' 'std::vector<int> v;' '```' '' "$@" >"$folder/page.md"
  "$awk" -v page=page.md -v part=host -v table=1 -f "$extract" "$folder/page.md" \
    >"$folder/page.cpp" 2>"$folder/said"
}
compiles() { "$compiler" -std=c++20 -fsyntax-only "$folder/page.cpp" 2>"$folder/said"; }
# says TEXT: the words of what was refused.
says() {
  grep -qF "$1" "$folder/said" && return
  echo "expected \"$1\", got:" >&2
  cat "$folder/said" >&2
  exit 1
}
wrong() { echo "this was taken: $*" >&2 && exit 1; }

head=('| theirs | rocarray |' '|---|---|')
extracted "${head[@]}" '| `a` | `v.clear();`<br>`bool b = v.empty() \|\| false;` |' '| `b` | – |'
compiles || { cat "$folder/said" >&2 && exit 1; }

extracted "${head[@]}" '| `a` | `v.clear();` |' '| `a` | `v.nonsense();` |'
compiles && wrong "a line that does not compile"
says 'page.md:9:'

extracted '```cpp' 'v.nonsense();' '```' "${head[@]}" '| `a` | `v.clear();` |'
compiles && wrong "a block that does not compile"
says 'page.md:7:'

extracted '```cpp' '#include <string>' 'int main() { return std::string(1); }' '```' \
  "${head[@]}" '| `a` | `v.clear();` |'
compiles && wrong "a program that does not compile"
says 'page.md:8:'

extracted 'No table.' && wrong "a page without rows"
says 'is missing'
extracted "${head[@]}" '| `b` | – |' && wrong "a page without code"
says 'is missing'
extracted "${head[@]}" '| `a` | `v.clear();` and words |' && wrong "words beside code"
says 'page.md:8: our column has code beside words'
extracted "${head[@]}" '| `a` | `bool b = v.empty() || false;` |' && wrong "a bar"
says 'page.md:8: a row has two columns'
extracted '```cpp' 'v.clear();' && wrong "a block without an end"
says 'has no end'
