#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# debs.sh CPACK BUILD-FOLDER FOLDER PLATFORM SONAME
# Makes the Debian packages and installs them below FOLDER/root, so that consumers can be built
# from there; says how large they are. Removing one takes its alternative back.
set -euo pipefail
cpack=$1
build=$2
out=$3
platform=$4
soname=$5
rm -rf "$out"
root=$out/root
mkdir -p "$root/var/lib/dpkg/"{updates,info,alternatives} "$root/etc/alternatives" "$root/usr/bin"
touch "$root/var/lib/dpkg/status"
(cd "$build" && "$cpack" -G DEB -B "$out" >"$out/cpack.log") || { cat "$out/cpack.log"; exit 1; }
for package in "$out"/*.deb; do
  echo "$(basename "$package"): $(stat -c %s "$package") bytes"
done
if [ "$(id -u)" != 0 ]; then
  echo "only root can install packages: these are unpacked"
  for package in "$out"/*.deb; do dpkg-deb -x "$package" "$root"; done
  exit
fi
# What they depend on is not below this root.
install() {
  dpkg --root="$root" --log="$out/dpkg.log" --force-depends --force-script-chrootless "$@" \
    >"$out/dpkg.out" 2>&1 || { cat "$out/dpkg.out"; exit 1; }
}
install -i "$out"/*.deb
link=$(find "$root/usr/lib" -maxdepth 2 -name "$soname" -type l -not -path "*/rocarray-*")
chosen=$(readlink "$root/etc/alternatives/$soname" || true)
if [ -z "$link" ] || [[ $chosen != */rocarray-$platform/$soname ]]; then
  echo "$soname is no alternative for the library of $platform: link \"$link\", choice \"$chosen\"" >&2
  exit 1
fi
if [ ! -e "$root${chosen}" ]; then
  echo "the alternative $chosen is not in the package" >&2
  exit 1
fi
if ls "$out"/rocarray-tools* >/dev/null 2>&1; then
  chosen_tool=$(readlink "$root/etc/alternatives/rocbench")
  "$root$chosen_tool" --help >/dev/null
  for file in man/man1/rocbench.1.gz bash-completion/completions/rocbench \
    zsh/vendor-completions/_rocbench fish/vendor_completions.d/rocbench.fish; do
    chosen_file=$(readlink "$root$(readlink "$root/usr/share/$file")" || true)
    if [ -z "$chosen_file" ] || [ ! -s "$root$chosen_file" ]; then
      echo "share/$file is no alternative for a file of the tool's package: \"$chosen_file\"" >&2
      exit 1
    fi
  done
fi
install -r "librocarray-$platform-dev" "${soname/.so./}-$platform"
if [ -e "$root/etc/alternatives/$soname" ] || [ -L "$root/etc/alternatives/$soname" ]; then
  echo "removing the package left the alternative $soname" >&2
  exit 1
fi
install -i "$out"/*.deb
test -e "$root${chosen}"
