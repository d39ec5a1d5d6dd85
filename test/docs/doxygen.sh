#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# doxygen.sh DOXYGEN DOXYFILE FOLDER: the reference of the public headers is made without a warning,
# and arrays have the operations of their bases.
set -euo pipefail
doxygen=$1
doxyfile=$2
folder=$3
if ! command -v "$doxygen" >/dev/null; then
  echo "no doxygen: install it, and configure again"
  exit 77
fi
mkdir -p "$folder"
rm -rf "$folder/xml"
if ! said=$("$doxygen" "$doxyfile" 2>&1) || [ -n "$said" ]; then
  echo "$said"
  echo "doxygen warns of public names without a comment, or of comments that it cannot read" >&2
  exit 1
fi
for member in copy_to_host reshape fill zero reshape_copy padded_shape record_stream; do
  if ! grep -q "<name>$member</name>" "$folder/xml/classroc_1_1device__array.xml"; then
    echo "the reference of roc::device_array lacks $member" >&2
    exit 1
  fi
done
