# SPDX-License-Identifier: MIT
# Warnings and sanitizers of the project's own targets; users' targets get neither.

set(ROC_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")
option(ROC_WARNINGS_AS_ERRORS "Warnings stop the build" OFF)

set(ROC_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(ROC_WARNINGS_AS_ERRORS)
  list(APPEND ROC_WARNINGS -Werror)
endif()

if(ROC_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ROC_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  if(ROC_SANITIZE MATCHES "undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
  add_link_options(-fsanitize=${ROC_SANITIZE})
endif()

# Sets what every target of the project is compiled with.
function(roc_project_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ROC_WARNINGS}>")
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF ROC_DEVICE_OPTIONS "${ROC_WARNINGS}")
endfunction()
