#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pkg_config.sh static|shared DIRECTORY PKG-CONFIG-DIRECTORY NAME COMPILER
# Builds a program with only the compiler and pkg-config, and runs it.
set -euo pipefail
kind=$1
out=$2
export PKG_CONFIG_PATH=$3
name=$4
compiler=$5
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v pkg-config >/dev/null; then
  echo "pkg-config was not found"
  exit 77
fi
mkdir -p "$out"
# pkg-config quotes its output for a shell.
eval "flags=($(pkg-config --cflags "$name"))"
program=$out/consumer_$kind
if [ "$kind" = static ]; then
  eval "libraries=($(pkg-config --static --libs "$name"))"
  libraries=("${libraries[@]/#-lrocarray/-l:librocarray.a}")
else
  eval "libraries=($(pkg-config --libs "$name"))"
  for flag in "${libraries[@]}"; do
    case $flag in -L*) libraries+=("-Wl,--enable-new-dtags,-rpath,${flag#-L}") ;; esac
  done
fi
"$compiler" -std=c++20 "${flags[@]}" "$here/consumer/consumer.cpp" -o "$program" "${libraries[@]}"
needed=$(readelf -d "$program" | grep -c 'NEEDED.*librocarray' || true)
if [ "$kind" = static ] && [ "$needed" != 0 ]; then
  echo "the statically linked program needs the shared library" >&2
  exit 1
fi
"$program"
