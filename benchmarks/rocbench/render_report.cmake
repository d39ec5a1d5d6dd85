# SPDX-License-Identifier: MIT
# Draws the page or picture REPORT with the browser BROWSER, wide and as narrow as a phone, into the
# folder FOLDER; fails where no picture comes, or nothing is on it.

if(NOT EXISTS ${REPORT})
  message("no device was found, so that ${REPORT} was not written")
  return()
endif()
foreach(width 1280 500)
  get_filename_component(kind ${REPORT} LAST_EXT)
  set(picture ${FOLDER}/report${kind}_${width}.png)
  file(REMOVE ${picture})
  execute_process(COMMAND ${BROWSER} --headless --no-sandbox --disable-gpu --hide-scrollbars
      --window-size=${width},2400 --screenshot=${picture} file://${REPORT}
    RESULT_VARIABLE code ERROR_VARIABLE problem OUTPUT_QUIET)
  if(NOT code EQUAL 0 OR NOT EXISTS ${picture})
    message(FATAL_ERROR "${BROWSER} ended with ${code}: ${problem}")
  endif()
  # A page of one colour is small however large the window: something must have been drawn.
  file(SIZE ${picture} bytes)
  if(bytes LESS 30000)
    message(FATAL_ERROR "${picture} has only ${bytes} bytes: the page is empty")
  endif()
endforeach()
