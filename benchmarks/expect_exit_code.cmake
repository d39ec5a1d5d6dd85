# SPDX-License-Identifier: MIT
# Runs PROGRAM with the list ARGUMENTS. Fails if its exit code does not match EXPECTED, or if its output does not
# match the regular expression MESSAGE, if it is set, and each of the list MESSAGES. If the file NEEDED is set but
# does not exist, prints "no device was found" and succeeds: the test of the file is skipped without a device.

if(NEEDED AND NOT EXISTS ${NEEDED})
  message("${NEEDED} was not written: no device was found")
  return()
endif()
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE code
  OUTPUT_VARIABLE output ERROR_VARIABLE output)
message("${output}")
if(NOT code MATCHES "^(${EXPECTED})$")
  message(FATAL_ERROR "${PROGRAM}: exit code ${code}, expected ${EXPECTED}")
endif()
if(MESSAGE AND NOT output MATCHES "${MESSAGE}")
  message(FATAL_ERROR "${PROGRAM}: the output does not match: ${MESSAGE}")
endif()
foreach(message IN LISTS MESSAGES)
  if(NOT output MATCHES "${message}")
    message(SEND_ERROR "${PROGRAM}: the output does not match: ${message}")
  endif()
endforeach()
