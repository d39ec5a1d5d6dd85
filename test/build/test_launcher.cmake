# SPDX-License-Identifier: MIT
# cmake -DSOURCE=... -DDIRECTORY=... -DGENERATOR=... -DCXX=... -P test_launcher.cmake: the launcher of
# ROCARRAY_TEST_LAUNCHER begins the command of every test, once. CMake has changed the property that
# says so (CMP0158).
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(result)
    message(FATAL_ERROR "${ARGN} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/test_launcher -B ${DIRECTORY} -G ${GENERATOR}
  -DCMAKE_CXX_COMPILER=${CXX} -DSOURCE=${SOURCE})
run(${CMAKE_COMMAND} --build ${DIRECTORY})
get_filename_component(bin ${CMAKE_COMMAND} DIRECTORY)
run(${bin}/ctest --test-dir ${DIRECTORY} --output-on-failure)
run(${bin}/ctest --test-dir ${DIRECTORY} --show-only=json-v1)

string(FIND "${output}" "{" begin)  # after lines on stderr
string(SUBSTRING "${output}" ${begin} -1 output)
string(JSON count LENGTH "${output}" tests)
if(NOT count EQUAL 4)
  message(FATAL_ERROR "CTest lists ${count} tests instead of 4:\n${output}")
endif()
math(EXPR last "${count} - 1")
foreach(i RANGE ${last})
  string(JSON name GET "${output}" tests ${i} name)
  foreach(k RANGE 2)
    string(JSON word${k} GET "${output}" tests ${i} command ${k})
  endforeach()
  if(NOT "${word0} ${word1}" STREQUAL "${CMAKE_CURRENT_LIST_DIR}/test_launcher/launcher.sh --option"
     OR NOT word2 MATCHES "_test$")
    message(FATAL_ERROR "the launcher does not begin ${name}, once: ${word0} ${word1} ${word2} ...")
  endif()
  message(STATUS "${name}: ${word0} ${word1} ${word2}")
endforeach()
