# SPDX-License-Identifier: MIT
# Tests that run the programs.

set(environment ${ROCARRAY_TEST_ENVIRONMENT})
set(without_host_stubs "")
if(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_kernel_host_stubs(rocbench_host_stubs
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/rocbench/kernels.hip
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

# rocarray_add_exit_code_test(NAME EXIT_CODE PROGRAM arguments... [MESSAGE regex] [WITH variable=value...]):
# passes if the program returns this exit code and its output matches the regular expression. WITH
# replaces the environment. The test is skipped if there is no device, unless the expected code is 5.
# `compare` and `report` are also skipped if their first file, a result of another test, does not exist.
function(rocarray_add_exit_code_test test code program)
  cmake_parse_arguments(arg "" MESSAGE WITH ${ARGN})
  set(name ${rocarray_test_prefix}.${test})
  set(needed "")
  if(arg_UNPARSED_ARGUMENTS MATCHES "^(compare|report);([^;]+)")
    set(needed ${CMAKE_MATCH_2})
  endif()
  if(NOT arg_WITH)
    set(arg_WITH "${environment}")
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND}
    "-DPROGRAM=${launcher};$<TARGET_FILE:${program}>" "-DARGUMENTS=${arg_UNPARSED_ARGUMENTS}"
    -DEXPECTED=${code} "-DMESSAGE=${arg_MESSAGE}" "-DNEEDED=${needed}"
    -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/expect_exit_code.cmake)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${arg_WITH}" TIMEOUT 120)
  if(NOT code EQUAL 5)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "no device was found")
  endif()
endfunction()

# Every command.
set(quick --size 64K --min-time 0.01 --max-time 0.02)
rocarray_add_exit_code_test(rocbench.default_set 0 rocbench ${quick})
rocarray_add_exit_code_test(rocbench.check 0 rocbench check)
rocarray_add_exit_code_test(rocbench.sweep 0 rocbench sweep h2d/p* --max-time 0.01 --size 1,1K,1M)
rocarray_add_exit_code_test(rocbench.latency 0 rocbench latency --max-time 0.01)
rocarray_add_exit_code_test(rocbench.alloc 0 rocbench alloc --max-time 0.01)
rocarray_add_exit_code_test(rocbench.info 0 rocbench info)
rocarray_add_exit_code_test(rocbench.version 0 rocbench --version)
rocarray_add_exit_code_test(rocbench.list 0 rocbench list h2d/pinned raw/h2d/pinned fill/b* MESSAGE
  "^h2d/pinned +[*] [^\n]*\nraw/h2d/pinned +[*] [^\n]*\nfill/byte [^\n]*\n$")
# What doctor finds depends on the machine; it always says something about huge pages.
rocarray_add_exit_code_test(rocbench.doctor "[03]" rocbench doctor MESSAGE "huge pages +[^\n]+")
rocarray_add_exit_code_test(rocbench.plan 0 rocbench_plan_test)

# Sizes and other tools' measurements.
rocarray_add_exit_code_test(rocbench.unaligned_sizes 0
  rocbench run * --size 1,4097 --min-time 0 --max-time 0)
rocarray_add_exit_code_test(rocbench.rows 0 rocbench run strided/* ${quick} --row 1000 --pitch 3K)
foreach(element 1 2 8 16)
  rocarray_add_exit_code_test(rocbench.elements_of_${element}_bytes 0
    rocbench run permute/* ${quick} --element ${element})
endforeach()
rocarray_add_exit_code_test(rocbench.batches 0 rocbench run *batch/* ${quick} --row 100)
rocarray_add_exit_code_test(rocbench.like_nvbandwidth 0 rocbench --like nvbandwidth --size 1M)
rocarray_add_exit_code_test(rocbench.like_babelstream_finds_wrong_byte 2
  rocbench --like babelstream --size 64K --inject)
# BabelStream's columns, and the size of the arrays if it differs.
set(row "triad +[0-9]+[.][0-9][0-9][0-9] +[0-9.]+ +[0-9.]+ +[0-9.]+ +64 KiB [^\n]*yes")
rocarray_add_exit_code_test(rocbench.like_babelstream 0
  rocbench --like babelstream run *stream/triad --size 64K MESSAGE
  "Arrays of 64 KiB instead of BabelStream's 2 GiB: as given by --size.*Function +MBytes/sec +Min .sec. +Max +Average[^\n]*\n[^\n]*stream/${row}.*raw/stream/${row}")
# One HIP call cannot copy memory that is registered in several parts, so raw cases register their
# memory by HIP, in one part.
rocarray_add_exit_code_test(rocbench.registered_in_parts 0 rocbench run */registered --size 300K
  --max-time 0.01 WITH ${environment} ROCARRAY_REGISTER_CHUNK=64K)

