# SPDX-License-Identifier: MIT
# Tests that run the programs.

set(environment ${ROCARRAY_TEST_ENVIRONMENT})
set(without_host_stubs "")
if(ROCARRAY_ON_FAKE_RUNTIME)
  set(kernels copy_kernels.hip image_kernels.hip stream_check.hip stream_kernels.hip)
  list(TRANSFORM kernels PREPEND ${CMAKE_CURRENT_LIST_DIR}/rocbench/)
  rocarray_add_kernel_host_stubs(rocbench_host_stubs SOURCES ${kernels}
    INCLUDES ${CMAKE_CURRENT_LIST_DIR}/rocbench)
  foreach(program rocbench rocbench_plan_test call_overhead planning)
    add_dependencies(${program} rocarray_fake_runtime rocarray_library_host_stubs rocbench_host_stubs)
  endforeach()
  list(APPEND environment LD_LIBRARY_PATH=${ROCARRAY_FAKE_RUNTIME_DIRECTORY})
  set(without_host_stubs ${environment} ROCARRAY_HOST_STUBS=$<TARGET_FILE:rocarray_library_host_stubs>)
  list(APPEND environment
    ROCARRAY_HOST_STUBS=$<TARGET_FILE:rocarray_library_host_stubs>:$<TARGET_FILE:rocbench_host_stubs>)
endif()

set(launcher "")
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "amd" AND ROCARRAY_TEST_LAUNCHER
   AND NOT ROCARRAY_TEST_LAUNCHER STREQUAL "auto")
  set(launcher ${ROCARRAY_TEST_LAUNCHER})
endif()

# rocarray_add_exit_code_test(NAME EXIT_CODE PROGRAM arguments...): passes if the program returns
# this exit code. Is skipped if there is no device, unless the expected code is 5. `compare` and
# `report` are also skipped if their first file, a result of another test, does not exist.
function(rocarray_add_exit_code_test test code program)
  set(name ${rocarray_test_prefix}.${test})
  set(needed "")
  if(ARGN MATCHES "^(compare|report);([^;]+)")
    set(needed ${CMAKE_MATCH_2})
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND}
    "-DPROGRAM=${launcher};$<TARGET_FILE:${program}>" "-DARGUMENTS=${ARGN}" -DEXPECTED=${code}
    "-DNEEDED=${needed}" -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/expect_exit_code.cmake)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 120)
  if(NOT code EQUAL 5)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "no device was found")
  endif()
endfunction()

# rocarray_add_message_test(NAME MESSAGE arguments of rocbench...): passes if rocbench prints a line
# that matches the regular expression MESSAGE.
function(rocarray_add_message_test test message)
  set(name ${rocarray_test_prefix}.rocbench.${test})
  add_test(NAME ${name} COMMAND ${launcher} $<TARGET_FILE:rocbench> ${ARGN})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}"
    PASS_REGULAR_EXPRESSION "${message}" SKIP_REGULAR_EXPRESSION "no device was found")
endfunction()

# rocarray_add_skipped_case_test(NAME ENVIRONMENT MESSAGE arguments of run...): passes if every case
# is skipped and rocbench prints MESSAGE as a reason.
function(rocarray_add_skipped_case_test name variables message)
  set(test rocbench.skipped.${name})
  rocarray_add_exit_code_test(${test} 77 rocbench run ${ARGN})
  set_tests_properties(${rocarray_test_prefix}.${test} PROPERTIES ENVIRONMENT "${variables}")
  rocarray_add_message_test(skipped.${name}.message "skipped: [^\n]*${message}" run ${ARGN})
  set_tests_properties(${rocarray_test_prefix}.${test}.message PROPERTIES
    ENVIRONMENT "${variables}")
endfunction()

set(quick --size 64K --min-time 0.01 --max-time 0.02)
rocarray_add_exit_code_test(rocbench.default_set 0 rocbench ${quick})
rocarray_add_exit_code_test(rocbench.unaligned_sizes 0
  rocbench run * --size 1,4097 --min-time 0 --max-time 0)
