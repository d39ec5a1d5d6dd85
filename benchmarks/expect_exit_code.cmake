# SPDX-License-Identifier: MIT
# Runs PROGRAM with the list ARGUMENTS and fails if its exit code is not EXPECTED. If the file
# NEEDED is set but does not exist, prints "no device was found" and succeeds: the test that writes the
# file is skipped without a device.

if(NEEDED AND NOT EXISTS ${NEEDED})
  message("${NEEDED} was not written: no device was found")
  return()
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE code)
if(NOT code STREQUAL EXPECTED)
  message(FATAL_ERROR "${PROGRAM}: exit code ${code}, expected ${EXPECTED}")
endif()