# Errors, and suggestions for misspelt names.
rocarray_add_exit_code_test(rocbench.noisy_with_strict 4
  rocbench run d2d/copy --size 4K --min-time 0 --max-time 0 --strict)
rocarray_add_exit_code_test(rocbench.unknown_case 5 rocbench run nonsense
  MESSAGE "rocbench: no case matches 'nonsense'; `rocbench list` prints all cases\n")
rocarray_add_exit_code_test(rocbench.misspelt_case 5 rocbench run h2d/pined
  MESSAGE "rocbench: no case matches 'h2d/pined'; did you mean 'h2d/pinned'[?]\n")
rocarray_add_exit_code_test(rocbench.misspelt_command 1 rocbench swep
  MESSAGE "rocbench: unknown command 'swep'; did you mean 'sweep'[?]\n")
rocarray_add_exit_code_test(rocbench.misspelt_option 1 rocbench run --max-tme=1
  MESSAGE "rocbench: unknown option '--max-tme=1'; did you mean '--max-time'[?]\n")
rocarray_add_exit_code_test(rocbench.unknown_option 1 rocbench run --nonsense
  MESSAGE "rocbench: unknown option '--nonsense'; see `rocbench run --help`\n")
rocarray_add_exit_code_test(rocbench.unexpected_argument 1 rocbench info all
  MESSAGE "rocbench: unexpected argument 'all'; see `rocbench info --help`\n")
rocarray_add_exit_code_test(rocbench.invalid_size 1 rocbench run --size 17179869185G
  MESSAGE "rocbench: --size: 17179869185G is more than 16 EiB; use a smaller size\n")
rocarray_add_exit_code_test(rocbench.size_exceeds_memory 1 rocbench run --size 100T
  MESSAGE "size 100 TiB exceeds this machine's memory")
