# SPDX-License-Identifier: MIT
# Tests of the programs as they are called.

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

# rocarray_add_exit_code_test(NAME EXIT_CODE PROGRAM arguments...): passes where the program ends with that
# code; counts as skipped where there is no device, unless that code is wanted. Of arguments that are
# results of another test, the first is looked for: without a device it was not written.
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

# rocarray_add_skipped_case_test(NAME ENVIRONMENT WORDS arguments of run...): passes where every case is
# skipped, and the last says so with these words.
function(rocarray_add_skipped_case_test name variables words)
  set(test rocbench.skipped.${name})
  rocarray_add_exit_code_test(${test} 77 rocbench run ${ARGN})
  set_tests_properties(${rocarray_test_prefix}.${test} PROPERTIES ENVIRONMENT "${variables}")
  add_test(NAME ${rocarray_test_prefix}.${test}.words COMMAND ${launcher} $<TARGET_FILE:rocbench>
    run ${ARGN})
  set_tests_properties(${rocarray_test_prefix}.${test}.words PROPERTIES ENVIRONMENT "${variables}"
    PASS_REGULAR_EXPRESSION "skipped: [^\n]*${words}"
    SKIP_REGULAR_EXPRESSION "no device was found")
endfunction()

set(quick --size 64K --min-time 0.01 --max-time 0.02)
rocarray_add_exit_code_test(rocbench.default_set 0 rocbench ${quick})
rocarray_add_exit_code_test(rocbench.odd_sizes 0 rocbench run * --size 1,4097 --min-time 0 --max-time 0)
rocarray_add_exit_code_test(rocbench.rows 0 rocbench run strided/* ${quick} --row 1000 --pitch 3K)
foreach(element 1 2 8 16)
  rocarray_add_exit_code_test(rocbench.elements_of_${element} 0
    rocbench run permute/* ${quick} --element ${element})
endforeach()
rocarray_add_exit_code_test(rocbench.element_of_3 1 rocbench run permute/* --element 3)
rocarray_add_exit_code_test(rocbench.batches 0 rocbench run *batch/* ${quick} --row 100)
rocarray_add_exit_code_test(rocbench.check 0 rocbench check)
rocarray_add_exit_code_test(rocbench.check_finds_a_wrong_byte 2 rocbench check --inject)
rocarray_add_exit_code_test(rocbench.sweep 0 rocbench sweep h2d/p* --max-time 0.01 --size 1,1K,1M)
rocarray_add_exit_code_test(rocbench.latency 0 rocbench latency --max-time 0.01)
rocarray_add_exit_code_test(rocbench.alloc 0 rocbench alloc --max-time 0.01)
rocarray_add_exit_code_test(rocbench.info 0 rocbench info)
rocarray_add_exit_code_test(rocbench.like_nvbandwidth 0 rocbench --like nvbandwidth --size 1M)
rocarray_add_exit_code_test(rocbench.like_babelstream 0 rocbench --like babelstream --size 64K)
rocarray_add_exit_code_test(rocbench.like_babelstream_finds_a_wrong_byte 2
  rocbench --like babelstream --size 64K --inject)
rocarray_add_exit_code_test(rocbench.like_no_other 1 rocbench --like nonsense)
rocarray_add_exit_code_test(rocbench.finds_a_wrong_byte 2 rocbench run * ${quick} --inject)
rocarray_add_exit_code_test(rocbench.noisy_under_strict 4
  rocbench run d2d/copy --size 4K --min-time 0 --max-time 0 --strict)
rocarray_add_exit_code_test(rocbench.unknown_case 5 rocbench run nonsense)
rocarray_add_exit_code_test(rocbench.unknown_option 1 rocbench run --nonsense)
rocarray_add_exit_code_test(rocbench.zero_size 1 rocbench run --size 0)
rocarray_add_exit_code_test(rocbench.size_beyond_memory 1 rocbench run --size 100T)
rocarray_add_exit_code_test(rocbench.pitch_below_row 1 rocbench run --row 4K --pitch 1K)
rocarray_add_exit_code_test(rocbench.unknown_device 5 rocbench run --device 1000)
rocarray_add_exit_code_test(rocbench.plan 0 rocbench_plan_test)
rocarray_add_exit_code_test(rocbench.version 0 rocbench --version)

# Each case of kernels and of batches finds a wrong byte of its own.
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
  rocarray_add_exit_code_test(rocbench.wrong_byte_in_${name} 2
    rocbench run ${case} --size 5001 --max-time 0 --inject)
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/injection_tests.cmake)
# One call of HIP cannot copy what is registered in pieces: its cases register as HIP does, in one.
rocarray_add_exit_code_test(rocbench.registered_in_pieces 0 rocbench run */registered --size 300K
  --max-time 0.01)
set_tests_properties(${rocarray_test_prefix}.rocbench.registered_in_pieces PROPERTIES
  ENVIRONMENT "${environment};ROCARRAY_REGISTER_CHUNK=64K")
