# SPDX-License-Identifier: MIT
# Tests of the programs as they are called.

set(environment ${ROC_TEST_ENVIRONMENT})
if(ROC_ON_DOUBLE)
  foreach(program rocbench call_overhead)
    add_dependencies(${program} roc_double roc_library_twins)
  endforeach()
  list(APPEND environment LD_LIBRARY_PATH=${ROC_DOUBLE_DIRECTORY}
    ROC_HOST_TWINS=$<TARGET_FILE:roc_library_twins>)
endif()

set(launcher "")
if(ROC_RESOLVED_PLATFORM STREQUAL "amd" AND ROC_TEST_LAUNCHER
   AND NOT ROC_TEST_LAUNCHER STREQUAL "auto")
  set(launcher ${ROC_TEST_LAUNCHER})
endif()

# roc_add_exit_code_test(NAME EXIT_CODE PROGRAM arguments...): passes where the program ends with that
# code; counts as skipped where there is no device, unless that code is wanted.
function(roc_add_exit_code_test test code program)
  set(name ${roc_test_prefix}.${test})
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND}
    "-DPROGRAM=${launcher};$<TARGET_FILE:${program}>" "-DARGUMENTS=${ARGN}" -DEXPECTED=${code}
    -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/expect_exit_code.cmake)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 120)
  if(NOT code EQUAL 5)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "no device was found")
  endif()
endfunction()

set(quick --size 64K --min-time 0.01 --max-time 0.05)
roc_add_exit_code_test(rocbench.run 0 rocbench run ${quick})
roc_add_exit_code_test(rocbench.run_is_default 0 rocbench ${quick})
roc_add_exit_code_test(rocbench.odd_size 0 rocbench run --size 4097 --min-time 0 --max-time 0)
roc_add_exit_code_test(rocbench.finds_a_wrong_byte 2 rocbench run ${quick} --inject)
roc_add_exit_code_test(rocbench.unknown_case 5 rocbench run nonsense)
roc_add_exit_code_test(rocbench.unknown_option 1 rocbench run --nonsense)
roc_add_exit_code_test(rocbench.zero_size 1 rocbench run --size 0)
roc_add_exit_code_test(rocbench.unknown_device 5 rocbench run --device 1000)
roc_add_exit_code_test(rocbench.version 0 rocbench --version)

add_test(NAME ${roc_test_prefix}.rocbench.list COMMAND ${launcher} $<TARGET_FILE:rocbench> list)
set(all "")
foreach(case h2d/pinned h2d/pageable h2d/registered d2h/pinned d2h/pageable d2h/registered d2d/copy)
  string(APPEND all "${case} [^\n]*\nraw/${case} [^\n]*\n")
endforeach()
set_tests_properties(${roc_test_prefix}.rocbench.list PROPERTIES
  ENVIRONMENT "${environment}" PASS_REGULAR_EXPRESSION "^${all}$")

roc_add_exit_code_test(call_overhead 0 call_overhead --benchmark_min_time=0.01)
