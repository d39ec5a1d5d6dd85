#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# empty_directory.sh DIRECTORY: empty_directory deletes what is in a directory, but no sources. The
# directories that it must not delete are those of a copy of the script.
set -euo pipefail
out=$1/tree
rm -rf "$out"
mkdir -p "$out/copy/test/support"
cp "$(dirname "$0")/../support/empty_directory.sh" "$out/copy/test/support"
source "$out/copy/test/support/empty_directory.sh"

fail() { echo "$*" >&2 && exit 1; }
mkdir "$out/results"
touch "$out/results/old"
empty_directory "$out/results"
[ -d "$out/results" ] && [ ! -e "$out/results/old" ] || fail "what was there was not deleted"
empty_directory "$out/new/directory"
[ -d "$out/new/directory" ] || fail "a new directory was not made"

mkdir "$out/project" "$out/checkout" "$out/checkout/.git"
touch "$out/project/CMakeLists.txt"
for directory in project checkout copy . ../tree; do
  if message=$(empty_directory "$out/$directory" 2>&1); then fail "$directory was accepted"; fi
  [ -e "$out/$directory" ] && [ -e "$out/copy/test/support/empty_directory.sh" ] ||
    fail "$directory was deleted"
  case $message in "$out/$directory has sources"*) ;; *) fail "the message is: $message" ;; esac
done
