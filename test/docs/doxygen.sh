#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# doxygen.sh DOXYGEN SOURCE-DIRECTORY OUTPUT-DIRECTORY: Doxygen reads the public headers without a
# warning, so every public name has a brief, and roc::device_array has its operations.
set -euo pipefail
doxygen=$1
source=$2
output=$3
if ! command -v "$doxygen" >/dev/null; then
  echo "doxygen is not installed: install it and configure again"
  exit 77
fi
source "$(dirname "$0")/../support/empty_directory.sh"
empty_directory "$output"
cd "$source"
if ! warnings=$(ROCARRAY_DOCS_OUTPUT=$output "$doxygen" docs/Doxyfile 2>&1) || [ -n "$warnings" ]; then
  echo "$warnings"
  echo "Doxygen reports public names without a comment, or comments that it cannot parse" >&2
  exit 1
fi
for member in copy_to_host copy_to_device fill zero reshape reshape_copy padded_shape padded_view bind release \
  record_stream; do
  if ! grep -q "<name>$member</name>" "$output/xml/classroc_1_1device__array.xml"; then
    echo "the reference of roc::device_array lacks $member" >&2
    exit 1
  fi
done
