#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# predicates.sh REPOSITORY: no function object in a call of an algorithm of the standard library calls
# query() of an event or a stream, or is_reached() of MPI's copies, in src or include. That throws for an
# error of HIP, and what an algorithm has done until then is unspecified: a loop of its own is clear. Fails
# and prints the places otherwise.
set -euo pipefail
command -v perl >/dev/null || { echo "perl was not found"; exit 77; }
cd "$1"

find src include -name '*.[ch]pp' -o -name '*.h' -o -name '*.hip' | sort | xargs perl -ne '
  $text = "" if $. == 1;
  s{"(?:\\.|[^"\\])*"|\x27(?:\\.|[^\x27\\])\x27}{""}g;  # no parentheses of strings and characters
  s{//.*}{};
  $text .= $_;
  next unless eof;
  # The arguments of a call: text without parentheses, and parentheses that match.
  my $arguments = qr/(\((?:[^()]++|(?1))*+\))/;
  my $algorithm = qr/\bstd::(?:ranges::)?(?:\w+_(?:if|if_not|of|copy|point|element|each|range)|sort|stable_sort
    |partition|stable_partition|for_each|transform|accumulate|generate|unique|remove|min|max)\s*(?=\()/x;
  while ($text =~ /$algorithm/g) {
    my ($begin, $end) = ($-[0], $+[0]);
    my $call = substr($text, $end) =~ /^$arguments/ ? $1 : "";
    next unless $call =~ /(?:\.|->)(query)\s*\(\s*\)|\bcopy\.(is_reached)\s*\(\s*\)/;
    my $called = $1 // $2;
    my $line = 1 + (substr($text, 0, $begin) =~ tr/\n//);
    print "$ARGV:$line: a function object of ", substr($text, $begin, $end - $begin),
      " calls $called(), which may throw: write a loop\n";
    ++$found;
  }
  close ARGV;  # numbers of lines begin anew
  END { exit($found ? 1 : 0) }
'
