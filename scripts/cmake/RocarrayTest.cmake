# SPDX-License-Identifier: MIT
# rocarray_add_test(NAME SOURCES files... [DEVICE_SOURCES files.hip...] [ENVIRONMENT NAME=value...]
#                   [ALSO_WITH NAME=value...] [MODES mode...] [NOT_IN setting=test...] [HOST_ONLY]
#                   [NO_DEVICE] [FRESH])
#
# Adds a GoogleTest program. Each of its tests is a CTest test (but see ROCARRAY_TEST_BY_PROGRAM).
# On the host platform the tests run in each of the modes threaded, inline and deferred, and those
# that use a device also in the mode check: deferred with ROCARRAY_HOST_CHECK=report, in which a
# program fails if the host accesses memory of pending work. On amd the tests run with
# ROCARRAY_TEST_LAUNCHER. CTest counts a skipped test as skipped; its output contains the reason.
#
# DEVICE_SOURCES  sources for the device compiler; for the fake HIP runtime also built as host stubs
# ENVIRONMENT     environment variables of the tests: the emulated machine, and those that are
#                 themselves tested. Options of the library are set in the sources
#                 (test/support/options.hpp)
# ALSO_WITH       runs the tests once more with each of these variables added to ENVIRONMENT, and
#                 adds its value to the tests' names; for other emulated machines. These runs leave
#                 out mode inline, and mode check unless the variable is ROCARRAY_HOST_EMULATE.
#                 With ROCARRAY_STREAM_STAGING the tests run in all modes: the modes differ in the
#                 waits that this option uses
# MODES           the modes to run in, if not all
# NOT_IN          tests that cannot run in a mode, with a value of ALSO_WITH (`default`: without one;
#                 rocm5: under its rules on the fake runtime) or on a platform, and would be skipped
#                 there: inline=Suite.Test. They are not added.
#                 `deferred` includes check
# HOST_ONLY       adds the tests on the host platform only
# NO_DEVICE       the tests need no device and also run on machines without one
# FRESH           each test needs its own process, also with ROCARRAY_TEST_BY_PROGRAM, because it
#                 would see failures, log lines or memory of an earlier test

# The GPUs of this machine, for tests that need several on nvidia.
file(GLOB gpus /dev/nvidia[0-9] /dev/nvidia[0-9][0-9])
list(LENGTH gpus rocarray_test_gpu_count)

set(ROCARRAY_TEST_LAUNCHER auto CACHE STRING
  "Launcher of amd tests: auto (fake HIP runtime if there is no AMD GPU), empty, or a command")
set(ROCARRAY_TEST_SCALE "" CACHE STRING "Divisor of the tests' sizes, for emulators: 1 or more")
set(ROCARRAY_TEST_COMPILE_OPTIONS "" CACHE STRING
  "Additional C++ compiler options of the tests, such as -O0; the library does not use them")
option(ROCARRAY_TEST_BY_PROGRAM "Run all tests of a program as one CTest test, in one process" OFF)
set(ROCARRAY_TEST_PREFIX "" CACHE STRING
  "First part of the tests' names; empty: the platform's name")

find_package(GTest REQUIRED)
include(GoogleTest)

# The prefix is also a label of every test, because one CTest may run the tests of several builds.
set(rocarray_test_prefix ${ROCARRAY_TEST_PREFIX})
if(NOT rocarray_test_prefix)
  set(rocarray_test_prefix ${ROCARRAY_RESOLVED_PLATFORM})
endif()
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY LABELS ${rocarray_test_prefix})

# With this threshold, small copies of pageable memory are staged too. Programs with
# test/support/main.cpp set it themselves.
set(ROCARRAY_TEST_ENVIRONMENT ROCARRAY_STAGING_THRESHOLD=0)
if(ROCARRAY_SANITIZE MATCHES "thread")
  # Otherwise every program with detached threads, such as the copy threads, sleeps for a second at
  # exit.
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

# The fake HIP runtime emulates a version of ROCm. The tests of the modules in which versions differ most
# run in the modes threaded and deferred; the others only in mode deferred, because the host platform
# runs them in all modes. Those of the second list, except programs that need no device, run once more
# under the rules of ROCm 5.
set(ROCARRAY_FAKE_RUNTIME_ENVIRONMENT ROCARRAY_HOST_EMULATE=rocm6)
set(ROCARRAY_VERSION_DEPENDENT_TEST_MODULES runtime memory copy)
set(ROCARRAY_ROCM5_TEST_MODULES ${ROCARRAY_VERSION_DEPENDENT_TEST_MODULES}
  arrays kernels interop c_interface)

