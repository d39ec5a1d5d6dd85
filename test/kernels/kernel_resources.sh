#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kernel_resources.sh amd LIBRARY.a HIPCC | nvidia LIBRARY.a CUDA_BIN_DIRECTORY
#
# Reads the compiled kernels in a static library. Fails if a kernel for any architecture uses scratch
# (local) memory, spills vector registers, or if there is no kernel. Scalar registers that AMD's compiler
# spills to lanes of vector registers cost no memory access; they are only printed. Exits with 77 if the
# tools that read device code are not installed.
set -euo pipefail
export LC_ALL=C

platform=$1
library=$(realpath "$2")
toolkit=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# require PROGRAM: exits with 77 if it is not installed.
require() {
  command -v "$1" >/dev/null || { echo "$1 is not installed" >&2 && exit 77; }
}

# Both functions print a line for each kernel: architecture, kernel, bytes of scratch memory, spilled
# vector registers, spilled scalar registers.
amd_resources() {
  local bundler readelf member targets target
  bundler=$("$toolkit" -print-prog-name=clang-offload-bundler 2>/dev/null)
  readelf=$("$toolkit" -print-prog-name=llvm-readelf 2>/dev/null)
  require "$bundler"
  require "$readelf"
  require objcopy
  cd "$scratch"
  ar x "$library"
  for member in *.hip.o; do
    objcopy -O binary --only-section=.hip_fatbin "$member" bundle
    targets=$("$bundler" -list -type=o -input=bundle | grep amdgcn)
    for target in $targets; do
      "$bundler" -unbundle -type=o -input=bundle -targets="$target" -output=code
      "$readelf" --notes code | awk -v architecture="${target##*-}" '
        $1 == ".private_segment_fixed_size:" { bytes = $2 }
        $1 == ".sgpr_spill_count:" { scalar = $2 }
        $1 == ".symbol:" { kernel = $2 }
        $1 == ".vgpr_spill_count:" { print architecture, kernel, bytes, $2, scalar }'
    done
  done
}

nvidia_resources() {
  local cuobjdump=$toolkit/cuobjdump
  require "$cuobjdump"
  "$cuobjdump" --dump-resource-usage "$library" | awk '
    $1 == "arch" { architecture = $3 }
    $1 == "Function" { kernel = $2 }
    $1 ~ /^REG:/ && kernel != "" {
      split($2, stack, ":")
      split($4, memory, ":")
      print architecture, kernel, stack[2] + memory[2], 0, 0
      kernel = ""
    }'
}

"${platform}_resources" >"$scratch/resources"
if ! [ -s "$scratch/resources" ]; then
  echo "$library contains no kernels"
  exit 1
fi
awk '{ ++kernels[$1] } END { for (i in kernels) print i ": " kernels[i] " kernels" }' "$scratch/resources"
awk '$5 != 0 { print $2 " spills " $5 " scalar registers on " $1 }
  $3 + $4 != 0 {
    print $2 " uses " $3 " bytes of scratch memory and spills " $4 " registers on " $1 \
      "; copy the members of structs one by one, or keep fewer values at once"
    bad = 1
  }
  END { exit bad }' "$scratch/resources"
