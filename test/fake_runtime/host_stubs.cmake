# SPDX-License-Identifier: MIT
# rocarray_add_kernel_host_stubs(TARGET SOURCES file.hip... [INCLUDES directory...])
#
# Adds a host stub library: a shared object of the .hip files, compiled by the C++ compiler with
# ROCARRAY_KERNEL_HOST_STUB (src/platform/host/host_stub.hpp). A program finds its stubs on the fake
# HIP runtime if ROCARRAY_HOST_STUBS lists the library.

include_guard(GLOBAL)

function(rocarray_add_kernel_host_stubs target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;INCLUDES")
  add_library(${target} MODULE ${arg_SOURCES})
  set_source_files_properties(${arg_SOURCES} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CXX)
  rocarray_project_options(${target})
  rocarray_use_hip_headers(${target})
  target_compile_definitions(${target} PRIVATE ROCARRAY_KERNEL_HOST_STUB=1)
  target_include_directories(${target} PRIVATE ${arg_INCLUDES})
  # Kernels are found by their exported names, so that two must not be folded into one function.
  target_compile_options(${target} PRIVATE -fvisibility=default
    $<$<CXX_COMPILER_ID:GNU>:-fno-ipa-icf>)
  # A program has variables with the names of its kernels: the library must bind to its own
  # functions.
  target_link_options(${target} PRIVATE -Wl,-Bsymbolic)
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()

# Compiles a target with HIP's headers as the library's sources on amd, without linking a HIP
# library.
function(rocarray_use_hip_headers target)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../..)
  target_include_directories(${target} PRIVATE ${root}/src ${root}/include)
  target_compile_definitions(${target} PRIVATE ROCARRAY_PLATFORM_AMD=1 __HIP_PLATFORM_AMD__=1)
  if(NOT ROCARRAY_AMD_INCLUDE_DIR STREQUAL "/usr/include")
    target_include_directories(${target} SYSTEM PRIVATE ${ROCARRAY_AMD_INCLUDE_DIR})
  endif()
endfunction()