rocarray_add_exit_code_test(rocbench.rows 0 rocbench run strided/* ${quick} --row 1000 --pitch 3K)
foreach(element 1 2 8 16)
  rocarray_add_exit_code_test(rocbench.elements_of_${element}_bytes 0
    rocbench run permute/* ${quick} --element ${element})
endforeach()
rocarray_add_exit_code_test(rocbench.elements_of_3_bytes_are_refused 1
  rocbench run permute/* --element 3)
rocarray_add_exit_code_test(rocbench.batches 0 rocbench run *batch/* ${quick} --row 100)
rocarray_add_exit_code_test(rocbench.check 0 rocbench check)
rocarray_add_exit_code_test(rocbench.check_finds_wrong_byte 2 rocbench check --inject)
rocarray_add_exit_code_test(rocbench.sweep 0 rocbench sweep h2d/p* --max-time 0.01 --size 1,1K,1M)
rocarray_add_exit_code_test(rocbench.latency 0 rocbench latency --max-time 0.01)
rocarray_add_exit_code_test(rocbench.alloc 0 rocbench alloc --max-time 0.01)
rocarray_add_exit_code_test(rocbench.info 0 rocbench info)
rocarray_add_exit_code_test(rocbench.like_nvbandwidth 0 rocbench --like nvbandwidth --size 1M)
rocarray_add_exit_code_test(rocbench.like_babelstream 0 rocbench --like babelstream --size 64K)
rocarray_add_exit_code_test(rocbench.like_babelstream_finds_wrong_byte 2
  rocbench --like babelstream --size 64K --inject)
rocarray_add_exit_code_test(rocbench.like_unknown_tool 1 rocbench --like nonsense)
rocarray_add_exit_code_test(rocbench.every_case_finds_wrong_byte 2 rocbench run * ${quick} --inject)
rocarray_add_exit_code_test(rocbench.noisy_with_strict 4
  rocbench run d2d/copy --size 4K --min-time 0 --max-time 0 --strict)
rocarray_add_exit_code_test(rocbench.unknown_case 5 rocbench run nonsense)
rocarray_add_exit_code_test(rocbench.unknown_option 1 rocbench run --nonsense)
rocarray_add_exit_code_test(rocbench.unknown_command 1 rocbench nonsense)
rocarray_add_exit_code_test(rocbench.zero_size 1 rocbench run --size 0)
rocarray_add_exit_code_test(rocbench.size_exceeds_memory 1 rocbench run --size 100T)
rocarray_add_exit_code_test(rocbench.pitch_less_than_row 1 rocbench run --row 4K --pitch 1K)
rocarray_add_exit_code_test(rocbench.unknown_device 5 rocbench run --device 1000)
rocarray_add_exit_code_test(rocbench.plan 0 rocbench_plan_test)
rocarray_add_exit_code_test(rocbench.version 0 rocbench --version)

# Messages about unknown names suggest the most similar name.
rocarray_add_message_test(suggests_case
  "rocbench: no case matches 'h2d/pined'; did you mean 'h2d/pinned'[?]\n" run h2d/pined)
rocarray_add_message_test(suggests_list_of_cases
  "rocbench: no case matches 'nonsense'; `rocbench list` prints all cases\n" run nonsense)
rocarray_add_message_test(suggests_command
  "rocbench: unknown command 'swep'; did you mean 'sweep'[?]\n" swep)
rocarray_add_message_test(suggests_option
  "rocbench: unknown option '--max-tme=1'; did you mean '--max-time'[?]\n" run --max-tme=1)
rocarray_add_message_test(suggests_help
  "rocbench: unknown option '--nonsense'; see `rocbench run --help`\n" run --nonsense)
rocarray_add_message_test(unexpected_argument
  "rocbench: unexpected argument 'third'; see `rocbench compare --help`\n"
  compare first second third)

# Each case of kernels and batches finds a wrong byte in its payload.
foreach(case copy mul add triad dot)
  list(APPEND checked_cases stream/${case} raw/stream/${case})
endforeach()
foreach(case mapped/read mapped/write managed/fault managed/prefetch)
  list(APPEND checked_cases ${case} raw/${case})
endforeach()
foreach(case h2d d2h d2d)
  list(APPEND checked_cases batch/${case} raw/batch/${case})
endforeach()
foreach(case ${checked_cases})
  string(REPLACE "/" "_" name ${case})
  rocarray_add_exit_code_test(rocbench.finds_wrong_byte_in_${name} 2
    rocbench run ${case} --size 5001 --max-time 0 --inject)
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/injection_tests.cmake)
# One HIP call cannot copy memory that is registered in several parts, so raw cases register their
# memory by HIP, in one part.
rocarray_add_exit_code_test(rocbench.registered_in_parts 0 rocbench run */registered --size 300K
  --max-time 0.01)
