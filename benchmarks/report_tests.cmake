# SPDX-License-Identifier: MIT
# Tests of `rocbench report`. If a browser is installed, it draws the results.

# Adds a test of a report of the results. Reports that are written are drawn by the browser's test.
function(rocarray_add_report_test name code)
  set(test rocbench.report_${name})
  rocarray_add_exit_code_test(${test} ${code} rocbench report ${ARGN})
  set_tests_properties(${rocarray_test_prefix}.${test} PROPERTIES FIXTURES_REQUIRED
    "${rocarray_test_prefix}.rocbench_results;${rocarray_test_prefix}.rocbench_times")
  if(code EQUAL 0)
    set_tests_properties(${rocarray_test_prefix}.${test} PROPERTIES
      FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_report)
  endif()
endfunction()

rocarray_add_exit_code_test(rocbench.latency_writes_times 0
  rocbench latency latency/d2d/copy --size 4 --max-time 0 --json ${results}.times)
set_tests_properties(${rocarray_test_prefix}.rocbench.latency_writes_times PROPERTIES
  FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_times)
rocarray_add_report_test(writes_page 0 ${results} ${results} -o ${results}.html)
rocarray_add_report_test(writes_picture 0 ${results} -o ${results}.svg)
rocarray_add_report_test(refuses_other_file 1 ${results}.csv -o ${results}.not.html)
rocarray_add_report_test(refuses_unwritable_file 1 ${results} -o /nonexistent/x.html)
rocarray_add_report_test(refuses_picture_of_two 1 ${results} ${results} -o ${results}.two.svg)
rocarray_add_report_test(refuses_picture_of_times 1 ${results}.times -o ${results}.times.svg)

find_program(ROCARRAY_BROWSER NAMES chromium chromium-browser google-chrome
  DOC "Browser that draws rocbench's report in a test")
if(ROCARRAY_BROWSER)
  foreach(kind html svg)
    set(test ${rocarray_test_prefix}.rocbench.report_renders_${kind})
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND} -DBROWSER=${ROCARRAY_BROWSER}
      -DREPORT=${results}.${kind} -DDIRECTORY=${CMAKE_CURRENT_BINARY_DIR}
      -P ${CMAKE_CURRENT_LIST_DIR}/rocbench/render_report.cmake)
    set_tests_properties(${test} PROPERTIES TIMEOUT 180
      FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_report
      SKIP_REGULAR_EXPRESSION "no device was found")
  endforeach()
endif()
