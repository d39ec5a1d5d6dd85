# SPDX-License-Identifier: MIT
# Tests of `rocbench report`. If a browser is installed, it draws the results.
rocarray_add_exit_code_test(rocbench.report_writes_page 0
  rocbench report ${results} ${results} -o ${results}.html)
rocarray_add_exit_code_test(rocbench.report_refuses_other_file 1
  rocbench report ${results}.csv -o ${results}.not.html)
rocarray_add_exit_code_test(rocbench.report_refuses_unwritable_file 1
  rocbench report ${results} -o /nonexistent/x.html)
rocarray_add_exit_code_test(rocbench.report_writes_picture 0
  rocbench report ${results} -o ${results}.svg)
# A picture shows the rates of one run.
rocarray_add_exit_code_test(rocbench.report_refuses_picture_of_two 1
  rocbench report ${results} ${results} -o ${results}.two.svg)
rocarray_add_exit_code_test(rocbench.latency_writes_times 0
  rocbench latency latency/d2d/copy --size 4 --max-time 0 --json ${results}.times)
rocarray_add_exit_code_test(rocbench.report_refuses_picture_of_times 1
  rocbench report ${results}.times -o ${results}.times.svg)
set_tests_properties(${rocarray_test_prefix}.rocbench.latency_writes_times PROPERTIES
  FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_times)
set_tests_properties(${rocarray_test_prefix}.rocbench.report_refuses_picture_of_times PROPERTIES
  FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_times)
foreach(test writes_page writes_picture)
  set_tests_properties(${rocarray_test_prefix}.rocbench.report_${test} PROPERTIES
    FIXTURES_SETUP ${rocarray_test_prefix}.rocbench_report)
endforeach()
foreach(test writes_page refuses_other_file refuses_unwritable_file writes_picture
    refuses_picture_of_two)
  set_tests_properties(${rocarray_test_prefix}.rocbench.report_${test} PROPERTIES
    FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_results)
endforeach()
find_program(ROCARRAY_BROWSER NAMES chromium chromium-browser google-chrome
  DOC "Browser that draws rocbench's report in a test")
if(ROCARRAY_BROWSER)
  foreach(kind html svg)
    set(test ${rocarray_test_prefix}.rocbench.report_renders_${kind})
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND}
      -DBROWSER=${ROCARRAY_BROWSER} -DREPORT=${results}.${kind}
      -DDIRECTORY=${CMAKE_CURRENT_BINARY_DIR}
      -P ${CMAKE_CURRENT_LIST_DIR}/rocbench/render_report.cmake)
    set_tests_properties(${test} PROPERTIES
      FIXTURES_REQUIRED ${rocarray_test_prefix}.rocbench_report TIMEOUT 180
      SKIP_REGULAR_EXPRESSION "no device was found")
  endforeach()
endif()
