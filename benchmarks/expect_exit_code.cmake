# SPDX-License-Identifier: MIT
# Runs PROGRAM with the list ARGUMENTS and fails where it does not end with the code EXPECTED. Says
# that it does not where the file NEEDED is not there, which a test before writes on a device.

if(NEEDED AND NOT EXISTS ${NEEDED})
  message("no device was found, so that ${NEEDED} was not written")
  return()
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE code)
if(NOT code STREQUAL EXPECTED)
  message(FATAL_ERROR "${PROGRAM} ended with ${code}, not ${EXPECTED}")
endif()
