# SPDX-License-Identifier: MIT
# awk -v limits="BUILD=N ..." -f test_summary.awk OUTPUT-OF-CTEST LastTest.log: prints the number of tests
# of each build that passed, failed and were skipped, and the reasons of the skipped ones. Fails if more
# than N tests of a build were skipped. A test's name begins with the name of its build. If one test of
# CTest is a program, the tests in the program are counted.

BEGIN {
  split("passed failed skipped", kinds)
  split(limits, entries)
  for (i in entries) {
    split(entries[i], parts, "=")
    limit[parts[1]] = parts[2]
  }
}

# Returns the name of the build that a test belongs to.
function build_of(name) {
  sub(/\..*/, "", name)
  return name
}

# Tests that others run as separate processes are disabled.
FNR == NR && /\*\*\*Not Run \(Disabled\)/ { next }
# ctest's lines: N/ALL Test #N: NAME ... RESULT SECONDS sec
FNR == NR && $2 == "Test" && $3 ~ /^#/ && / sec *$/ {
  build = build_of($4)
  if (!(build in total)) order[++builds] = build
  ++total[build]
  seconds[build] += $(NF - 1)
  if (/\*\*\*Skipped/) {
    result[$4] = "skipped"
    reason[$4] = "no reason was printed"
    names[++skips] = $4
  } else {
    result[$4] = / Passed / ? "passed" : "failed"
  }
  ++tests[build, result[$4]]
}
FNR == NR { next }

$2 == "Testing:" { name = program = $3; first = 0; next }
# GoogleTest's line after each test of a program; the reason of a skipped test precedes it.
/^\[ +(OK|FAILED|SKIPPED) +\] .* ms\)$/ {
  kind = $2 == "OK" ? "passed" : $2 == "FAILED" ? "failed" : "skipped"
  test = $4
  ++program_tests[program, kind]
  ++ran[program]
  if (kind == "failed") failures[++failed_tests] = program ": " test
  if (kind == "skipped" && !(program in reason)) {
    names[++skips] = program ": " test
    reason[program ": " test] = skip_message
  }
}
message_follows { skip_message = $0; message_follows = 0 }
/: Skipped$/ { message_follows = 1 }

# In the log, a skipped test's reason is the line after GoogleTest's mark, or the first line.
/^Output:/ { first = 2; next }
!(name in reason) { next }
reason_follows { reason[name] = $0; reason_follows = 0; first = 0; name = ""; next }
/: Skipped$/ { reason_follows = 1; next }
first == 2 { first = 1; next }  # a ruler
first == 1 && !/^Running main\(\)|^<end of output>/ { reason[name] = $0; first = 0 }

END {
  printf "%-14s %8s %8s %8s %9s\n", "tests of", "passed", "failed", "skipped", "seconds"
  for (program in ran) {
    if (ran[program] < 2) continue
    build = build_of(program)
    # A program that crashed has failed, even if none of its tests has.
    if (result[program] != "failed" || program_tests[program, "failed"]) --tests[build, result[program]]
    for (i in kinds) tests[build, kinds[i]] += program_tests[program, kinds[i]]
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
  for (i = 1; i <= builds; ++i) {
    build = order[i]
    if (!(build in limit) || tests[build, "skipped"] <= limit[build]) continue
    printf "\n%s: %d tests were skipped, at most %d are expected; see the reasons above, or raise the " \
      "limit in scripts/test\n", build, tests[build, "skipped"], limit[build]
    exceeded = 1
  }
  exit exceeded
}
