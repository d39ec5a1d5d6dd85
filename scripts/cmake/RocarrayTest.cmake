# SPDX-License-Identifier: MIT
# rocarray_add_test(NAME SOURCES files... [DEVICE_SOURCES files.hip...] [ENVIRONMENT NAME=value...]
#              [ALSO_WITH NAME=value...] [HOST_ONLY] [NO_DEVICE] [FRESH])
#
# A GoogleTest program, every test of which is a test of CTest (see ROCARRAY_TEST_BY_PROGRAM). On the host
# platform it is run in each of the modes threaded, inline and deferred; on amd through the launcher; a
# skipped test is counted as skipped, and its output says why. DEVICE_SOURCES are compiled by the
# device compiler; on amd their twins are made too. NO_DEVICE: the test needs no device and runs where
# there is none. ALSO_WITH: the tests are run once more with each of these besides ENVIRONMENT, and its
# value becomes a part of their names: one program for what is read once a process.
# FRESH: each of its tests needs a process of its own, also under ROCARRAY_TEST_BY_PROGRAM: what failed, was
# logged or is held before would be seen.

set(ROCARRAY_TEST_LAUNCHER auto CACHE STRING
  "What starts the amd tests: auto (the CPU double where there is no AMD GPU), empty (nothing), or a command")
set(ROCARRAY_TEST_SCALE "" CACHE STRING "Divides the sizes of the tests, for emulators: 1 or more")
set(ROCARRAY_TEST_COMPILE_OPTIONS "" CACHE STRING
  "Further options of the C++ compiler for the tests, such as -O0: the library keeps its own")
option(ROCARRAY_TEST_BY_PROGRAM "A program with all its tests is one test of CTest, in one process" OFF)
set(ROCARRAY_TEST_PREFIX "" CACHE STRING "First part of the tests' names; empty: the platform's name")

find_package(GTest REQUIRED)
include(GoogleTest)

# Also a label of every test: several builds may be run by one CTest.
set(rocarray_test_prefix ${ROCARRAY_TEST_PREFIX})
if(NOT rocarray_test_prefix)
  set(rocarray_test_prefix ${ROCARRAY_RESOLVED_PLATFORM})
endif()
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY LABELS ${rocarray_test_prefix})

# Small copies of pageable memory take the long way too.
set(ROCARRAY_TEST_ENVIRONMENT ROCARRAY_STAGING_THRESHOLD=0)
if(ROCARRAY_SANITIZE MATCHES "thread")
  # Else every program with threads that stay, as the workers', sleeps for a second at its end.
  list(APPEND ROCARRAY_TEST_ENVIRONMENT TSAN_OPTIONS=atexit_sleep_ms=50)
endif()
set(ROCARRAY_TEST_COMMAND_PREFIX "")
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "amd" AND NOT ROCARRAY_TEST_LAUNCHER STREQUAL "auto")
  set(ROCARRAY_TEST_COMMAND_PREFIX ${ROCARRAY_TEST_LAUNCHER})
endif()
set(ROCARRAY_ON_FAKE_RUNTIME OFF)
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "amd" AND ROCARRAY_TEST_LAUNCHER STREQUAL "auto"
   AND NOT EXISTS /dev/kfd)
  set(ROCARRAY_ON_FAKE_RUNTIME ON)
endif()
if(ROCARRAY_TEST_SCALE)
  list(APPEND ROCARRAY_TEST_ENVIRONMENT ROCARRAY_TEST_SCALE=${ROCARRAY_TEST_SCALE})
endif()

# Closed, poisoned memory finds what a GPU would find, on the host as on the double.
set(ROCARRAY_HOST_TEST_ENVIRONMENT ROCARRAY_HOST_POISON=on ROCARRAY_HOST_PROTECT=on ROCARRAY_HOST_MEMORY=256M
  ROCARRAY_HOST_THREADS=4)

# What all tests are compiled with: the precompiled headers are of them all.
function(rocarray_test_options target)
  rocarray_project_options(${target})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${ROCARRAY_TEST_COMPILE_OPTIONS}>")
endfunction()

