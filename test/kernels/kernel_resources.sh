#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kernel_resources.sh amd LIBRARY.a HIPCC | nvidia LIBRARY.a CUDA_BIN_DIRECTORY
#
# Reads the compiled kernels in a static library. Fails if a kernel for any architecture uses scratch
# (local) memory or spills vector registers, or if there is no kernel. On AMD it also fails if a kernel
# accesses memory by flat instructions, if it has four loads or more and waits for each before the next, or if
# it chooses elements of arrays in registers by comparisons with their numbers. Scalar registers that AMD's
# compiler spills to lanes of vector registers cost no memory access; they are only printed. Exits with 77
# if the tools that read device code are not installed.
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
# vector registers, spilled scalar registers, and for AMD flat instructions, loads, most loads in flight,
# comparisons of vector registers for equality.
amd_resources() {
  local bundler readelf objdump member targets target
  bundler=$("$toolkit" -print-prog-name=clang-offload-bundler 2>/dev/null)
  readelf=$("$toolkit" -print-prog-name=llvm-readelf 2>/dev/null)
  objdump=$("$toolkit" -print-prog-name=llvm-objdump 2>/dev/null)
  require "$bundler"
  require "$readelf"
  require "$objdump"
  require objcopy
  cd "$scratch"
  ar x "$library"
  for member in *.hip.o; do
    objcopy -O binary --only-section=.hip_fatbin "$member" bundle
    targets=$("$bundler" -list -type=o -input=bundle | grep amdgcn)
    for target in $targets; do
      "$bundler" -unbundle -type=o -input=bundle -targets="$target" -output=code
      # The disassembly names a kernel as `<name>:`, the notes as `name.kd`. Loads are counted in the
      # order of the instructions, whatever the branches.
      { "$objdump" -d code && "$readelf" --notes code; } | awk -v architecture="${target##*-}" '
        function wait_for(pending) { if (in_flight > pending) in_flight = pending }
        function hex(text, value, i) {  # the number after "0x"; awk reads decimal numbers only
          for (i = 3; i <= length(text); ++i) value = 16 * value + index("123456789abcdef", substr(text, i, 1))
          return value + 0
        }
        /^[0-9a-f]+ <.*>:$/ { code = substr($2, 2, length($2) - 3); in_flight = 0 }
        $1 ~ /^flat_/ { ++flat[code] }
        $1 ~ /^v_cmp_eq_u32/ { ++compared[code] }
        $1 ~ /^(global|flat)_load/ { ++loads[code]; if (++in_flight > most[code]) most[code] = in_flight }
        $1 == "s_waitcnt" && match($0, /vmcnt\([0-9]+/) { wait_for(substr($0, RSTART + 6, RLENGTH - 6) + 0) }
        $1 == "s_wait_loadcnt" { wait_for(hex($2)) }
        $1 == "s_wait_loadcnt_dscnt" { wait_for(int(hex($2) / 256)) }
        $1 == ".private_segment_fixed_size:" { bytes = $2 }
        $1 == ".sgpr_spill_count:" { scalar = $2 }
        $1 == ".symbol:" { kernel = substr($2, 1, length($2) - 3) }
        $1 == ".vgpr_spill_count:" {
          print architecture, kernel, bytes, $2, scalar, flat[kernel] + 0, loads[kernel] + 0, most[kernel] + 0, \
            compared[kernel] + 0
        }'
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
      print architecture, kernel, stack[2] + memory[2], 0, 0, 0, 0, 0, 0
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
  $6 != 0 {
    print $2 " has " $6 " flat instructions on " $1 "; take words of device memory from word_at()"
    bad = 1
  }
  $7 > 3 && $8 < 2 {
    print $2 " waits for each of its " $7 " loads before the next one on " $1 \
      "; initialize the registers that it loads to, and take word_register for small words"
    bad = 1
  }
  # Kernels without such a choice have at most 8, in divisions of 64-bit numbers.
  $9 > 16 {
    print $2 " compares " $9 " registers for equality on " $1 \
      "; use no index that is not constant, and no conditional operator on elements of an array"
    bad = 1
  }
  END { exit bad }' "$scratch/resources"
