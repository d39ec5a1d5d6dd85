#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# side_by_side.sh FOLDER platform=build-tree...
# The Debian packages of several platforms, as each build's test made them, in one place: a project
# picks a platform when it is configured, and one program picks it when it starts. dpkg installs and
# removes them together.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1
shift
rm -rf "$out"
root=$out/root
mkdir -p "$root"
platforms=()
folders=()
for pair in "$@"; do
  platform=${pair%%=*}
  tree=${pair#*=}
  platforms+=("$platform")
  debs=$tree/test/build/debs
  folders+=("$debs")
  for package in "$debs"/*.deb; do
    # dpkg refuses a file that two packages have: so does this.
    clash=$(dpkg-deb -c "$package" | awk '$1 !~ /^d/ {print $6}' |
      while read -r file; do if [ -e "$root/$file" ]; then echo "$file"; fi; done)
    if [ -n "$clash" ]; then
      echo "$(basename "$package") has files of another platform's package: $clash" >&2
      exit 1
    fi
    dpkg-deb -x "$package" "$root"
  done
done

# run PLATFORM TREE PROGRAM: with that platform's library, and AMD's on its double without a GPU.
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

# The first one's program, with each library in turn.
for pair in "$@"; do
  run "${pair%%=*}" "${pair#*=}" "$out/consumer_${platforms[0]}/consumer"
done

if [ "$(id -u)" = 0 ]; then
  soname=$(basename "$(find "$root" -name "librocarray.so.[0-9]*.[0-9]*" -type l | head -n 1)")
  bash "$here/installed_debs.sh" "$out/installed" "$soname" "${folders[@]}"
fi
