#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# extract.sh AWK EXTRACT COMPILER: an invalid page is rejected, with the line in the message.
set -euo pipefail
awk=$1
extract=$2
compiler=$3
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT

# extracts LINE...: makes page.cpp from a page with an assumed block and these lines.
extracts() {
  printf '%s\n' '```cpp assumed' '#include <vector>' 'std::vector<int> v;' '```' '' "$@" >"$directory/page.md"
  "$awk" -v page=page.md -v part=host -v table=1 -f "$extract" "$directory/page.md" \
    >"$directory/page.cpp" 2>"$directory/messages"
}
compiles() { "$compiler" -std=c++20 -fsyntax-only "$directory/page.cpp" 2>"$directory/messages"; }
# reports TEXT: fails unless the last messages contain TEXT.
reports() {
  grep -qF "$1" "$directory/messages" && return
  echo "expected \"$1\", got:" >&2
  cat "$directory/messages" >&2
  exit 1
}
accepted() { echo "accepted: $*" >&2 && exit 1; }

head=('| theirs | rocarray |' '|---|---|')
extracts "${head[@]}" '| `a` | `v.clear();`<br>`bool b = v.empty() \|\| false;` |' '| `b` | – |'
compiles || { cat "$directory/messages" >&2 && exit 1; }

extracts "${head[@]}" '| `a` | `v.clear();` |' '| `a` | `v.nonsense();` |'
compiles && accepted "a line that does not compile"
reports 'page.md:9:'

extracts '```cpp' 'v.nonsense();' '```' "${head[@]}" '| `a` | `v.clear();` |'
compiles && accepted "a block that does not compile"
reports 'page.md:7:'

extracts '```cpp' '#include <string>' 'int main() { return std::string(1); }' '```' \
  "${head[@]}" '| `a` | `v.clear();` |'
compiles && accepted "a program that does not compile"
reports 'page.md:8:'

extracts 'No table.' && accepted "a page without rows"
reports 'no table has a column "rocarray"'
extracts "${head[@]}" '| `b` | – |' && accepted "a page without code"
reports 'no table has a column "rocarray"'
extracts "${head[@]}" '| `a` | `v.clear();` and words |' && accepted "words and code in one cell"
reports 'page.md:8: the rocarray column mixes code and words'
extracts "${head[@]}" '| `a` | `bool b = v.empty() || false;` |' && accepted "a bar that is not escaped"
reports 'page.md:8: a row must have two columns'
extracts '```cpp' 'v.clear();' && accepted "a block that is not closed"
reports 'is not closed'
