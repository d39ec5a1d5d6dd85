# SPDX-License-Identifier: MIT
# Selects the platform: the implementation of HIP and the compiler of kernels.
#
# In:  ROCARRAY_PLATFORM         auto, amd, nvidia or host
#      ROCARRAY_HIP_INCLUDE_DIR  directory of HIP's headers, if they are not found; OFF on nvidia
#                                uses the library's alias header instead of them
# Out: ROCARRAY_RESOLVED_PLATFORM  amd, nvidia or host
#      rocarray_platform           interface target with the platform's definitions, include
#                                  directories and libraries

set(ROCARRAY_PLATFORM auto CACHE STRING
  "amd, nvidia, host, or auto: the platform of this machine's GPU, or host")
set_property(CACHE ROCARRAY_PLATFORM PROPERTY STRINGS auto amd nvidia host)
set(ROCARRAY_HIP_INCLUDE_DIR "" CACHE STRING
  "Directory of HIP's headers; OFF: build without them on nvidia")

if(NOT ROCARRAY_PLATFORM MATCHES "^(auto|amd|nvidia|host)$")
  message(FATAL_ERROR "rocarray: ROCARRAY_PLATFORM is \"${ROCARRAY_PLATFORM}\"; it can be auto, "
    "amd, nvidia or host")
endif()

find_package(Threads REQUIRED)

set(rocarray_rocm_directories ${ROCM_PATH} $ENV{ROCM_PATH} /opt/rocm)
find_program(ROCARRAY_HIPCC hipcc HINTS ${rocarray_rocm_directories} PATH_SUFFIXES bin)
find_library(ROCARRAY_AMDHIP_LIBRARY amdhip64 HINTS ${rocarray_rocm_directories} PATH_SUFFIXES lib)
find_path(ROCARRAY_AMD_INCLUDE_DIR hip/hip_runtime_api.h
  HINTS ${rocarray_rocm_directories} PATH_SUFFIXES include)
find_package(CUDAToolkit QUIET)
mark_as_advanced(ROCARRAY_HIPCC ROCARRAY_AMDHIP_LIBRARY ROCARRAY_AMD_INCLUDE_DIR)

set(rocarray_resolved ${ROCARRAY_PLATFORM})
if(rocarray_resolved STREQUAL "auto")
  if(ROCARRAY_HIPCC AND ROCARRAY_AMDHIP_LIBRARY AND ROCARRAY_AMD_INCLUDE_DIR AND EXISTS /dev/kfd)
    set(rocarray_resolved amd)
  elseif(CUDAToolkit_NVCC_EXECUTABLE AND EXISTS /dev/nvidiactl)
    set(rocarray_resolved nvidia)
  else()
    set(rocarray_resolved host)
  endif()
endif()
message(STATUS "rocarray: platform ${rocarray_resolved}")
set(ROCARRAY_RESOLVED_PLATFORM ${rocarray_resolved})
string(TOUPPER ${rocarray_resolved} rocarray_platform_upper)

# Kernels that wait at barriers run on stacks of their own, on the host platform and on the fake HIP
# runtime. The archive is preferred: then only programs that link the static library need Boost.
find_path(ROCARRAY_BOOST_INCLUDE_DIR boost/context/fiber.hpp)
find_library(ROCARRAY_BOOST_CONTEXT_LIBRARY NAMES libboost_context.a boost_context)
mark_as_advanced(ROCARRAY_BOOST_INCLUDE_DIR ROCARRAY_BOOST_CONTEXT_LIBRARY)

# Compiles and links the code that runs kernels on the CPU, whose files are in `directory`.
function(rocarray_use_boost_context target directory)
  if(NOT ROCARRAY_BOOST_INCLUDE_DIR OR NOT ROCARRAY_BOOST_CONTEXT_LIBRARY)
    message(FATAL_ERROR "rocarray: kernels on the CPU need Boost.Context, which was not found "
      "(Debian and Ubuntu: apt-get install libboost-context-dev)")
  endif()
  if(NOT ROCARRAY_BOOST_INCLUDE_DIR STREQUAL "/usr/include")
    target_include_directories(${target} SYSTEM PRIVATE ${ROCARRAY_BOOST_INCLUDE_DIR})
  endif()
  if(ROCARRAY_SANITIZE MATCHES "thread")
    set_source_files_properties(${directory}/fiber.cpp ${directory}/block_runner.cpp
      ${directory}/block_shared_memory.cpp
      TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS -fno-sanitize=thread)
  endif()
