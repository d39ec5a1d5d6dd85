# SPDX-License-Identifier: MIT
# The report, by the browser where one is found.
rocarray_add_exit_code_test(rocbench.report_writes 0
  rocbench report ${results} ${results} -o ${results}.html)
rocarray_add_exit_code_test(rocbench.report_of_other_file 1
  rocbench report ${results}.csv -o ${results}.not.html)
rocarray_add_exit_code_test(rocbench.report_unwritable 1
  rocbench report ${results} -o /nonexistent/x.html)
rocarray_add_exit_code_test(rocbench.report_picture 0
  rocbench report ${results} -o ${results}.svg)
# A picture is of one run, and of rates.
rocarray_add_exit_code_test(rocbench.report_picture_of_two 1
  rocbench report ${results} ${results} -o ${results}.two.svg)
rocarray_add_exit_code_test(rocbench.report_times_written 0
  rocbench latency latency/d2d/copy --size 4 --max-time 0 --json ${results}.times)
rocarray_add_exit_code_test(rocbench.report_picture_of_times 1
  rocbench report ${results}.times -o ${results}.times.svg)
set_tests_properties(${rocarray_test_prefix}.rocbench.report_times_written PROPERTIES
  FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_times)
set_tests_properties(${rocarray_test_prefix}.rocbench.report_picture_of_times PROPERTIES
  FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_times)
foreach(test writes picture)
  set_tests_properties(${rocarray_test_prefix}.rocbench.report_${test} PROPERTIES
    FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_report)
endforeach()
foreach(test writes of_other_file unwritable picture picture_of_two)
  set_tests_properties(${rocarray_test_prefix}.rocbench.report_${test} PROPERTIES
    FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_results)
endforeach()
find_program(ROCARRAY_BROWSER NAMES chromium chromium-browser google-chrome
  DOC "Draws rocbench's report in a test")
if(ROCARRAY_BROWSER)
  foreach(kind html svg)
    set(test ${rocarray_test_prefix}.rocbench.report_drawn_${kind})
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND}
      -DBROWSER=${ROCARRAY_BROWSER} -DREPORT=${results}.${kind} -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}
      -P ${CMAKE_CURRENT_LIST_DIR}/rocbench/render_report.cmake)
    set_tests_properties(${test} PROPERTIES
      FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_report TIMEOUT 180
      SKIP_REGULAR_EXPRESSION "no device was found")
  endforeach()
endif()