# Poisoned and protected memory detects the errors that a GPU would. Both are on by default in the
# fake HIP runtime.
set(ROCARRAY_HOST_TEST_ENVIRONMENT ROCARRAY_HOST_POISON=on ROCARRAY_HOST_PROTECT=on
  ROCARRAY_HOST_MEMORY=256M ROCARRAY_HOST_THREADS=4)
# The modes of the host platform, and the environment that selects each of them.
set(ROCARRAY_HOST_TEST_MODES threaded inline deferred)
foreach(mode IN LISTS ROCARRAY_HOST_TEST_MODES)
  set(ROCARRAY_ENVIRONMENT_IN_${mode} ROCARRAY_HOST_MODE=${mode})
endforeach()
set(ROCARRAY_ENVIRONMENT_IN_check ROCARRAY_HOST_MODE=deferred ROCARRAY_HOST_CHECK=report)
if(ROCARRAY_SANITIZE)
  # Modes differ in the host platform and in the library's streams. In the other modules they differ in
  # when work runs: `threaded` shows races, and also `deferred` memory that is used after its lifetime.
  # ThreadSanitizer has little to find in the other modes, in which the threads of streams do not run.
  set(ROCARRAY_ALL_MODES_TEST_MODULES "")
  set(ROCARRAY_SANITIZED_TEST_MODES threaded)
  if(NOT ROCARRAY_SANITIZE MATCHES "thread")
    set(ROCARRAY_ALL_MODES_TEST_MODULES platform host runtime)
    list(APPEND ROCARRAY_SANITIZED_TEST_MODES deferred)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND ROCARRAY_HOST_TEST_MODES check)
endif()

# Sets the compile options that all tests share, because they share precompiled headers.
function(rocarray_test_options target)
  rocarray_project_options(${target})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${ROCARRAY_TEST_COMPILE_OPTIONS}>")
endfunction()

