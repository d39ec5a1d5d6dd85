# SPDX-License-Identifier: MIT
# Compares rocbench's man page and completions with the program. They are the same on every
# platform, so only the host build tests them.

if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
  foreach(check options man_page bash shells)
    set(test ${rocarray_test_prefix}.rocbench.documentation_${check})
    add_test(NAME ${test} COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/rocbench/check_documentation.sh
      ${check} $<TARGET_FILE:rocbench>)
    set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
  endforeach()
endif()
