# SPDX-License-Identifier: MIT
# Corrupts bytes outside the payload, for every kind of copy and memory: the last byte of the guard
# band before the payload, the first byte of the guard band after it, and a byte in a gap.
# Verification must find each of them.

set(message_before "guard band before the payload, byte 4095")
set(message_after "guard band after the payload, byte 0")
set(message_gap "gap, byte")
foreach(case h2d/pageable d2h/pinned d2d/copy bidir/pinned strided/2d/h2d strided/3d/d2h
    strided/2d/d2d permute/3d/h2d fill/float stream/triad mapped/read mapped/write batch/h2d
    batch/d2h latency/d2h/pageable)
  set(sites before after)
  if(case MATCHES "^(strided|batch)/")
    list(APPEND sites gap)
  endif()
  string(REPLACE "/" "_" name ${case})
  foreach(site ${sites})
    set(test ${rocarray_test_prefix}.rocbench.finds_wrong_byte_${site}_${name})
    add_test(NAME ${test} COMMAND ${launcher} $<TARGET_FILE:rocbench>
      run ${case} --size 30001 --row 1000 --max-time 0 --inject=${site})
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment}"
      SKIP_REGULAR_EXPRESSION "no device was found"
      PASS_REGULAR_EXPRESSION "rocbench: ${case}: [^\n]*${message_${site}}")
  endforeach()
endforeach()
rocarray_add_exit_code_test(rocbench.check_finds_wrong_byte_in_gap 2 rocbench check --inject=gap)
rocarray_add_exit_code_test(rocbench.check_finds_wrong_byte_before 2 rocbench check --inject=before)
rocarray_add_exit_code_test(rocbench.check_finds_wrong_byte_after 2 rocbench check --inject=after)
rocarray_add_exit_code_test(rocbench.unknown_injection_site 1 rocbench check --inject=elsewhere)
rocarray_add_skipped_case_test(no_gap "${environment}" "no gaps to corrupt"
  h2d/pinned --size 64K --inject=gap)
