# SPDX-License-Identifier: MIT
# Warnings and sanitizers of the project's own targets; users' targets get neither.

set(ROCARRAY_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")
option(ROCARRAY_WARNINGS_AS_ERRORS "Warnings stop the build" OFF)

set(ROCARRAY_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(ROCARRAY_WARNINGS_AS_ERRORS)
  list(APPEND ROCARRAY_WARNINGS -Werror)
endif()

if(ROCARRAY_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${ROCARRAY_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  if(ROCARRAY_SANITIZE MATCHES "undefined")
    add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>)
  endif()
  add_link_options(-fsanitize=${ROCARRAY_SANITIZE})
endif()

# Sets what every target of the project is compiled with.
function(rocarray_project_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ROCARRAY_WARNINGS}>")
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF ROCARRAY_DEVICE_OPTIONS "${ROCARRAY_WARNINGS}")
endfunction()
