#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# installed_debs.sh FOLDER SONAME FOLDER-OF-PACKAGES...
# The packages, of one platform or of several, as dpkg installs, removes and purges them: on a whole
# system, and where dpkg leaves parts out (path-exclude: images of containers have no man pages).
# What is there is offered under the names without a platform, and nothing stays behind.
set -euo pipefail
out=$1
soname=$2
shift 2
if [ "$(id -u)" != 0 ]; then
  echo "only root can install packages"
  exit 77
fi
rm -rf "$out"
packages=()
names=()
libraries=()
for folder in "$@"; do packages+=("$folder"/*.deb); done
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

# offered LINK: whether it leads, by the alternatives, to a file below the root.
offered() {
  local target
  target=$(readlink "$root$1") && target=$(readlink "$root$target") && [ -s "$root$target" ]
}

# expect yes|no LINK
expect() {
  if [ "$1" = yes ]; then
    offered "$2" || fail "$2 is no alternative for a file of the packages"
  elif [ -e "$root$2" ] || [ -L "$root$2" ]; then
    fail "$2 is there, and leads nowhere"
  fi
}

left() {
  find "$root" \( -path "$root/var/lib/dpkg/status*" -o -path "$root/var/lib/dpkg/info/format" \
    -o -path "$root/var/log/*" -o -name "lock*" -o -name "*-old" -o -name triggers \) -prune \
    -o \( -type f -o -type l -o -path "*roc*" \) -print
}

# system NAME MAN COMPLETIONS [OPTION-OF-DPKG...]: what the tool offers beside itself there.
system() {
  case=$1
  local man=$2 completions=$3 count=${#names[@]} link file
  shift 3
  root=$out/$case
  mkdir -p "$root/var/lib/dpkg/"{updates,info,alternatives} "$root/var/log" \
    "$root/etc/alternatives" "$root/usr/bin"
  touch "$root/var/lib/dpkg/status"
  # What they depend on is not below this root.
  dpkg_here() {
    dpkg --root="$root" --log="$out/$case.log" --force-depends --force-script-chrootless "$@" \
      >"$out/$case.out" 2>&1 || { cat "$out/$case.out" >&2; fail "dpkg $1 failed"; }
  }
  dpkg_here "$@" -i "${packages[@]}"
  link=$(find "$root/usr/lib" -maxdepth 2 -name "$soname" -type l -not -path "*/rocarray-*")
  link=${link#"$root"}
  expect yes "${link:-/usr/lib/$soname}"
  if [ $tool = 1 ]; then
    expect yes /usr/bin/rocbench
    expect "$man" /usr/share/man/man1/rocbench.1.gz
    for file in bash-completion/completions/rocbench zsh/vendor-completions/_rocbench \
      fish/vendor_completions.d/rocbench.fish; do
      expect "$completions" "/usr/share/$file"
    done
    if [ "$man" = yes ]; then
      # Read to the end: who writes into a pipe that nobody reads fails.
      zcat "$root/usr/share/man/man1"/rocbench-*.1.gz | grep '^\.TH ROCBENCH 1' >/dev/null ||
        fail "the man page is none"
    fi
  fi
  # One platform goes; another one's library takes its place.
  for ((i = 0; i < ${#libraries[@]}; ++i)); do
    expect yes "$link"
    mapfile -t gone < <(printf '%s\n' "${names[@]}" | grep -E -- "-${libraries[i]}(-dev)?\$")
    dpkg_here -r "${gone[@]}"
    count=$((count - ${#gone[@]}))
  done
  [ $count = 0 ] || fail "$count packages are of no platform: ${names[*]}"
  expect no "$link"
  dpkg_here -P "${names[@]}"
  file=$(left)
  [ -z "$file" ] || fail "left behind: $file"
  echo "$case: installed, removed, purged"
}

system whole yes yes
system without_man_pages no yes "--path-exclude=/usr/share/man/*"
system without_completions yes no "--path-exclude=/usr/share/bash-completion/*" \
  "--path-exclude=/usr/share/zsh/*" "--path-exclude=/usr/share/fish/*"
system without_share no no "--path-exclude=/usr/share/*"
