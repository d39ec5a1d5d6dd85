# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Makes the directories that tests write to. Sourced by scripts.

# empty_directory DIRECTORY: makes an empty directory. Deletes what is there, unless it is a source
# tree or contains this one, which a wrong argument may name.
empty_directory() {
  local sources
  sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
  if [ -d "$1" ]; then
    case $sources/ in
      "$(cd "$1" && pwd -P)"/*) sources= ;;
    esac
  fi
  if [ -z "$sources" ] || [ -e "$1/.git" ] || [ -e "$1/CMakeLists.txt" ]; then
    echo "$1 has sources, which would be deleted: name another directory" >&2
    exit 1
  fi
  rm -rf "$1"
  mkdir -p "$1"
}
