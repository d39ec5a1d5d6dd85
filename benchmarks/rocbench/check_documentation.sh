#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# check_documentation.sh options|man_page|bash|shells PROGRAM: checks that rocbench's man page and
# completions have the same commands, options and cases as the program.
set -euo pipefail
check=$1
program=$2
here=$(cd "$(dirname "$0")" && pwd)
page=$here/rocbench.1
status=0
fail() { echo "$*" >&2 && status=1; }

commands() { "$program" --help | awk '/^Subcommands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }'; }
# long_options [COMMAND]: prints the long options in the command's help.
long_options() {
  "$program" "$@" --help | sed -nE 's/^  (-[a-z],)?(--[a-z-]+).*/\2/p' | sort -u
}
all_options() {
  {
    long_options
    for command in $(commands); do long_options "$command"; done
  } | sort -u
}
text=$(sed -E 's/\\f[BIRP]//g; s/\\-/-/g' "$page")
# section FROM TO: prints the man page between two headings.
section() { sed -n "/^\.SH $1/,/^\.SH $2/p" <<<"$text"; }

# expect_same NAME EXPECTED ACTUAL: fails if the two lists differ.
expect_same() {
  local difference
  if ! difference=$(diff <(sort -u <<<"$2") <(sort -u <<<"$3")); then
    fail "$1 differs from the program: < is missing, > does not exist in the program"
    grep '^[<>]' <<<"$difference" >&2
  fi
}

case $check in
  options)
    options=$(all_options)
    [ "$(wc -l <<<"$options")" -gt 10 ]
    expect_same "the man page" "$options" \
      "$(grep -oE '(^|[^a-z-])--[a-z-]+' <<<"$text" | grep -oE -- '--[a-z-]+')"
    expect_same "completions/rocbench.bash" "$options" \
      "$(grep -oE -- '--[a-z][a-z-]+' "$here/completions/rocbench.bash")"
    expect_same "completions/_rocbench" "$options" \
      "$(grep -oE -- "[',{]--[a-z][a-z-]+" "$here/completions/_rocbench" | cut -c 2-)"
    expect_same "completions/rocbench.fish" "$options" \
      "$(grep '^complete' "$here/completions/rocbench.fish" | grep -oE -- ' -l [a-z-]+' | sed 's/ -l /--/')"
    documented=$(section COMMANDS OPTIONS)
    for command in $(commands); do
      grep -qE "^\.(B|BR|BI) $command( |$)" <<<"$documented" ||
        fail "the man page lacks the command $command"
      for file in "$here"/completions/*; do
        grep -qw -- "$command" "$file" || fail "$file lacks the command $command"
      done
    done
    documented=$(section CASES EXIT)
    for group in $("$program" list | cut -d ' ' -f 1 | sed 's,^raw/,,' | cut -d / -f 1 | sort -u); do
      grep -qF "$group/*" <<<"$documented" || fail "the man page lacks the cases $group/*"
    done
    for tool in $("$program" --help | sed -nE 's/^ *--like [^{]*\{([^}]*)\}.*/\1/p' | tr ',' ' '); do
      grep -qw "$tool" <<<"$text" || fail "the man page lacks --like $tool"
    done
    for code in $("$program" --help | sed -n '/^Exit codes:/,$p' | grep -oE '[0-9]+ ' | sort -u); do
      grep -qx "\.B $code" "$page" || fail "the man page lacks the exit code $code"
    done
    ;;
  man_page)
    if ! command -v groff >/dev/null; then
      echo "groff is not installed"
      exit 77
    fi
    warnings=$(groff -ww -man -Tutf8 "$page" 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "$warnings"
    # man also warns about lines that do not fit.
    if command -v man >/dev/null; then
      warnings=$(man --warnings -l "$page" 2>&1 >/dev/null)
      [ -z "$warnings" ] || fail "$warnings"
    fi
    ;;
  bash)
    # shellcheck disable=SC1091
    source "$here/completions/rocbench.bash"
    # completions WORD...: prints the completions of the last word, which may be empty.
    completions() {
      COMP_WORDS=("$program" "$@")
      COMP_CWORD=$#
      _rocbench 2>/dev/null
      printf '%s\n' "${COMPREPLY[@]}" | sort -u
    }
    complete -p rocbench >/dev/null || fail "no completion is registered"
    expect_same "completion of commands" "$(commands)" "$(completions '')"
    expect_same "completion of options" "$(long_options)" "$(completions --)"
    for command in $(commands); do
      expect_same "completion of options of $command" "$(long_options "$command")" \
        "$(completions "$command" --)"
    done
    cases=$("$program" list | cut -d ' ' -f 1)
    expect_same "completion of cases" "$cases" "$(completions run '')"
    expect_same "completion of further cases" "$(grep ^d2h/ <<<"$cases")" \
      "$(completions sweep h2d/pinned d2h/)"
    expect_same "completion after options" "$cases" "$(completions check --size 4K --strict '')"
    expect_same "completion of --like" nvbandwidth "$(completions run --like nv)"
    expect_same "completion of a size" "" "$(completions run --size '')"
    cd "$here"
    expect_same "completion of files" rocbench.1 "$(completions compare rocbench.)"
    expect_same "completion of an output file" rocbench.1 "$(completions run --json rocbench.)"
    ;;
  shells)
    tested=
    if command -v zsh >/dev/null; then
      tested=1
      zsh -n "$here/completions/_rocbench" || fail "zsh cannot read completions/_rocbench"
    fi
    if command -v fish >/dev/null; then
      tested=1
      fish --no-execute "$here/completions/rocbench.fish" || fail "fish cannot read rocbench.fish"
      output=$(PATH=$(dirname "$program"):$PATH fish --no-config -c "source $here/completions/rocbench.fish
        complete -C 'rocbench run h2d/pin'; complete -C 'rocbench sw'; complete -C 'rocbench compare --tol'")
      for completion in h2d/pinned sweep --tolerance; do
        grep -q -- "^$completion" <<<"$output" || fail "fish does not complete $completion: $output"
      done
    fi
    if [ -z "$tested" ]; then
      echo "neither zsh nor fish is installed"
      exit 77
    fi
    ;;
  *)
    echo "check_documentation.sh: unknown check \"$check\"; use options, man_page, bash or shells" >&2
    exit 1
    ;;
esac
exit $status
