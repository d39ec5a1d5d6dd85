# SPDX-License-Identifier: MIT
# cmake -DCOMPILER=... -DINCLUDE=... -DPRECOMPILED=... -DSOURCE=... -P check.cmake
#
# PRECOMPILED is a directory with precompiled headers, which takes precedence over INCLUDE.
# Compiles SOURCE, which must fail if it has a line "// expected: TEXT", with TEXT in the first five
# lines of the compiler's output. Without such a line it must compile.
cmake_minimum_required(VERSION 3.20)

file(STRINGS "${SOURCE}" expected REGEX "^// expected: ")
string(REGEX REPLACE "^// expected: " "" expected "${expected}")
execute_process(
  COMMAND "${COMPILER}" -std=c++20 -fsyntax-only "-I${PRECOMPILED}" "-I${INCLUDE}" "${SOURCE}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(expected STREQUAL "")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} does not compile:\n${output}")
  endif()
  return()
endif()
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, but should fail with \"${expected}\"")
endif()
# In CMake, semicolons and brackets would change how the text is split into lines.
string(REGEX REPLACE "[][;]" "," lines "${output}")
string(REPLACE "\n" ";" lines "${lines}")
list(SUBLIST lines 0 5 lines)
string(FIND "${lines}" "${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR
    "The first five lines of the compiler's output do not contain \"${expected}\":\n${output}")
endif()
