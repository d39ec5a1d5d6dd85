#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# side_by_side.sh DIRECTORY platform=build-directory...
# Unpacks the Debian packages of several platforms, as each build's test made them, below one root. A
# project selects a platform when it is configured, and a program when it starts. dpkg installs and
# removes the packages together.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
source "$here/../support/empty_directory.sh"
empty_directory "$out"
root=$out/root
mkdir -p "$root"
platforms=()
package_directories=()
for pair in "$@"; do
  platform=${pair%%=*}
  tree=${pair#*=}
  platforms+=("$platform")
  debs=$tree/test/build/debs
  package_directories+=("$debs")
  for package in "$debs"/*.deb; do
    # As dpkg does, refuse a file that two packages contain.
    clash=$(dpkg-deb -c "$package" | awk '$1 !~ /^d/ {print $6}' |
      while read -r file; do if [ -e "$root/$file" ]; then echo "$file"; fi; done)
    if [ -n "$clash" ]; then
      echo "$(basename "$package") contains files of another platform's package: $clash" >&2
      exit 1
    fi
    dpkg-deb -x "$package" "$root"
  done
done

# run PLATFORM BUILD-DIRECTORY PROGRAM: runs it with that platform's library; amd without a GPU on the
# fake HIP runtime.
run() {
  local library status=0
  library=$(dirname "$(find "$root" -path "*/rocarray-$1/librocarray.so")")
  if [ "$1" = amd ] && [ ! -e /dev/kfd ]; then
    LD_LIBRARY_PATH=$library:$2/fake_runtime ROCARRAY_HOST_STUBS=$2/test/librocarray_library_host_stubs.so "$3" ||
      status=$?
  else
    LD_LIBRARY_PATH=$library "$3" || status=$?
  fi
  echo "$3 with the library of $1 ended with $status"
  return $status
}

for pair in "$@"; do
  platform=${pair%%=*}
  tree=${pair#*=}
  build=$out/consumer_$platform
  cmake -S "$here/consumer" -B "$build" -DCMAKE_PREFIX_PATH="$root/usr" -DKIND=shared \
    -DROCARRAY_PLATFORM="$platform" >"$build.log" 2>&1 &&
    cmake --build "$build" >>"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
  if ! grep -q "rocarray-$platform" "$build/CMakeCache.txt"; then
    echo "ROCARRAY_PLATFORM=$platform found the package of another platform" >&2
    exit 1
  fi
  run "$platform" "$tree" "$build/consumer"
done

# The program built for the first platform runs with the library of each.
for pair in "$@"; do
  run "${pair%%=*}" "${pair#*=}" "$out/consumer_${platforms[0]}/consumer"
done

if [ "$(id -u)" = 0 ]; then
  soname=$(basename "$(find "$root" -name "librocarray.so.[0-9]*.[0-9]*" -type l | head -n 1)")
  bash "$here/installed_debs.sh" "$out/installed" "$soname" "${package_directories[@]}"
fi