endfunction()

add_library(rocarray_platform INTERFACE)
target_compile_definitions(rocarray_platform INTERFACE
  ROCARRAY_PLATFORM_${rocarray_platform_upper}=1)
target_link_libraries(rocarray_platform INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

if(rocarray_resolved STREQUAL "amd")
  foreach(needed ROCARRAY_HIPCC ROCARRAY_AMDHIP_LIBRARY ROCARRAY_AMD_INCLUDE_DIR)
    if(NOT ${needed})
      message(FATAL_ERROR "rocarray: the amd platform needs hipcc, libamdhip64 and HIP's headers "
        "(Debian and Ubuntu: apt-get install hipcc libamdhip64-dev); ${needed} was not found; "
        "install it, or set ROCM_PATH")
    endif()
  endforeach()
  if(ROCARRAY_HIP_INCLUDE_DIR)
    set(ROCARRAY_AMD_INCLUDE_DIR ${ROCARRAY_HIP_INCLUDE_DIR})
  endif()
  target_compile_definitions(rocarray_platform INTERFACE __HIP_PLATFORM_AMD__=1)
  if(NOT ROCARRAY_AMD_INCLUDE_DIR STREQUAL "/usr/include")
    target_include_directories(rocarray_platform SYSTEM INTERFACE
      $<BUILD_INTERFACE:${ROCARRAY_AMD_INCLUDE_DIR}>)
  endif()
  target_link_libraries(rocarray_platform INTERFACE $<BUILD_INTERFACE:${ROCARRAY_AMDHIP_LIBRARY}>
                                               $<INSTALL_INTERFACE:rocarray::amdhip64>)
  include(RocarrayAmdArchitectures)
elseif(rocarray_resolved STREQUAL "nvidia")
  if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR "rocarray: the nvidia platform needs the CUDA toolkit (nvcc), which was "
      "not found; set CUDAToolkit_ROOT to its directory")
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
  enable_language(CUDA)
  target_include_directories(rocarray_platform SYSTEM INTERFACE
    "$<BUILD_INTERFACE:${CUDAToolkit_INCLUDE_DIRS}>")
  # Static, so that a program also starts on machines without a driver and a toolkit.
  target_link_libraries(rocarray_platform INTERFACE CUDA::cudart_static)
  set(rocarray_HIP_INCLUDE_DIR "")
  if(ROCARRAY_HIP_INCLUDE_DIR STREQUAL "")
    find_path(rocarray_hip_nvidia hip/nvidia_detail/nvidia_hip_runtime_api.h
      HINTS ${rocarray_rocm_directories} PATH_SUFFIXES include)
    set(rocarray_HIP_INCLUDE_DIR ${rocarray_hip_nvidia})
  else()
    set(rocarray_HIP_INCLUDE_DIR ${ROCARRAY_HIP_INCLUDE_DIR})
  endif()
  if(rocarray_HIP_INCLUDE_DIR)
    if(NOT EXISTS ${rocarray_HIP_INCLUDE_DIR}/hip/nvidia_detail/nvidia_hip_runtime_api.h)
      message(FATAL_ERROR "rocarray: ROCARRAY_HIP_INCLUDE_DIR=${rocarray_HIP_INCLUDE_DIR} has no HIP "
        "headers for NVIDIA (hip/nvidia_detail); set it to a directory that has, or to OFF")
    endif()
    message(STATUS "rocarray: HIP's headers are in ${rocarray_HIP_INCLUDE_DIR}")
    # As a system include directory, /usr/include would hide the C++ library's math.h.
    if(NOT rocarray_HIP_INCLUDE_DIR STREQUAL "/usr/include")
      target_include_directories(rocarray_platform SYSTEM INTERFACE
        $<BUILD_INTERFACE:${rocarray_HIP_INCLUDE_DIR}>)
    endif()
  else()
    message(STATUS "rocarray: without HIP headers; HIP's functions are aliases of CUDA's")
    target_compile_definitions(rocarray_platform INTERFACE ROCARRAY_NATIVE_ALIAS=1)
  endif()
endif()
