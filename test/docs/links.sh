#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# links.sh SOURCE-DIRECTORY: every relative link of the README and of the pages in docs/ leads to a
# file, and to a heading if it names one. docs/index.md lists every page. No page is longer than 150
# lines.
set -euo pipefail
cd "$1"
status=0
report() { echo "$*" >&2 && status=1; }

# links PAGE: prints the targets of its links, without those in code.
links() {
  awk '/^```/ { code = !code } !code' "$1" | sed -E 's/`[^`]*`//g' | grep -oE '\]\([^)]+\)' |
    sed -E 's/^\]\(//; s/\)$//' | grep -v '^http' || true
}
# headings PAGE: prints the anchors that GitHub gives its headings.
headings() {
  awk '/^```/ { code = !code } !code && /^#+ /' "$1" | sed -E 's/^#+ //' |
    tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}

pages=(docs/*.md docs/porting/*.md)
count=0
for page in README.md CONTRIBUTING.md docs/reference/*.md "${pages[@]}"; do
  while read -r link; do
    [ -n "$link" ] || continue
    count=$((count + 1))
    file=${link%%#*}
    if [ -n "$file" ]; then file=$(dirname "$page")/$file; else file=$page; fi
    if [ ! -e "$file" ]; then
      report "$page links to $link, which does not exist"
    elif [[ $link == *'#'* ]] && ! grep -qxF -- "${link#*#}" <<<"$(headings "$file")"; then
      report "$page links to $link: $file has no such heading"
    fi
  done < <(links "$page")
done
listed=$(links docs/index.md)
for page in README.md "${pages[@]}"; do
  if [[ $page == docs/* && $page != docs/index.md ]] && ! grep -qxF "${page#docs/}" <<<"$listed"; then
    report "docs/index.md does not list $page"
  fi
  lines=$(wc -l <"$page")
  [ "$lines" -le 150 ] || report "$page has $lines lines: shorten it to 150"
done
echo "$count links, ${#pages[@]} pages"
[ "$count" -gt 0 ]
exit $status
