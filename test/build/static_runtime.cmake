# SPDX-License-Identifier: MIT
# The shared library with the C++ runtime linked statically: it exports the same symbols, and a
# program with another copy of the runtime, static or not, catches its exceptions. libgcc, which
# unwinds, stays shared: GCC requires that if exceptions leave a library. Included by this directory's
# CMakeLists.txt, whose variables it uses.

if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" AND NOT ROCARRAY_SANITIZE)
  include(CheckCXXSourceCompiles)
  set(runtime -static-libstdc++)
  set(CMAKE_REQUIRED_LINK_OPTIONS ${runtime})
  check_cxx_source_compiles(
    "#include <string>\nint main(int n, char**) { return int(std::to_string(n).size()) - 1; }"
    ROCARRAY_HAS_STATIC_RUNTIME)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
if(NOT ROCARRAY_HAS_STATIC_RUNTIME)
  return()
endif()

add_library(rocarray_with_runtime SHARED $<TARGET_OBJECTS:rocarray_objects>)
set_target_properties(rocarray_with_runtime PROPERTIES LINKER_LANGUAGE CXX)
target_link_libraries(rocarray_with_runtime PRIVATE rocarray_platform ${ROCARRAY_BOOST_CONTEXT_LIBRARY})
target_link_options(rocarray_with_runtime PRIVATE
  $<TARGET_PROPERTY:rocarray_shared,LINK_OPTIONS> ${runtime})
add_test(NAME ${prefix}.exported_symbols_with_static_runtime
  COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/exported_symbols.sh check
    ${CMAKE_CURRENT_LIST_DIR}/exported_symbols.txt ${CMAKE_NM} $<TARGET_FILE:rocarray_with_runtime>)

# rocarray_catch_test(NAME LIBRARY [linker option...])
function(rocarray_catch_test name library)
  set(program rocarray_${name})
  add_executable(${program} static_runtime/catch.cpp)
  rocarray_project_options(${program})
  target_include_directories(${program} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${program} PRIVATE ${library})
  target_link_options(${program} PRIVATE ${ARGN})
  add_test(NAME ${prefix}.${name} COMMAND ${program})
  set_tests_properties(${prefix}.${name} PROPERTIES
    ENVIRONMENT "${ROCARRAY_TEST_ENVIRONMENT};ROCARRAY_HOST_MEMORY=64M")
endfunction()
rocarray_catch_test(errors_of_a_static_runtime rocarray_with_runtime)
rocarray_catch_test(errors_between_static_runtimes rocarray_with_runtime ${runtime})
rocarray_catch_test(errors_caught_by_a_static_runtime rocarray_shared ${runtime})