# Cases that are skipped say so, and nothing else was measured.
if(NOT ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia")
  rocarray_add_skipped_case_test(batch_call "${environment}" "no call for many copies"
    raw/batch_call/h2d --size 64K)
endif()
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" OR ROCARRAY_ON_FAKE_RUNTIME)
  set(skipping_ROCARRAY_HOST_MANAGED=off "no managed memory")
  set(skipping_ROCARRAY_HOST_MANAGED=basic "no concurrent managed access")
  set(skipping_ROCARRAY_HOST_MEMORY=16M "more managed memory than a quarter")
  foreach(variable ROCARRAY_HOST_MANAGED=off ROCARRAY_HOST_MANAGED=basic ROCARRAY_HOST_MEMORY=16M)
    rocarray_add_skipped_case_test(managed.${variable} "${environment};${variable}"
      "${skipping_${variable}}" managed/* --size 5M)
  endforeach()
endif()
if(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_skipped_case_test(without_host_stubs "${without_host_stubs}" "not compiled for this device"
    *stream/* *mapped/* --size 5M)
endif()

# Files of results: written, refused before measuring, compared.
set(results ${CMAKE_CURRENT_BINARY_DIR}/results.json)
rocarray_add_exit_code_test(rocbench.unwritable_destination 1
  rocbench run ${quick} --json /nonexistent/x.json)
rocarray_add_exit_code_test(rocbench.full_destination 1 rocbench run d2d/copy ${quick} --json /dev/full)
rocarray_add_exit_code_test(rocbench.compare_writes 0
  rocbench run h2d/* ${quick} --json ${results} --csv ${results}.csv)
rocarray_add_exit_code_test(rocbench.compare_with_itself 0
  rocbench compare ${results} ${results} --tolerance 100)
file(WRITE ${results}.low "# all reach it\nh2d/* 0.0000001 GB/s\n")
file(WRITE ${results}.high "h2d/pinned 1000000 GB/s\n")
rocarray_add_exit_code_test(rocbench.compare_thresholds_held 0
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.low)
rocarray_add_exit_code_test(rocbench.compare_below_threshold 3
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.high)
# The verdict on all is the last line, and begins with what a script asks for.
rocarray_add_exit_code_test(rocbench.compare_verdict 3
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.high)
set_tests_properties(${rocarray_test_prefix}.rocbench.compare_verdict PROPERTIES
  PASS_REGULAR_EXPRESSION "\nbelow 1 threshold[^\n]*\n(rocbench: [^\n]*\n)?$")
rocarray_add_exit_code_test(rocbench.compare_nothing 1 rocbench compare ${results} /nonexistent)
rocarray_add_exit_code_test(rocbench.compare_other_file 1
  rocbench compare ${results} ${results}.csv)
# Ctrl-C: what was measured is written.
add_test(NAME ${rocarray_test_prefix}.rocbench.interrupted COMMAND ${CMAKE_COMMAND}
  "-DPROGRAM=timeout;--preserve-status;-s;INT;2;${launcher};$<TARGET_FILE:rocbench>"
  "-DARGUMENTS=run;d2d/copy;--size;64K;--min-time;60;--max-time;60;--json;${results}.part1"
  -DEXPECTED=130 -P ${CMAKE_CURRENT_LIST_DIR}/expect_exit_code.cmake)
set_tests_properties(${rocarray_test_prefix}.rocbench.interrupted PROPERTIES TIMEOUT 60
  ENVIRONMENT "${environment}" SKIP_REGULAR_EXPRESSION "no device was found"
  FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_interrupted)
rocarray_add_exit_code_test(rocbench.interrupted_kept 0
  rocbench compare ${results}.part1 ${results}.part1 --tolerance 100)
set_tests_properties(${rocarray_test_prefix}.rocbench.interrupted_kept PROPERTIES
  FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_interrupted)
include(${CMAKE_CURRENT_LIST_DIR}/report_tests.cmake)
foreach(test with_itself thresholds_held below_threshold verdict nothing other_file)
  set_tests_properties(${rocarray_test_prefix}.rocbench.compare_${test} PROPERTIES
    FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_results)
endforeach()
set_tests_properties(${rocarray_test_prefix}.rocbench.compare_writes PROPERTIES
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

# What BabelStream prints, of arrays as large as asked for.
add_test(NAME ${rocarray_test_prefix}.rocbench.like_babelstream_prints COMMAND ${launcher}
  $<TARGET_FILE:rocbench> --like babelstream run *stream/triad --size 64K)
set(row "triad +[0-9]+[.][0-9][0-9][0-9] +[0-9.]+ +[0-9.]+ +[0-9.]+ +64 KiB [^\n]*yes")
set_tests_properties(${rocarray_test_prefix}.rocbench.like_babelstream_prints PROPERTIES
  ENVIRONMENT "${environment}" SKIP_REGULAR_EXPRESSION "no device was found"
  PASS_REGULAR_EXPRESSION
  "Arrays of 64 KiB, not BabelStream's of 2 GiB: as asked for.*Function +MBytes/sec +Min .sec. +Max +Average[^\n]*\n[^\n]*stream/${row}.*raw/stream/${row}")

rocarray_add_exit_code_test(call_overhead 0 call_overhead --benchmark_min_time=0.01)
rocarray_add_exit_code_test(planning 0 planning --benchmark_min_time=0.001
  "--benchmark_filter=/(64|512)$|<[0-9]>$")
add_test(NAME ${rocarray_test_prefix}.transfers_table COMMAND bash
  ${CMAKE_CURRENT_LIST_DIR}/transfers_table.sh $<TARGET_FILE:rocbench>
  ${CMAKE_CURRENT_BINARY_DIR}/transfers_table)
set_tests_properties(${rocarray_test_prefix}.transfers_table PROPERTIES
  ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
