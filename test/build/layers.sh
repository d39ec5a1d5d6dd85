#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# layers.sh REPOSITORY: checks the include directives of src and include/roc against the layers.
#
# Fails if a file includes a header of a higher layer, if a public header includes one of src, if files
# include each other in a cycle (foo.hpp and foo.cpp count as one), or if a source has no header of its
# name; src/platform/host/api implements HIP's own header. Prints the arrows between the layers with
# the number of include directives of each.
set -euo pipefail
cd "$1"

# From the bottom. A file may include its own layer and those before it.
layers=(
  src/base
  src/platform
  src/layout
  src/runtime
  src/memory/debug
  src/memory/device
  src/memory/pool
  src/memory/host
  src/kernels
  src/copy
  src/c_interface
  src/preload
)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Every include directive that names a file of the repository: "including file, included file".
find src include -name '*.[ch]pp' -o -name '*.h' -o -name '*.hip' | sort >"$scratch/files"
xargs grep -HoE '^ *# *include *[<"][^>"]+[>"]' <"$scratch/files" |
  sed -E 's/^([^:]+):[^<"]*[<"]([^>"]+)[>"]$/\1 \2/' |
  awk 'NR == FNR { files[$1]; next }
    {
      directory = $1
      sub(/[^\/]*$/, "", directory)
      if ("src/" $2 in files) print $1, "src/" $2
      else if ("include/" $2 in files) print $1, "include/" $2
      else if (directory $2 in files) print $1, directory $2
    }' "$scratch/files" - >"$scratch/includes"
if [ ! -s "$scratch/includes" ]; then
  echo "no include directive was found below $1" >&2
  exit 1
fi

status=0
printf '%s\n' "${layers[@]}" >"$scratch/layers"
awk 'NR == FNR { layers[++count] = $1; next }
  function rank(file,    i) {
    for (i = count; i > 0; --i) if (index(file, layers[i] "/") == 1) return i
    return 0
  }
  {
    from = rank($1)
    to = rank($2)
    if ($1 ~ /^src\// && !from) { print $1 " is in no layer; add its directory to test/build/layers.sh"; bad = 1 }
    if (to > from) { print $1 " includes " $2 " of a higher layer"; bad = 1 }
    if (from && to && from != to) ++arrows[from, to]
  }
  END {
    print "layers, from the top, and what they include:"
    for (from = count; from > 0; --from) {
      line = sprintf("  %-18s", layers[from])
      arrow = "->"
      for (to = from - 1; to > 0; --to) if ((from, to) in arrows) {
        line = line " " arrow " " layers[to] " (" arrows[from, to] ")"
        arrow = ""
      }
      print line
    }
    exit bad
  }' "$scratch/layers" "$scratch/includes" || status=1

# A source implements the header of its name: beside it, or a public one.
while read -r source; do
  name=$(basename "$source" .cpp)
  [ -e "${source%.cpp}.hpp" ] || grep -qE "^include/roc/(.*/)?$name\.h(pp)?$" "$scratch/files" || {
    echo "$source has no header of its name"
    status=1
  }
done < <(grep -E '^src/.*\.cpp$' "$scratch/files" | grep -v '^src/platform/host/api/' || true)

# tsort names the members of every cycle.
sed -E 's/\.(hpp|h|cpp|hip)( |$)/\2/g' "$scratch/includes" | awk '$1 != $2' >"$scratch/graph"
if ! tsort "$scratch/graph" >/dev/null 2>"$scratch/cycles"; then
  echo "include cycles, a header and its source counted as one:"
  sed -E 's/^tsort: //' "$scratch/cycles"
  status=1
fi
exit $status
