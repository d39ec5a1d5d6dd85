# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# bash completion of rocbench's commands, options, cases and files.

_rocbench() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
  local commands="run sweep latency alloc check list info compare report"
  local measuring="--size --row --pitch --element --min-time --max-time --rounds --json --csv
    --strict --device --like --inject --help"
  local word options command=''
  COMPREPLY=()
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ " $commands " == *" $word "* ]]; then
      command=$word
      break
    fi
  done

  case $previous in
    --json | --csv | --thresholds | --output | -o)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      return
      ;;
    --like)
      # The help text lists the tools.
      local tools
      tools=$("$program" --help 2>/dev/null | sed -n 's/^ *--like [^{]*{\([^}]*\)}.*/\1/p' | tr ',' ' ')
      mapfile -t COMPREPLY < <(compgen -W "$tools" -- "$current")
      return
      ;;
    --element)
      mapfile -t COMPREPLY < <(compgen -W "1 2 4 8 16" -- "$current")
      return
      ;;
    --size | --row | --pitch | --min-time | --max-time | --rounds | --device | --tolerance) return ;;
  esac

  case $command in
    "") options="$measuring --version" ;;
    list) options="--help" ;;
    info) options="--device --help" ;;
    compare) options="--tolerance --thresholds --help" ;;
    report) options="--output --help" ;;
    *) options=$measuring ;;
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  case $command in
    "") mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current") ;;
    compare | report)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      ;;
    info) ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W "$("$program" list 2>/dev/null | cut -d ' ' -f 1)" -- "$current")
      ;;
  esac
}
complete -F _rocbench rocbench
