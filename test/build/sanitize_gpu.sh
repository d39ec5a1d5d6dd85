#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sanitize_gpu.sh DIRECTORY SCRIPT: scripts/sanitize_gpu, with a stub of compute-sanitizer and a build of
# shell scripts that print what the stub is to print.
set -euo pipefail
mkdir -p "$1"
tree=$(cd "$1" && pwd)/with\ blank script=$2
rm -rf "$tree"
mkdir -p "$tree/bin" "$tree/build"

# Prints what a program prints about the tool, and its exit status.
cat >"$tree/bin/compute-sanitizer" <<'STUB'
#!/bin/sh
tool=$2 api_errors=
while [ "$1" != "${1#--}" ]; do
  if [ "$1" = --report-api-errors ]; then api_errors=$2; fi
  shift 2
done
API_ERRORS=$api_errors TOOL=$tool exec "$@"
STUB
chmod +x "$tree/bin/compute-sanitizer"

# program NAME LINE...: a shell script in the build.
program() {
  printf '#!/bin/sh\n' >"$tree/build/$1"
  printf '%s\n' "${@:2}" >>"$tree/build/$1"
  chmod +x "$tree/build/$1"
}
program right_test 'echo "========= ERROR SUMMARY: 0 errors"'
program wrong_test 'echo "========= ERROR SUMMARY: 2 errors"' 'echo "========= ERROR SUMMARY: 1 error"'
program racing_test '[ $TOOL = racecheck ] && s="RACECHECK SUMMARY: 4 hazards displayed (4 errors, 0 warnings)"' \
  'echo "========= ${s-ERROR SUMMARY: 0 errors}"'
program gate_test '[ "$TOOL:$ROCARRAY_TEST_GATES" = initcheck:open ] || [ $TOOL = memcheck ] || exit 1' \
  'echo "========= ERROR SUMMARY: 0 errors"'
program filter_test '[ "$1" = "--gtest_filter=-A.B:${GTEST_FILTER#-}" ] || exit 1' \
  'case $GTEST_FILTER in "-*DeathTest.*:"*) echo "========= ERROR SUMMARY: 0 errors" ;; *) exit 1 ;; esac'
program tool_test 'case $TOOL:$GTEST_FILTER in *:*check:* | memcheck:*.Threads*) exit 1 ;; esac' \
  'case $TOOL:$GTEST_FILTER in racecheck:*:GraphCapture.Threads* | memcheck:*) ;; *) exit 1 ;; esac' \
  'echo "========= ERROR SUMMARY: 0 errors"'
program calling_test 'n=2; if [ $API_ERRORS != no ]; then n=3' \
  'echo "========= Program hit cudaErrorInvalidValue (error 1) due to \"...\" on CUDA API call to cudaFree."' \
  'fi; [ "$1" != right ] || n=$((n - 2)); echo "========= ERROR SUMMARY: $n errors"'
program slow_test 'exec sleep 30'
program failing_test 'echo "========= ERROR SUMMARY: 0 errors"' 'exit 1'
program skipped_test 'exit 77'
program host_test 'echo "========= Target application terminated before first instrumented API call"' 'exit 1'
program fault_matrix 'echo "========= ERROR SUMMARY: 7 errors"'
program listed_test 'echo "========= ERROR SUMMARY: 7 errors"'

cat >"$tree/build/CTestTestfile.cmake" <<TESTS
foreach(name right wrong racing gate slow failing skipped host)
  add_test(\${name} "$tree/build/\${name}_test")
endforeach()
add_test(filter "$tree/build/filter_test" --gtest_filter=-A.B)
add_test(tool "$tree/build/tool_test")
add_test(calling "$tree/build/calling_test" right)
add_test(calling_wrongly "$tree/build/calling_test" wrong)
add_test(one "$tree/build/right_test" --gtest_filter=One.One --gtest_also_run_disabled_tests)
add_test(also_with "$tree/build/right_test")
set_tests_properties(also_with PROPERTIES ENVIRONMENT "A=b c;D=e")
add_test(matrix "$tree/build/fault_matrix")
add_test(listed "$tree/build/listed_test")
set_tests_properties(listed PROPERTIES PASS_REGULAR_EXPRESSION x)
add_test(script sh -c "exit 1")
add_test(no_device "$tree/build/listed_test" 2)
set_tests_properties(no_device PROPERTIES ENVIRONMENT "ROCARRAY_TEST_NO_DEVICE=1")
TESTS

# expect STATUS LAST-LINE ARGUMENT...
expect() {
  local status=0
  output=$(PATH=$tree/bin:$PATH "$script" --build-dir "$tree/build" --limit 1 "${@:3}" 2>&1) || status=$?
  if [ $status != "$1" ] || [ "${output##*$'\n'}" != "$2" ]; then
    printf '%s\nexpected status %s and: %s\nfound status %s\n' "$output" "$1" "$2" $status >&2
    exit 1
  fi
}
none="0 failed, 0 not ended, 0 without a use of the GPU"
expect 0 "memcheck: 2 programs, 0 findings; not counted: $none" --only '^right' memcheck
expect 1 "memcheck: 1 programs, 3 findings; not counted: $none" --only '^wrong' memcheck
expect 1 "racecheck: 1 programs, 4 findings; not counted: $none" --only racing synccheck racecheck
expect 0 "synccheck: 1 programs, 0 findings; not counted: $none" --only racing synccheck
expect 0 "initcheck: 2 programs, 0 findings; not counted: $none" --only 'gate|filter' memcheck initcheck
expect 1 "memcheck: 0 programs, 0 findings; not counted: 0 failed, 1 not ended, 0 without a use of the GPU" --only slow memcheck
expect 1 "memcheck: 0 programs, 0 findings; not counted: 1 failed, 0 not ended, 0 without a use of the GPU" --only failing memcheck
expect 1 "memcheck: 0 programs, 0 findings; not counted: 0 failed, 0 not ended, 2 without a use of the GPU" --only 'skip|host' memcheck
expect 0 "racecheck: 1 programs, 0 findings; not counted: $none" --only tool_ memcheck racecheck
expect 1 "memcheck: 2 programs, 2 findings; not counted: $none" --only calling memcheck
case $output in *"of API calls"*) echo "without --api-errors: $output" >&2 && exit 1 ;; esac
expect 0 "memcheck: 1 programs, 0 findings; not counted: $none" --only $'calling_test\t' --api-errors memcheck
expect 1 "memcheck: 2 programs, 2 findings; not counted: $none" --only calling --api-errors memcheck
for line in 'memcheck: calling_test: 0 findings, 1 errors of API calls, see ' \
  'memcheck: calling_test-2: 2 findings, 1 errors of API calls, see ' \
  'errors of API calls: memcheck: calling_test-2: 1'; do
  case $output in *"$line"*) ;; *) printf '%s\nexpected: %s\n' "$output" "$line" >&2 && exit 1 ;; esac
done
expect 1 "memcheck: 9 programs, 5 findings; not counted: 1 failed, 1 not ended, 2 without a use of the GPU" memcheck -j 3
expect 2 "scripts/sanitize_gpu: \"memchek\" is not a valid option or tool; see --help" memchek
echo "sanitize_gpu: findings, failures, limits and exclusions are told apart"
