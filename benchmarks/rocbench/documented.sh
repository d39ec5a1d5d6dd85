#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# documented.sh options|man_page|bash|shells PROGRAM: what rocbench's man page and completions say is
# what the program has.
set -euo pipefail
what=$1
program=$2
here=$(cd "$(dirname "$0")" && pwd)
page=$here/rocbench.1
status=0
wrong() { echo "$*" >&2 && status=1; }

commands() { "$program" --help | awk '/^Subcommands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'; }
# long_options [COMMAND]: as its help names them.
long_options() {
  "$program" "$@" --help | sed -nE 's/^  (-[a-z],)?(--[a-z-]+).*/\2/p' | sort -u
}
every_option() { { long_options; for each in $(commands); do long_options "$each"; done; } | sort -u; }
text=$(sed -E 's/\\f[BIRP]//g; s/\\-/-/g' "$page")
# part FROM TO: of the man page, between two headings.
part() { sed -n "/^\.SH $1/,/^\.SH $2/p" <<<"$text"; }

# same WHERE THERE TOLD: the second list is the first.
same() {
  local difference
  if ! difference=$(diff <(sort -u <<<"$2") <(sort -u <<<"$3")); then
    wrong "$1 and the program differ: < only the program has, > the program has not"
    grep '^[<>]' <<<"$difference" >&2
  fi
}

case $what in
  options)
    options=$(every_option)
    [ "$(wc -l <<<"$options")" -gt 10 ]
    same "the man page" "$options" "$(grep -oE '(^|[^a-z-])--[a-z-]+' <<<"$text" | grep -oE -- '--[a-z-]+')"
    same "completions/rocbench.bash" "$options" \
      "$(grep -oE -- '--[a-z][a-z-]+' "$here/completions/rocbench.bash")"
    same "completions/_rocbench" "$options" \
      "$(grep -oE -- "[',{]--[a-z][a-z-]+" "$here/completions/_rocbench" | cut -c 2-)"
    same "completions/rocbench.fish" "$options" \
      "$(grep '^complete' "$here/completions/rocbench.fish" | grep -oE -- ' -l [a-z-]+' | sed 's/ -l /--/')"
    told=$(part COMMANDS OPTIONS)
    for each in $(commands); do
      grep -qE "^\.(B|BR|BI) $each( |$)" <<<"$told" || wrong "the man page lacks the command $each"
      for file in "$here"/completions/*; do
        grep -qw -- "$each" "$file" || wrong "$file lacks the command $each"
      done
    done
    told=$(part CASES EXIT)
    for each in $("$program" list | cut -d ' ' -f 1 | sed 's,^raw/,,' | cut -d / -f 1 | sort -u); do
      grep -qF "$each/*" <<<"$told" || wrong "the man page lacks the cases $each/*"
    done
    for each in $("$program" --help | sed -nE 's/^ *--like [^{]*\{([^}]*)\}.*/\1/p' | tr ',' ' '); do
      grep -qw "$each" <<<"$text" || wrong "the man page lacks --like $each"
    done
    for each in $("$program" --help | sed -n '/^Exit codes:/,$p' | grep -oE '[0-9]+ ' | sort -u); do
      grep -qx "\.B $each" "$page" || wrong "the man page lacks the exit code $each"
    done
    ;;
  man_page)
    if ! command -v groff >/dev/null; then
      echo "no groff"
      exit 77
    fi
    said=$(groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null)
    [ -z "$said" ] || wrong "$said"
    # Lines that would be cut or run together where the page is shown.
    if command -v man >/dev/null; then
      said=$(man --warnings -l "$page" 2>&1 >/dev/null)
      [ -z "$said" ] || wrong "$said"
    fi
    ;;
  bash)
    # shellcheck disable=SC1091
    source "$here/completions/rocbench.bash"
    # completed WORD...: what the last one, which may be empty, can become.
    completed() {
      COMP_WORDS=("$program" "$@")
      COMP_CWORD=$#
      _rocbench 2>/dev/null
      printf '%s\n' "${COMPREPLY[@]}" | sort -u
    }
    complete -p rocbench >/dev/null || wrong "no completion is registered"
    same "completion of commands" "$(commands)" "$(completed '')"
    same "completion of options" "$(long_options)" "$(completed --)"
    for each in $(commands); do
      same "completion of options of $each" "$(long_options "$each")" "$(completed "$each" --)"
    done
    cases=$("$program" list | cut -d ' ' -f 1)
    same "completion of cases" "$cases" "$(completed run '')"
    same "completion of further cases" "$(grep ^d2h/ <<<"$cases")" "$(completed sweep h2d/pinned d2h/)"
    same "completion behind options" "$cases" "$(completed check --size 4K --strict '')"
    same "completion of --like" nvbandwidth "$(completed run --like nv)"
    same "completion of a size" "" "$(completed run --size '')"
    cd "$here"
    same "completion of files" rocbench.1 "$(completed compare rocbench.)"
    same "completion of a file to write" rocbench.1 "$(completed run --json rocbench.)"
    ;;
  shells)
    found=
    if command -v zsh >/dev/null; then
      found=1
      zsh -n "$here/completions/_rocbench" || wrong "zsh cannot read completions/_rocbench"
    fi
    if command -v fish >/dev/null; then
      found=1
      fish --no-execute "$here/completions/rocbench.fish" || wrong "fish cannot read rocbench.fish"
      said=$(PATH=$(dirname "$program"):$PATH fish --no-config -c "source $here/completions/rocbench.fish
        complete -C 'rocbench run h2d/pin'; complete -C 'rocbench sw'; complete -C 'rocbench compare --tol'")
      for each in h2d/pinned sweep --tolerance; do
        grep -q -- "^$each" <<<"$said" || wrong "fish does not complete $each: $said"
      done
    fi
    if [ -z "$found" ]; then
      echo "neither zsh nor fish"
      exit 77
    fi
    ;;
esac
exit $status
