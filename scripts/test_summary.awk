# SPDX-License-Identifier: MIT
# awk -f test_summary.awk OUTPUT-OF-CTEST LastTest.log: what scripts/test says of each build's tests,
# and why tests were skipped. A test's name begins with its build's. Where a program with all its tests
# is one test of CTest, its own tests are counted, and those that failed are named.

BEGIN { split("passed failed skipped", kinds) }

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
    result[$4] = "skipped"
    reason[$4] = "it says nothing"
    names[++skips] = $4
  } else {
    result[$4] = / Passed / ? "passed" : "failed"
  }
  ++tests[build, result[$4]]
}
FNR == NR { next }

$2 == "Testing:" { name = program = $3; first = 0; next }
# Of a program: GoogleTest's line behind each of its tests, and before it why one was skipped.
/^\[ +(OK|FAILED|SKIPPED) +\] .* ms\)$/ {
  own = $2 == "OK" ? "passed" : $2 == "FAILED" ? "failed" : "skipped"
  test = $4
  ++owns[program, own]
  ++ran[program]
  if (own == "failed") failures[++failed_tests] = program ": " test
  if (own == "skipped" && !(program in reason)) {
    names[++skips] = program ": " test
    reason[program ": " test] = why_own
  }
}
told { why_own = $0; told = 0 }
/: Skipped$/ { told = 1 }

# The log: a skipped test's reason is the line behind GoogleTest's mark, or its first line.
/^Output:/ { first = 2; next }
!(name in reason) { next }
marked { reason[name] = $0; marked = 0; first = 0; name = ""; next }
/: Skipped$/ { marked = 1; next }
first == 2 { first = 1; next }  # a ruler
first == 1 && !/^Running main\(\)|^<end of output>/ { reason[name] = $0; first = 0 }

END {
  printf "%-14s %8s %8s %8s %9s\n", "tests of", "passed", "failed", "skipped", "seconds"
  for (program in ran) {
    if (ran[program] < 2) continue
    build = build_of(program)
    # One that ended before its end failed, whatever its tests say.
    if (result[program] != "failed" || owns[program, "failed"]) --tests[build, result[program]]
    for (own in kinds) tests[build, kinds[own]] += owns[program, kinds[own]]
  }
  for (i = 1; i <= builds; ++i) {
    build = order[i]
    printf "%-14s %8d %8d %8d %9.0f\n", build, tests[build, "passed"], tests[build, "failed"],
      tests[build, "skipped"], seconds[build]
  }
  if (failed_tests) printf "\nfailed:\n"
  for (i = 1; i <= failed_tests; ++i) print "  " failures[i]
  for (i = 1; i <= skips; ++i) {
    if (seen[names[i]]++) continue
    why = reason[names[i]]
    if (!(why in list)) reasons[++count] = why
    list[why] = list[why] "\n  " names[i]
  }
  for (i = 1; i <= count; ++i) printf "\nskipped: %s%s\n", reasons[i], list[reasons[i]]
}
