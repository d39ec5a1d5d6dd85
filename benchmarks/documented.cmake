# SPDX-License-Identifier: MIT
# rocbench's man page and completions are held against the program. Every platform's has the same: one
# build asks.

if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
  foreach(what options man_page bash shells)
    set(test ${rocarray_test_prefix}.rocbench.documented_${what})
    add_test(NAME ${test} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/rocbench/documented.sh
      ${what} $<TARGET_FILE:rocbench>)
    set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
  endforeach()
endif()
