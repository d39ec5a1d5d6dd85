# SPDX-License-Identifier: MIT
# A byte beside the data is found too, in memory of the device and of the host, by each way to copy:
# the last one of the guard band in front, the first one of that behind, one in a gap.

set(words_before "guard before the payload, byte 4095")
set(words_behind "guard behind the payload, byte 0")
set(words_gap "in a gap, byte")
foreach(case h2d/pageable d2h/pinned d2d/copy bidir/pinned strided/2d/h2d strided/3d/d2h
    strided/2d/d2d permute/3d/h2d fill/float stream/triad mapped/read mapped/write batch/h2d
    batch/d2h latency/d2h/pageable)
  set(places before behind)
  if(case MATCHES "^(strided|batch)/")
    list(APPEND places gap)
  endif()
  string(REPLACE "/" "_" name ${case})
  foreach(place ${places})
    set(test ${rocarray_test_prefix}.rocbench.wrong_byte_${place}_${name})
    add_test(NAME ${test} COMMAND ${launcher} $<TARGET_FILE:rocbench>
      run ${case} --size 30001 --row 1000 --max-time 0 --inject=${place})
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}"
      SKIP_REGULAR_EXPRESSION "no device was found"
      PASS_REGULAR_EXPRESSION "rocbench: ${case}: [^\n]*${words_${place}}")
  endforeach()
endforeach()
rocarray_add_exit_code_test(rocbench.wrong_byte_in_a_gap 2 rocbench check --inject=gap)
rocarray_add_exit_code_test(rocbench.wrong_byte_before 2 rocbench check --inject=before)
rocarray_add_exit_code_test(rocbench.wrong_byte_behind 2 rocbench check --inject=behind)
rocarray_add_exit_code_test(rocbench.wrong_byte_elsewhere 1 rocbench check --inject=elsewhere)
rocarray_add_skipped_case_test(no_gap "${environment}" "no gaps to corrupt"
  h2d/pinned --size 64K --inject=gap)