function(rocarray_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HOST_ONLY;NO_DEVICE;FRESH" ""
    "SOURCES;DEVICE_SOURCES;ENVIRONMENT;ALSO_WITH;MODES")
  if(arg_HOST_ONLY AND NOT ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  rocarray_test_options(${name})
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/test)
  target_link_libraries(${name} PRIVATE rocarray_static rocarray_test_support GTest::gtest)
  target_precompile_headers(${name} REUSE_FROM rocarray_test_support)
  set(environment ${ROCARRAY_TEST_ENVIRONMENT} ${arg_ENVIRONMENT})
  if(arg_DEVICE_SOURCES)
    rocarray_target_device_sources(${name} ${arg_DEVICE_SOURCES})
  endif()
  if(ROCARRAY_ON_FAKE_RUNTIME)
    # Kernels of the program are found by name: they are exported, as the twins' are.
    set(host_stubs $<TARGET_FILE:rocarray_library_host_stubs>)
    if(arg_DEVICE_SOURCES)
      rocarray_add_kernel_host_stubs(${name}_host_stubs SOURCES ${arg_DEVICE_SOURCES}
        INCLUDES ${PROJECT_SOURCE_DIR}/test)
      add_dependencies(${name} ${name}_host_stubs)
      set(host_stubs "${host_stubs}:$<TARGET_FILE:${name}_host_stubs>")
    endif()
    add_dependencies(${name} rocarray_library_host_stubs rocarray_fake_runtime)
    # The installed library is what is linked; LD_LIBRARY_PATH must win over where it lies.
    target_link_options(${name} PRIVATE -Wl,--enable-new-dtags)
    list(APPEND environment LD_LIBRARY_PATH=${ROCARRAY_FAKE_RUNTIME_DIRECTORY} ROCARRAY_HOST_STUBS=${host_stubs})
  endif()
  if(ROCARRAY_TEST_COMMAND_PREFIX)
    set_target_properties(${name} PROPERTIES CROSSCOMPILING_EMULATOR "${ROCARRAY_TEST_COMMAND_PREFIX}")
  endif()
  set(modes "")
  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
    list(PREPEND environment ${ROCARRAY_HOST_TEST_ENVIRONMENT})
    set(modes threaded inline deferred)
  elseif(ROCARRAY_ON_FAKE_RUNTIME)
    set(modes threaded deferred)
  endif()
  if(arg_MODES AND modes)
    set(modes ${arg_MODES})
  endif()
  if(NOT modes)
    set(modes device)
  endif()
  _roc_register_all(${name} "" "${modes}" "${environment}" "${arg_NO_DEVICE}" "${arg_FRESH}")
  foreach(setting IN LISTS arg_ALSO_WITH)
    string(REGEX REPLACE "^[^=]*=" "" value ${setting})
    _roc_register_all(${name} ${value}. "${modes}" "${environment};${setting}"
      "${arg_NO_DEVICE}" "${arg_FRESH}")
  endforeach()
endfunction()

# `part`: of the tests' names, behind the mode; empty or with a dot at its end.
function(_roc_register_all name part modes environment no_device fresh)
  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia" AND NOT EXISTS /dev/nvidiactl AND NOT no_device)
    # One line for the program instead of one for each test that cannot run.
    set(test ${rocarray_test_prefix}.${part}${name})
    add_test(NAME ${test} COMMAND ${name})
    set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77)
    return()
  endif()
  foreach(mode IN LISTS modes)
    _roc_register(${name} "${part}" ${mode} "${environment}" "${fresh}")
  endforeach()
endfunction()

function(_roc_register name part mode environment fresh)
  set(prefix ${rocarray_test_prefix}.)
  if(NOT mode STREQUAL "device")
    set(prefix ${prefix}${mode}.)
    list(APPEND environment ROCARRAY_HOST_MODE=${mode})
  endif()
  set(prefix ${prefix}${part})
  if(ROCARRAY_TEST_BY_PROGRAM AND NOT fresh)
    add_test(NAME ${prefix}${name} COMMAND ${name})
    set_tests_properties(${prefix}${name} PROPERTIES
      TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
    return()
  endif()
  set(list ${name}_${part}${mode}_tests)
  gtest_discover_tests(${name}
    TEST_PREFIX ${prefix}
    TEST_LIST ${list}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77)
  # gtest_discover_tests would take a list of several variables apart: they are set behind it.
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_${part}${mode}_environment.cmake)
  file(GENERATE OUTPUT ${script} CONTENT
"foreach(test IN LISTS ${list})
  set_tests_properties(\"\${test}\" PROPERTIES ENVIRONMENT \"${environment}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# rocarray_add_program_test(TEST TARGET arguments...)
#
# A test that runs a program as it is: passes with 0, is skipped with 77. On the host platform in
# every mode, on amd as the other tests are started.
function(rocarray_add_program_test test target)
  set(environment ${ROCARRAY_TEST_ENVIRONMENT})
  set(modes device)
  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
    list(APPEND environment ${ROCARRAY_HOST_TEST_ENVIRONMENT})
    set(modes threaded inline deferred)
  elseif(ROCARRAY_ON_FAKE_RUNTIME)
    set(host_stubs $<TARGET_FILE:rocarray_library_host_stubs>:$<TARGET_FILE:rocarray_example_host_stubs>)
    add_dependencies(${target} rocarray_library_host_stubs rocarray_example_host_stubs rocarray_fake_runtime)
    target_link_options(${target} PRIVATE -Wl,--enable-new-dtags)
    list(APPEND environment LD_LIBRARY_PATH=${ROCARRAY_FAKE_RUNTIME_DIRECTORY} ROCARRAY_HOST_STUBS=${host_stubs})
    set(modes threaded deferred)
  endif()
  foreach(mode IN LISTS modes)
    set(name ${rocarray_test_prefix}.${test})
    set(variables ${environment})
    if(NOT mode STREQUAL "device")
      set(name ${rocarray_test_prefix}.${mode}.${test})
      list(APPEND variables ROCARRAY_HOST_MODE=${mode})
    endif()
    add_test(NAME ${name} COMMAND ${ROCARRAY_TEST_COMMAND_PREFIX} $<TARGET_FILE:${target}> ${ARGN})
    set_tests_properties(${name} PROPERTIES
      TIMEOUT 120 SKIP_RETURN_CODE 77 ENVIRONMENT "${variables}")
  endforeach()
endfunction()
