# SPDX-License-Identifier: MIT
# Runs PROGRAM with the list ARGUMENTS and fails where it does not end with the code EXPECTED.

execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE code)
if(NOT code STREQUAL EXPECTED)
  message(FATAL_ERROR "${PROGRAM} ended with ${code}, not ${EXPECTED}")
endif()