rocarray_add_exit_code_test(rocbench.rows_exceed_memory 1
  rocbench run strided/* --size 64M --row 1 --pitch 1T MESSAGE "pitch of 1 TiB [^\n]* memory")
rocarray_add_exit_code_test(rocbench.unknown_device 5 rocbench run --device 1000)

# Each kind of copy and memory finds a wrong byte in its payload, the last byte of the guard band before
# it, the first byte of the guard band after it, and a byte in a gap.
set(message_data "")
set(message_before "guard band before the payload, byte 4095")
set(message_after "guard band after the payload, byte 0")
set(message_gap "gap, byte")
foreach(case h2d/pageable d2h/pinned d2d/copy bidir/pinned strided/2d/h2d strided/3d/d2h
    strided/2d/d2d permute/3d/h2d fill/float stream/triad mapped/read mapped/write batch/h2d
    batch/d2h latency/d2h/pageable raw/batch/d2d stream/dot raw/stream/dot stream/copy stream/mul
    stream/add raw/mapped/read raw/mapped/write managed/fault raw/managed/fault managed/prefetch
    raw/managed/prefetch raw/stream/copy raw/stream/mul raw/stream/add raw/stream/triad batch/d2d
    raw/batch/h2d raw/batch/d2h)
  set(sites data before after)
  if(case MATCHES "^(strided|batch)/")
    list(APPEND sites gap)
  endif()
  string(REPLACE "/" "_" name ${case})
  foreach(site ${sites})
    rocarray_add_exit_code_test(rocbench.finds_wrong_byte_${site}_${name} 2
      rocbench run ${case} --size 30001 --row 1000 --max-time 0 --inject=${site}
      MESSAGE "rocbench: ${case}: [^\n]*${message_${site}}")
  endforeach()
endforeach()
foreach(site data gap before after)
  rocarray_add_exit_code_test(rocbench.check_finds_wrong_byte_${site} 2
    rocbench check --inject=${site})
endforeach()
rocarray_add_exit_code_test(rocbench.every_case_finds_wrong_byte 2 rocbench run * ${quick} --inject)

# Skipped cases print the reason.
rocarray_add_exit_code_test(rocbench.skipped.no_gap 77
  rocbench run h2d/pinned --size 64K --inject=gap MESSAGE "skipped: [^\n]*no gaps to corrupt")
if(NOT ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia")
  rocarray_add_exit_code_test(rocbench.skipped.batch_call 77
    rocbench run raw/batch_call/h2d --size 64K MESSAGE "skipped: [^\n]*no batched copy function")
endif()
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" OR ROCARRAY_ON_FAKE_RUNTIME)
  set(reason_ROCARRAY_HOST_MANAGED=off "no managed memory")
  set(reason_ROCARRAY_HOST_MANAGED=basic "no concurrent managed access")
  set(reason_ROCARRAY_HOST_MEMORY=16M "more managed memory than a quarter")
  foreach(variable ROCARRAY_HOST_MANAGED=off ROCARRAY_HOST_MANAGED=basic ROCARRAY_HOST_MEMORY=16M)
    rocarray_add_exit_code_test(rocbench.skipped.managed.${variable} 77
      rocbench run managed/* --size 5M MESSAGE "skipped: [^\n]*${reason_${variable}}"
      WITH ${environment} ${variable})
  endforeach()
endif()
if(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_exit_code_test(rocbench.skipped.without_host_stubs 77
    rocbench run *stream/* *mapped/* --size 5M MESSAGE "skipped: [^\n]*not compiled for this device"
    WITH ${without_host_stubs})
endif()

# The output says if the figures are not those of a GPU.
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
  rocarray_add_exit_code_test(rocbench.says_that_the_cpu_was_measured 0
    rocbench run d2d/copy ${quick} MESSAGE "Measured on the CPU: ")
  foreach(mode threaded inline deferred)
    rocarray_add_exit_code_test(rocbench.every_case_${mode} 0 rocbench run * ${quick} --rounds 1
      WITH ${environment} ${ROCARRAY_HOST_TEST_ENVIRONMENT} ROCARRAY_HOST_MODE=${mode})
  endforeach()
elseif(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_exit_code_test(rocbench.says_that_the_fake_runtime_was_measured 0
    rocbench run d2d/copy ${quick} MESSAGE "Measured with the fake HIP runtime")
endif()

# Result files are written, refused before measuring, and compared.
set(results ${CMAKE_CURRENT_BINARY_DIR}/results.json)
rocarray_add_exit_code_test(rocbench.unwritable_file 1
  rocbench run ${quick} --json /nonexistent/x.json)
rocarray_add_exit_code_test(rocbench.full_device 1 rocbench run d2d/copy ${quick} --json /dev/full)
rocarray_add_exit_code_test(rocbench.run_writes_results 0
  rocbench run h2d/* ${quick} --json ${results} --csv ${results}.csv)
set_tests_properties(${rocarray_test_prefix}.rocbench.run_writes_results PROPERTIES
  FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_results)
file(WRITE ${results}.low "# every case reaches this\nh2d/* 0.0000001 GB/s\n")
file(WRITE ${results}.high "h2d/pinned 1000000 GB/s\n")
rocarray_add_exit_code_test(rocbench.compare_with_itself 0
  rocbench compare ${results} ${results} --tolerance 100)
rocarray_add_exit_code_test(rocbench.compare_reaches_thresholds 0
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.low)
# The last line of standard output is the verdict. Its first word is the worst finding.
rocarray_add_exit_code_test(rocbench.compare_below_threshold 3
  rocbench compare ${results} ${results} --tolerance 100 --thresholds ${results}.high
  MESSAGE "\nbelow 1 threshold[^\n]*\n(rocbench: [^\n]*\n)?$")
rocarray_add_exit_code_test(rocbench.compare_refuses_missing_file 1
  rocbench compare ${results} /nonexistent)
rocarray_add_exit_code_test(rocbench.compare_refuses_other_file 1
  rocbench compare ${results} ${results}.csv)
foreach(test with_itself reaches_thresholds below_threshold refuses_missing_file refuses_other_file)
  set_tests_properties(${rocarray_test_prefix}.rocbench.compare_${test} PROPERTIES
    FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_results)
endforeach()
# After Ctrl-C the results so far are written. In the background, timeout would send a second signal,
# which ends the process.
add_test(NAME ${rocarray_test_prefix}.rocbench.interrupted COMMAND ${CMAKE_COMMAND}
  "-DPROGRAM=timeout;--foreground;--preserve-status;-s;INT;5;${launcher};$<TARGET_FILE:rocbench>"
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

# The other programs.
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
