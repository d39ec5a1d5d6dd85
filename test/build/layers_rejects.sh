#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# layers_rejects.sh DIRECTORY: layers.sh fails, and names the files, for an include of a higher layer,
# for a cycle, for a directory that is in no layer, and for a source without a header.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$1/tree

# expect TEXT FILE INCLUDED-FILE [FILE INCLUDED-FILE]...
expect() {
  local text=$1 output
  shift
  rm -rf "$tree"
  mkdir -p "$tree/include/roc"
  while [ $# -gt 0 ]; do
    mkdir -p "$tree/$(dirname "$1")" "$tree/$(dirname "$2")"
    echo "#include \"${2#src/}\"" >>"$tree/$1"
    touch "$tree/$2"
    shift 2
  done
  if output=$(bash "$here/layers.sh" "$tree" 2>&1); then
    echo "layers.sh accepted a tree that it must reject: $text" >&2
    exit 1
  fi
  case $output in
    *"$text"*) echo "rejected: $text" ;;
    *) echo "\"$text\" is missing in: $output" >&2; exit 1 ;;
  esac
}

expect "src/base/a.hpp includes src/copy/b.hpp of a higher layer" src/base/a.hpp src/copy/b.hpp
expect "src/base/b" src/base/a.cpp src/base/b.hpp src/base/b.cpp src/base/a.hpp
expect "src/attic/a.hpp is in no layer" src/attic/a.hpp src/base/b.hpp
expect "src/base/a.cpp has no header of its name" src/base/a.cpp src/base/b.hpp