set_tests_properties(${rocarray_test_prefix}.rocbench.registered_in_parts PROPERTIES
  ENVIRONMENT "${environment};ROCARRAY_REGISTER_CHUNK=64K")
# Skipped cases print the reason.
if(NOT ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia")
  rocarray_add_skipped_case_test(batch_call "${environment}" "no batched copy function"
    raw/batch_call/h2d --size 64K)
endif()
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" OR ROCARRAY_ON_FAKE_RUNTIME)
  set(reason_ROCARRAY_HOST_MANAGED=off "no managed memory")
  set(reason_ROCARRAY_HOST_MANAGED=basic "no concurrent managed access")
  set(reason_ROCARRAY_HOST_MEMORY=16M "more managed memory than a quarter")
  foreach(variable ROCARRAY_HOST_MANAGED=off ROCARRAY_HOST_MANAGED=basic ROCARRAY_HOST_MEMORY=16M)
    rocarray_add_skipped_case_test(managed.${variable} "${environment};${variable}"
      "${reason_${variable}}" managed/* --size 5M)
  endforeach()
endif()
if(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_skipped_case_test(without_host_stubs "${without_host_stubs}"
    "not compiled for this device" *stream/* *mapped/* --size 5M)
endif()

# Result files are written, refused before measuring, and compared.
set(results ${CMAKE_CURRENT_BINARY_DIR}/results.json)
rocarray_add_exit_code_test(rocbench.unwritable_file 1
  rocbench run ${quick} --json /nonexistent/x.json)
rocarray_add_exit_code_test(rocbench.full_device 1 rocbench run d2d/copy ${quick} --json /dev/full)
rocarray_add_exit_code_test(rocbench.run_writes_results 0
  rocbench run h2d/* ${quick} --json ${results} --csv ${results}.csv)
rocarray_add_exit_code_test(rocbench.compare_with_itself 0
  rocbench compare ${results} ${results} --tolerance 100)
file(WRITE ${results}.low "# every case reaches this\nh2d/* 0.0000001 GB/s\n")
file(WRITE ${results}.high "h2d/pinned 1000000 GB/s\n")
rocarray_add_exit_code_test(rocbench.compare_reaches_thresholds 0
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.low)
rocarray_add_exit_code_test(rocbench.compare_below_threshold 3
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.high)
# The last line of standard output is the verdict. Its first word is the worst finding.
rocarray_add_exit_code_test(rocbench.compare_verdict 3
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.high)
set_tests_properties(${rocarray_test_prefix}.rocbench.compare_verdict PROPERTIES
  PASS_REGULAR_EXPRESSION "\nbelow 1 threshold[^\n]*\n(rocbench: [^\n]*\n)?$")
rocarray_add_exit_code_test(rocbench.compare_refuses_missing_file 1
  rocbench compare ${results} /nonexistent)
rocarray_add_exit_code_test(rocbench.compare_refuses_other_file 1
  rocbench compare ${results} ${results}.csv)
# After Ctrl-C the results so far are written.
add_test(NAME ${rocarray_test_prefix}.rocbench.interrupted COMMAND ${CMAKE_COMMAND}
  "-DPROGRAM=timeout;--preserve-status;-s;INT;2;${launcher};$<TARGET_FILE:rocbench>"
  "-DARGUMENTS=run;d2d/copy;--size;64K;--min-time;60;--max-time;60;--json;${results}.part1"
  -DEXPECTED=130 -P ${CMAKE_CURRENT_LIST_DIR}/expect_exit_code.cmake)
set_tests_properties(${rocarray_test_prefix}.rocbench.interrupted PROPERTIES TIMEOUT 60
  ENVIRONMENT "${environment}" SKIP_REGULAR_EXPRESSION "no device was found"
  FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_interrupted)
rocarray_add_exit_code_test(rocbench.interrupted_writes_results 0
  rocbench compare ${results}.part1 ${results}.part1 --tolerance 100)
set_tests_properties(${rocarray_test_prefix}.rocbench.interrupted_writes_results PROPERTIES
  FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_interrupted)
include(${CMAKE_CURRENT_LIST_DIR}/report_tests.cmake)
foreach(test with_itself reaches_thresholds below_threshold verdict refuses_missing_file
    refuses_other_file)
  set_tests_properties(${rocarray_test_prefix}.rocbench.compare_${test} PROPERTIES
    FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_results)
endforeach()
set_tests_properties(${rocarray_test_prefix}.rocbench.run_writes_results PROPERTIES
  FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_results)

if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
  foreach(mode threaded inline deferred)
    set(test rocbench.every_case_${mode})
    rocarray_add_exit_code_test(${test} 0 rocbench run * ${quick} --rounds 1)
    set_tests_properties(${rocarray_test_prefix}.${test} PROPERTIES
      ENVIRONMENT "${environment};${ROCARRAY_HOST_TEST_ENVIRONMENT};ROCARRAY_HOST_MODE=${mode}")
  endforeach()
endif()

add_test(NAME ${rocarray_test_prefix}.rocbench.list COMMAND ${launcher} $<TARGET_FILE:rocbench> list
  h2d/pinned raw/h2d/pinned permute/2d/* fill/b*)
set_tests_properties(${rocarray_test_prefix}.rocbench.list PROPERTIES
  ENVIRONMENT "${environment}" PASS_REGULAR_EXPRESSION
  "^h2d/pinned [^\n]*\nraw/h2d/pinned [^\n]*\npermute/2d/h2d [^\n]*\npermute/2d/d2h [^\n]*\npermute/2d/d2d [^\n]*\npermute/2d/h2d/pageable [^\n]*\npermute/2d/d2h/pageable [^\n]*\nfill/byte [^\n]*\n$")

# --like babelstream prints BabelStream's columns, and the size of the arrays if it differs.
set(row "triad +[0-9]+[.][0-9][0-9][0-9] +[0-9.]+ +[0-9.]+ +[0-9.]+ +64 KiB [^\n]*yes")
rocarray_add_message_test(like_babelstream_prints_columns
  "Arrays of 64 KiB instead of BabelStream's 2 GiB: as given by --size.*Function +MBytes/sec +Min .sec. +Max +Average[^\n]*\n[^\n]*stream/${row}.*raw/stream/${row}"
  --like babelstream run *stream/triad --size 64K)

# The output says if the figures are not those of a GPU.
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
  rocarray_add_message_test(says_that_the_cpu_was_measured "Measured on the CPU: " run d2d/copy ${quick})
elseif(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_message_test(says_that_the_fake_runtime_was_measured "Measured with the fake HIP runtime"
    run d2d/copy ${quick})
endif()

rocarray_add_exit_code_test(call_overhead 0 call_overhead --benchmark_min_time=0.01)
rocarray_add_exit_code_test(planning 0 planning --benchmark_min_time=0.001
  "--benchmark_filter=/(64|512)$|<[0-9]>$")
add_test(NAME ${rocarray_test_prefix}.transfers_table COMMAND bash
  ${CMAKE_CURRENT_LIST_DIR}/transfers_table_test.sh $<TARGET_FILE:rocbench>
  ${CMAKE_CURRENT_BINARY_DIR}/transfers_table)
set_tests_properties(${rocarray_test_prefix}.transfers_table PROPERTIES
  ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
add_test(NAME ${rocarray_test_prefix}.bench_help
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/bench --help)
set_tests_properties(${rocarray_test_prefix}.bench_help PROPERTIES TIMEOUT 10
  ENVIRONMENT PATH=/usr/bin:/bin PASS_REGULAR_EXPRESSION "^usage: scripts/bench [^\n]*\n")
