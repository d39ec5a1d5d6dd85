# SPDX-License-Identifier: MIT
# Warnings, sanitizers and fuzzing for the project's own targets; not for users' targets.

set(ROCARRAY_SANITIZE "" CACHE STRING "Sanitizers to compile with: address,undefined or thread")
option(ROCARRAY_FUZZ "Build the fuzzers of test/campaigns for libFuzzer; needs clang" OFF)
option(ROCARRAY_WARNINGS_AS_ERRORS "Treat warnings as errors" OFF)

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

if(ROCARRAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "rocarray: ROCARRAY_FUZZ needs clang's libFuzzer, but the compiler is "
      "${CMAKE_CXX_COMPILER_ID}; set CMAKE_CXX_COMPILER to clang++")
  endif()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()

# Sets the standard and the warnings of a target of the project.
function(rocarray_project_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${ROCARRAY_WARNINGS}>")
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF ROCARRAY_DEVICE_OPTIONS "${ROCARRAY_WARNINGS}")
endfunction()
