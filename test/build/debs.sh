#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# debs.sh CPACK BUILD-DIRECTORY DIRECTORY PLATFORM SONAME
# Makes the Debian packages, prints their sizes and installs them below DIRECTORY/root, from which
# consumers can be built: the alternatives, which are absolute links, are made relative to that root.
# Removing a package removes its alternative.
set -euo pipefail
cpack=$1
build=$2
out=$3
platform=$4
soname=$5
source "$(dirname "$0")/../support/empty_directory.sh"
empty_directory "$out"
root=$out/root
mkdir -p "$root/var/lib/dpkg/"{updates,info,alternatives} "$root/etc/alternatives" "$root/usr/bin"
touch "$root/var/lib/dpkg/status"
(cd "$build" && "$cpack" -G DEB -B "$out" >"$out/cpack.log") || { cat "$out/cpack.log"; exit 1; }
for package in "$out"/*.deb; do
  echo "$(basename "$package"): $(stat -c %s "$package") bytes"
done
if [ "$(id -u)" != 0 ]; then
  echo "only root can install packages: they are only unpacked"
  for package in "$out"/*.deb; do dpkg-deb -x "$package" "$root"; done
  exit
fi
# The packages' dependencies are not below this root. All files are installed, even if dpkg is
# configured to leave man pages out, as in container images.
install() {
  dpkg --root="$root" --log="$out/dpkg.log" --force-depends --force-script-chrootless \
    "--path-include=/usr/share/*" "$@" >"$out/dpkg.out" 2>&1 || { cat "$out/dpkg.out"; exit 1; }
}
install -i "$out"/*.deb
link=$(cd "$root" && find usr/lib -maxdepth 2 -name "$soname" -type l -not -path "*/rocarray-*")
target=$(readlink "$root/etc/alternatives/$soname" || true)
if [ -z "$link" ] || [[ $target != */rocarray-$platform/$soname ]]; then
  echo "$soname is not an alternative for the library of $platform: link \"$link\", target \"$target\"" >&2
  exit 1
fi
if [ ! -e "$root$target" ]; then
  echo "the alternative $target is not in the package" >&2
  exit 1
fi
pc_file=$(find "$root/usr/lib" -name rocarray.pc)
if [ -z "$pc_file" ] || [[ $(readlink "$root/etc/alternatives/rocarray.pc") != */rocarray-$platform.pc ]]; then
  echo "rocarray.pc is not an alternative for the file of $platform: \"$pc_file\"" >&2
  exit 1
fi
if ls "$out"/rocarray-tools* >/dev/null 2>&1; then
  tool=$(readlink "$root/etc/alternatives/rocbench")
  "$root$tool" --help >/dev/null
  if dpkg-deb -c "$out"/rocarray-tools*.deb | grep -q man1/rocbench; then
    page=$(readlink "$root$(readlink "$root/usr/share/man/man1/rocbench.1.gz")" || true)
    if [ -z "$page" ] || [ ! -s "$root$page" ]; then
      echo "the man page is not an alternative for the file of the tool's package: \"$page\"" >&2
      exit 1
    fi
  fi
fi
if ls "$out"/python3-rocarray* >/dev/null 2>&1; then
  package=$(readlink "$root/etc/alternatives/rocarray")
  LD_LIBRARY_PATH=${root}${target%/*}:${LD_LIBRARY_PATH:-} PYTHONPATH=$(dirname "$root$package") \
    PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "import rocarray; assert rocarray.platform == '$platform'"
fi
install -r "librocarray-$platform-dev" "${soname/.so./}-$platform"
if [ -e "$root/etc/alternatives/$soname" ] || [ -L "$root/etc/alternatives/$soname" ]; then
  echo "removing the package left the alternative $soname behind" >&2
  exit 1
fi
install -i "$out"/*.deb
test -e "$root$target"
for link in "$pc_file" "$root"/etc/alternatives/*; do
  ln -sfn "$(realpath --relative-to="${link%/*}" --no-symlinks "$root$(readlink "$link")")" "$link"
done
