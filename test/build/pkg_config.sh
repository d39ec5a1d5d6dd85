#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pkg_config.sh static|shared FOLDER PKG-CONFIG-FOLDER NAME COMPILER: a program that is built with
# nothing but the compiler and pkg-config runs.
set -euo pipefail
kind=$1
out=$2
export PKG_CONFIG_PATH=$3
name=$4
compiler=$5
here=$(cd "$(dirname "$0")" && pwd)
if ! command -v pkg-config >/dev/null; then
  echo "no pkg-config"
  exit 77
fi
mkdir -p "$out"
read -ra flags <<<"$(pkg-config --cflags "$name")"
program=$out/consumer_$kind
if [ "$kind" = static ]; then
  read -ra libraries <<<"$(pkg-config --static --libs "$name")"
  libraries=("${libraries[@]/#-lrocarray/-l:librocarray.a}")
else
  read -ra libraries <<<"$(pkg-config --libs "$name")"
  libraries+=("-Wl,--enable-new-dtags,-rpath,$(pkg-config --variable=libdir "$name")")
fi
"$compiler" -std=c++20 "${flags[@]}" "$here/consumer/consumer.cpp" -o "$program" "${libraries[@]}"
needed=$(readelf -d "$program" | grep -c 'NEEDED.*librocarray' || true)
if [ "$kind" = static ] && [ "$needed" != 0 ]; then
  echo "the static program needs the shared library" >&2
  exit 1
fi
"$program"