# See the top of this file.
function(rocarray_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HOST_ONLY;NO_DEVICE;FRESH" ""
    "SOURCES;DEVICE_SOURCES;ENVIRONMENT;ALSO_WITH;MODES;NOT_IN")
  if(arg_HOST_ONLY AND NOT ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_property(TARGET ${name} PROPERTY ROCARRAY_NOT_IN ${arg_NOT_IN})
  rocarray_test_options(${name})
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/test)
  target_link_libraries(${name} PRIVATE rocarray::tested rocarray_test_support GTest::gtest)
  target_precompile_headers(${name} REUSE_FROM rocarray_test_support)
  set(environment ${ROCARRAY_TEST_ENVIRONMENT} ${arg_ENVIRONMENT})
  list(REMOVE_ITEM environment ROCARRAY_STAGING_THRESHOLD=0)
  if(arg_DEVICE_SOURCES)
    rocarray_target_device_sources(${name} ${arg_DEVICE_SOURCES})
  endif()
  if(ROCARRAY_ON_FAKE_RUNTIME)
    # The fake HIP runtime finds the host stubs of the program's kernels in this list of libraries.
    set(host_stubs $<TARGET_FILE:rocarray_library_host_stubs>)
    if(arg_DEVICE_SOURCES)
      rocarray_add_kernel_host_stubs(${name}_host_stubs SOURCES ${arg_DEVICE_SOURCES}
        INCLUDES ${PROJECT_SOURCE_DIR}/test)
      add_dependencies(${name} ${name}_host_stubs)
      set(host_stubs "${host_stubs}:$<TARGET_FILE:${name}_host_stubs>")
    endif()
    add_dependencies(${name} rocarray_library_host_stubs rocarray_fake_runtime)
    # The program is linked with the installed libamdhip64. With DT_RUNPATH, LD_LIBRARY_PATH takes
    # precedence over its directory.
    target_link_options(${name} PRIVATE -Wl,--enable-new-dtags)
    list(PREPEND environment ${ROCARRAY_FAKE_RUNTIME_ENVIRONMENT})
    list(APPEND environment
      LD_LIBRARY_PATH=${ROCARRAY_FAKE_RUNTIME_DIRECTORY} ROCARRAY_HOST_STUBS=${host_stubs})
  endif()
  if(ROCARRAY_TEST_COMMAND_PREFIX)
    # CMake from 3.29 on reads TEST_LAUNCHER, older ones CROSSCOMPILING_EMULATOR (CMP0158). To set both
    # would start the tests with two launchers.
    set(launcher_property CROSSCOMPILING_EMULATOR)
    if(CMAKE_VERSION VERSION_GREATER_EQUAL 3.29)
      set(launcher_property TEST_LAUNCHER)
    endif()
    set_target_properties(${name} PROPERTIES
      ${launcher_property} "${ROCARRAY_TEST_COMMAND_PREFIX}")
  endif()
  get_filename_component(module ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(modes "")
  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
    list(PREPEND environment ${ROCARRAY_HOST_TEST_ENVIRONMENT})
    set(modes ${ROCARRAY_HOST_TEST_MODES})
  elseif(ROCARRAY_ON_FAKE_RUNTIME)
    set(modes deferred)
    if(module IN_LIST ROCARRAY_VERSION_DEPENDENT_TEST_MODULES)
      list(PREPEND modes threaded)
    endif()
  endif()
  if(arg_NO_DEVICE)
    list(REMOVE_ITEM modes check)  # nothing is ever pending
  endif()
  if(arg_MODES AND modes)
    set(modes ${arg_MODES})
  endif()
  if(ROCARRAY_SANITIZE AND NOT arg_MODES AND NOT module IN_LIST ROCARRAY_ALL_MODES_TEST_MODULES)
    set(modes ${ROCARRAY_SANITIZED_TEST_MODES})
  endif()
  if(NOT modes)
    set(modes device)
  endif()
  _rocarray_register_all(${name} "" "${modes}" "${environment}" "${arg_NO_DEVICE}" "${arg_FRESH}")
  if(ROCARRAY_ON_FAKE_RUNTIME AND module IN_LIST ROCARRAY_ROCM5_TEST_MODULES AND NOT arg_NO_DEVICE)
    _rocarray_register(${name} rocm5. deferred "${environment};ROCARRAY_HOST_EMULATE=rocm5"
      "${arg_FRESH}")
  endif()
  foreach(setting IN LISTS arg_ALSO_WITH)
    if(modes STREQUAL "device" AND setting MATCHES "^ROCARRAY_HOST_")
      continue()  # a real device is not emulated
    endif()
    set(modes_of_setting ${modes})
    if(NOT setting MATCHES "^ROCARRAY_STREAM_STAGING=")
      list(REMOVE_ITEM modes_of_setting inline)
      if(NOT setting MATCHES "^ROCARRAY_HOST_EMULATE=")
        list(REMOVE_ITEM modes_of_setting check)
      endif()
    endif()
    if(NOT modes_of_setting)
      message(FATAL_ERROR "rocarray: ${name} would not run with ${setting} in any mode")
    endif()
    string(REGEX REPLACE "^[^=]*=" "" value ${setting})
    _rocarray_register_all(${name} ${value}. "${modes_of_setting}" "${environment};${setting}"
      "${arg_NO_DEVICE}" "${arg_FRESH}")
  endforeach()
endfunction()

# Adds a program's tests in all modes. `name_part` follows the mode in the tests' names; it is empty
# or ends with a dot. `no_device` and `fresh` are the options of rocarray_add_test.
function(_rocarray_register_all name name_part modes environment no_device fresh)
  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia" AND NOT EXISTS /dev/nvidiactl AND NOT no_device)
    # One skipped test for the program instead of one for each of its tests.
    set(test ${rocarray_test_prefix}.${name_part}${name})
    add_test(NAME ${test} COMMAND ${name})
    set_tests_properties(${test} PROPERTIES SKIP_RETURN_CODE 77)
    return()
  endif()
  foreach(mode IN LISTS modes)
    _rocarray_register(${name} "${name_part}" ${mode} "${environment}" "${fresh}")
  endforeach()
endfunction()

# Adds a program's tests in one mode; the mode `device` stands for a platform without modes. `fresh`:
# each test is a process, also with ROCARRAY_TEST_BY_PROGRAM.
function(_rocarray_register name name_part mode environment fresh)
  set(prefix ${rocarray_test_prefix}.)
  if(NOT mode STREQUAL "device")
    set(prefix ${prefix}${mode}.)
  endif()
  set(prefix ${prefix}${name_part})
  list(APPEND environment ${ROCARRAY_ENVIRONMENT_IN_${mode}})
  set(filter "")
  get_target_property(left_out ${name} ROCARRAY_NOT_IN)
  foreach(item IN LISTS left_out)
    string(REGEX MATCH "^([^=]*)=(.*)$" item "${item}")
    set(value ${name_part})
    if(name_part STREQUAL "")
      set(value default.)
    endif()
    if(CMAKE_MATCH_1 STREQUAL mode OR "${CMAKE_MATCH_1}." STREQUAL value
       OR CMAKE_MATCH_1 STREQUAL ROCARRAY_RESOLVED_PLATFORM
       OR (mode STREQUAL "check" AND CMAKE_MATCH_1 STREQUAL "deferred"))
      string(APPEND filter ":${CMAKE_MATCH_2}")
    endif()
  endforeach()
  string(REGEX REPLACE "^:" "-" filter "${filter}")
  if(ROCARRAY_TEST_BY_PROGRAM AND NOT fresh)
    set(arguments "")
    if(filter)  # an empty one selects no test
      set(arguments --gtest_filter=${filter})
    endif()
    add_test(NAME ${prefix}${name} COMMAND ${name} ${arguments})
    set_tests_properties(${prefix}${name} PROPERTIES
      TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${environment}")
    return()
  endif()
  set(list ${name}_${name_part}${mode}_tests)
  gtest_discover_tests(${name}
    TEST_PREFIX ${prefix}
    TEST_LIST ${list}
    TEST_FILTER "${filter}"
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 600 SKIP_RETURN_CODE 77)
  # gtest_discover_tests would split a list of variables. A script sets them after the discovery.
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_${name_part}${mode}_environment.cmake)
  file(GENERATE OUTPUT ${script} CONTENT
"foreach(test IN LISTS ${list})
  set_tests_properties(\"\${test}\" PROPERTIES ENVIRONMENT \"${environment}\")
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# rocarray_add_program_test(TEST TARGET arguments... [LAUNCHER command...] [MODES mode...]
#                           [ENVIRONMENT NAME=value...])
#
# Adds a test that runs a program with arguments. Exit status 0 passes, 77 is skipped. The program runs
# in every mode on the host platform, or in those of MODES, and with ROCARRAY_TEST_LAUNCHER on amd.
# LAUNCHER is a command that starts the program, such as mpiexec.
function(rocarray_add_program_test test target)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LAUNCHER;MODES;ENVIRONMENT")
  _rocarray_prepare_for_fake_runtime(${target})
  _rocarray_add_command_test(${test} "${arg_MODES}" "${arg_ENVIRONMENT}"
    ${arg_LAUNCHER} ${ROCARRAY_TEST_COMMAND_PREFIX} $<TARGET_FILE:${target}> ${arg_UNPARSED_ARGUMENTS})
endfunction()

# rocarray_add_python_test(TEST [ENVIRONMENT NAME=value...] COMMAND arguments...)
#
# Adds a test that runs the interpreter of the Python package with arguments. The mode check is left
# out: objects of the interpreter share pages with small arrays.
function(rocarray_add_python_test test)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ENVIRONMENT;COMMAND")
  set(modes ${ROCARRAY_HOST_TEST_MODES})
  if(ROCARRAY_ON_FAKE_RUNTIME)
    set(modes threaded deferred)
  endif()
  list(REMOVE_ITEM modes check)
  _rocarray_add_command_test(${test} "${modes}"
    "${arg_ENVIRONMENT};PYTHONPATH=${ROCARRAY_PYTHON_DIRECTORY};PYTHONDONTWRITEBYTECODE=1"
    ${ROCARRAY_TEST_COMMAND_PREFIX} ${ROCARRAY_PYTHON_EXECUTABLE} ${arg_COMMAND})
endfunction()

# Lets a program or a module, which is linked with the installed libamdhip64, load the fake one.
function(_rocarray_prepare_for_fake_runtime target)
  if(ROCARRAY_ON_FAKE_RUNTIME)
    add_dependencies(${target}
      rocarray_library_host_stubs rocarray_example_host_stubs rocarray_fake_runtime)
    target_link_options(${target} PRIVATE -Wl,--enable-new-dtags)
  endif()
endfunction()

# Adds a test that runs a command, once for each of `chosen_modes` (empty: those of the platform) if the
# platform has modes. `more` is added to its environment.
function(_rocarray_add_command_test test chosen_modes more)
  set(environment ${ROCARRAY_TEST_ENVIRONMENT})
  set(modes device)
  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
    list(APPEND environment ${ROCARRAY_HOST_TEST_ENVIRONMENT})
    set(modes ${ROCARRAY_HOST_TEST_MODES})
  elseif(ROCARRAY_ON_FAKE_RUNTIME)
    set(host_stubs
      $<TARGET_FILE:rocarray_library_host_stubs>:$<TARGET_FILE:rocarray_example_host_stubs>)
    list(APPEND environment ${ROCARRAY_FAKE_RUNTIME_ENVIRONMENT}
      LD_LIBRARY_PATH=${ROCARRAY_FAKE_RUNTIME_DIRECTORY} ROCARRAY_HOST_STUBS=${host_stubs})
    set(modes threaded deferred)
  endif()
  if(chosen_modes AND NOT modes STREQUAL "device")
    set(modes ${chosen_modes})
  endif()
  list(APPEND environment ${more})
  foreach(mode IN LISTS modes)
    set(name ${rocarray_test_prefix}.${test})
    set(variables ${environment} ${ROCARRAY_ENVIRONMENT_IN_${mode}})
    if(NOT mode STREQUAL "device")
      set(name ${rocarray_test_prefix}.${mode}.${test})
    endif()
    add_test(NAME ${name} COMMAND ${ARGN})
    set_tests_properties(${name} PROPERTIES
      TIMEOUT 600 SKIP_RETURN_CODE 77 ENVIRONMENT "${variables}")
  endforeach()
endfunction()
