#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# installed_debs.sh DIRECTORY SONAME PACKAGE-DIRECTORY...
# Installs, removes and purges the packages of one or several platforms with dpkg: on a whole system,
# and on systems where dpkg leaves files out (path-exclude: container images have no man pages).
# Installed files are offered under the names without a platform, and purging leaves nothing behind.
set -euo pipefail
out=$1
soname=$2
shift 2
if [ "$(id -u)" != 0 ]; then
  echo "only root can install packages"
  exit 77
fi
source "$(dirname "$0")/../support/empty_directory.sh"
empty_directory "$out"
packages=()
names=()
libraries=()
for directory in "$@"; do packages+=("$directory"/*.deb); done
for package in "${packages[@]}"; do
  name=$(dpkg-deb -f "$package" Package)
  names+=("$name")
  case $name in librocarray-*) ;; librocarray*) libraries+=("${name#librocarray*-}") ;; esac
done
tool=0
case "${names[*]}" in *rocarray-tools-*) tool=1 ;; esac

fail() {
  echo "$case: $*" >&2
  exit 1
}

# is_alternative LINK: succeeds if Debian's alternatives resolve the link to a file below the root.
is_alternative() {
  local target
  target=$(readlink "$root$1") && target=$(readlink "$root$target") && [ -s "$root$target" ]
}

# expect yes|no LINK
expect() {
  if [ "$1" = yes ]; then
    is_alternative "$2" || fail "$2 is not an alternative for a file of the packages"
  elif [ -e "$root$2" ] || [ -L "$root$2" ]; then
    fail "$2 is a dangling link"
  fi
}

# Prints the files that dpkg did not make for itself, and everything named after the library.
remaining_files() {
  (cd "$root" && find . \( -path "./var/lib/dpkg/status*" -o -path "./var/lib/dpkg/info/format" \
    -o -path "./var/log/*" -o -name "lock*" -o -name "*-old" -o -name triggers \) -prune \
    -o \( -type f -o -type l -o -path "*roc*" \) -print)
}

# check_system NAME MAN DOCUMENTS [DPKG-OPTION...]: yes or no for the man page and the copyright files selects
# whether they are expected to be installed.
check_system() {
  case=$1
  local man=$2 documents=$3 count=${#names[@]} link file name pc_file
  shift 3
  root=$out/$case
  mkdir -p "$root/var/lib/dpkg/"{updates,info,alternatives} "$root/var/log" \
    "$root/etc/alternatives" "$root/usr/bin"
  touch "$root/var/lib/dpkg/status"
  # The packages' dependencies are not below this root.
  dpkg_below_root() {
    dpkg --root="$root" --log="$out/$case.log" --force-depends --force-script-chrootless "$@" \
      >"$out/$case.out" 2>&1 || { cat "$out/$case.out" >&2; fail "dpkg $1 failed"; }
  }
  dpkg_below_root "$@" -i "${packages[@]}"
  link=$(cd "$root" && find usr/lib -maxdepth 2 -name "$soname" -type l -not -path "*/rocarray-*")
  link=/${link:-usr/lib/$soname}
  expect yes "$link"
  pc_file=$(cd "$root" && find usr/lib -name rocarray.pc)
  expect yes "/${pc_file:-usr/lib/pkgconfig/rocarray.pc}"
  for name in "${names[@]}"; do
    [ "$documents" = no ] || [ -s "$root/usr/share/doc/$name/copyright" ] || fail "$name has no copyright file"
  done
  if [ $tool = 1 ]; then
    expect yes /usr/bin/rocbench
    expect "$man" /usr/share/man/man1/rocbench.1.gz
    if [ "$man" = yes ]; then
      # grep without -q reads to the end: zcat fails if the pipe is closed early.
      zcat "$root/usr/share/man/man1"/rocbench-*.1.gz | grep '^\.TH ROCBENCH "1"' >/dev/null ||
        fail "the man page has no title line"
    fi
  fi
  # After one platform is removed, the library of another one takes its place.
  for ((i = 0; i < ${#libraries[@]}; ++i)); do
    expect yes "$link"
    mapfile -t removed < <(printf '%s\n' "${names[@]}" | grep -E -- "-${libraries[i]}(-dev)?\$")
    dpkg_below_root -r "${removed[@]}"
    count=$((count - ${#removed[@]}))
  done
  [ $count = 0 ] || fail "$count packages belong to no platform: ${names[*]}"
  expect no "$link"
  dpkg_below_root -P "${names[@]}"
  file=$(remaining_files)
  [ -z "$file" ] || fail "files remain: $file"
  echo "$case: installed, removed, purged"
}

# --path-include cancels the exclusions in dpkg's own configuration. The packages have no man page if
# help2man was missing.
has_man=no
for package in "${packages[@]}"; do
  if dpkg-deb -c "$package" | grep man1/rocbench >/dev/null; then has_man=yes; fi
done
check_system whole $has_man yes "--path-include=/usr/share/*"
check_system without_man_pages no yes "--path-include=/usr/share/*" "--path-exclude=/usr/share/man/*"
check_system without_share no no "--path-exclude=/usr/share/*"
# The configuration of dpkg in Ubuntu's images.
check_system of_a_container no yes "--path-include=/usr/share/*" "--path-exclude=/usr/share/man/*" \
  "--path-exclude=/usr/share/locale/*/LC_MESSAGES/*.mo" "--path-exclude=/usr/share/doc/*" \
  "--path-include=/usr/share/doc/*/copyright" "--path-include=/usr/share/doc/*/changelog.Debian.*"
