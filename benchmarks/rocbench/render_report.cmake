# SPDX-License-Identifier: MIT
# Draws the report REPORT with the browser BROWSER at the width of a desktop and of a phone. Writes
# the screenshots to DIRECTORY and fails if one is missing or empty.

if(NOT EXISTS ${REPORT})
  message("${REPORT} was not written: no device was found")
  return()
endif()
foreach(width 1280 500)
  get_filename_component(kind ${REPORT} LAST_EXT)
  set(screenshot ${DIRECTORY}/report${kind}_${width}.png)
  file(REMOVE ${screenshot})
  execute_process(COMMAND ${BROWSER} --headless --no-sandbox --disable-gpu --hide-scrollbars
      --window-size=${width},2400 --screenshot=${screenshot} file://${REPORT}
    RESULT_VARIABLE code ERROR_VARIABLE error OUTPUT_QUIET)
  if(NOT code EQUAL 0 OR NOT EXISTS ${screenshot})
    message(FATAL_ERROR "${BROWSER}: exit code ${code}: ${error}")
  endif()
  # A screenshot of one color compresses to a small file at any window size.
  file(SIZE ${screenshot} bytes)
  if(bytes LESS 30000)
    message(FATAL_ERROR "${screenshot} has only ${bytes} bytes: the page is empty")
  endif()
endforeach()
