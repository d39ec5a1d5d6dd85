# SPDX-License-Identifier: MIT
# awk -f test_summary.awk OUTPUT-OF-CTEST LastTest.log: what scripts/test says of each build's tests,
# and why tests were skipped. A test's name begins with its build's.

function build_of(name) {
  sub(/\..*/, "", name)
  return name
}

# ctest's lines: N/ALL Test #N: NAME ... RESULT SECONDS sec
FNR == NR && $2 == "Test" && $3 ~ /^#/ && / sec *$/ {
  build = build_of($4)
  if (!(build in total)) order[++builds] = build
  ++total[build]
  seconds[build] += $(NF - 1)
  if (/\*\*\*Skipped/) {
    ++skipped[build]
    reason[$4] = "it says nothing"
    names[++skips] = $4
  } else if (/ Passed /) {
    ++passed[build]
  } else {
    ++failed[build]
  }
}
FNR == NR { next }

# The log: a skipped test's reason is the line behind GoogleTest's mark, or its first line.
$2 == "Testing:" { name = $3; first = 0; next }
/^Output:/ { first = 2; next }
!(name in reason) { next }
marked { reason[name] = $0; marked = 0; first = 0; name = ""; next }
/: Skipped$/ { marked = 1; next }
first == 2 { first = 1; next }  # a ruler
first == 1 && !/^Running main\(\)|^<end of output>/ { reason[name] = $0; first = 0 }

END {
  printf "%-14s %8s %8s %8s %9s\n", "tests of", "passed", "failed", "skipped", "seconds"
  for (i = 1; i <= builds; ++i) {
    build = order[i]
    printf "%-14s %8d %8d %8d %9.0f\n", build, passed[build], failed[build], skipped[build],
      seconds[build]
  }
  for (i = 1; i <= skips; ++i) {
    if (seen[names[i]]++) continue
    why = reason[names[i]]
    if (!(why in list)) reasons[++count] = why
    list[why] = list[why] "\n  " names[i]
  }
  for (i = 1; i <= count; ++i) printf "\nskipped: %s%s\n", reasons[i], list[reasons[i]]
}
