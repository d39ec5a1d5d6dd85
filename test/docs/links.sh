#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# links.sh SOURCE-FOLDER: every relative link of the README and the guide leads to a file, and to a
# heading where it names one; every page of the guide is listed in docs/README.md, and is short.
set -euo pipefail
cd "$1"
status=0
wrong() { echo "$*" >&2 && status=1; }

# links PAGE: their targets; code is none.
links() {
  awk '/^```/ { code = !code } !code' "$1" | sed -E 's/`[^`]*`//g' | grep -oE '\]\([^)]+\)' |
    sed -E 's/^\]\(//; s/\)$//' | grep -v '^http' || true
}
# headings PAGE: as GitHub names them in links.
headings() {
  awk '/^```/ { code = !code } !code && /^#+ /' "$1" | sed -E 's/^#+ //' |
    tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

pages=(docs/*.md docs/porting/*.md)
count=0
for page in README.md CONTRIBUTING.md "${pages[@]}"; do
  while read -r link; do
    [ -n "$link" ] || continue
    count=$((count + 1))
    file=${link%%#*}
    if [ -n "$file" ]; then file=$(dirname "$page")/$file; else file=$page; fi
    if [ ! -e "$file" ]; then
      wrong "$page links to $link, which is not there"
    elif [[ $link == *'#'* ]] && ! grep -qxF -- "${link#*#}" <<<"$(headings "$file")"; then
      wrong "$page links to $link: $file has no such heading"
    fi
  done < <(links "$page")
done
listed=$(links docs/README.md)
for page in "${pages[@]}"; do
  if [ "$page" != docs/README.md ] && ! grep -qxF "${page#docs/}" <<<"$listed"; then
    wrong "docs/README.md does not list $page"
  fi
  lines=$(wc -l <"$page")
  [ "$lines" -lt 150 ] || wrong "$page has $lines lines: make it shorter than 150"
done
echo "$count links, ${#pages[@]} pages"
[ "$count" -gt 0 ]
exit $status
