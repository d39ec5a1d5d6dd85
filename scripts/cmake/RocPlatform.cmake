# SPDX-License-Identifier: MIT
# Picks the platform: who provides HIP, and what compiles kernels.
#
# In:  ROC_PLATFORM        auto, amd, nvidia or host
#      ROC_HIP_INCLUDE_DIR nvidia: where HIP's headers are; OFF for the library's own alias header.
#                          amd: where HIP's headers are, if not where the compiler looks.
# Out: ROC_PLATFORM resolved, and the interface target roc_platform: definitions, include folders
#      and libraries that the platform's users need.

set(ROC_PLATFORM auto CACHE STRING "amd, nvidia, host, or auto: the best that this machine can build")
set_property(CACHE ROC_PLATFORM PROPERTY STRINGS auto amd nvidia host)
set(ROC_HIP_INCLUDE_DIR "" CACHE STRING "Folder with HIP's headers; OFF: do without, on nvidia")

if(NOT ROC_PLATFORM MATCHES "^(auto|amd|nvidia|host)$")
  message(FATAL_ERROR "rocarray: ROC_PLATFORM is \"${ROC_PLATFORM}\"; it can be auto, amd, nvidia "
                      "or host")
endif()

find_package(Threads REQUIRED)

set(roc_rocm_places ${ROCM_PATH} $ENV{ROCM_PATH} /opt/rocm)
find_program(ROC_HIPCC hipcc HINTS ${roc_rocm_places} PATH_SUFFIXES bin)
find_library(ROC_AMDHIP_LIBRARY amdhip64 HINTS ${roc_rocm_places} PATH_SUFFIXES lib)
find_path(ROC_AMD_INCLUDE_DIR hip/hip_runtime_api.h HINTS ${roc_rocm_places} PATH_SUFFIXES include)
find_package(CUDAToolkit QUIET)
mark_as_advanced(ROC_HIPCC ROC_AMDHIP_LIBRARY ROC_AMD_INCLUDE_DIR)

set(roc_resolved ${ROC_PLATFORM})
if(roc_resolved STREQUAL "auto")
  if(ROC_HIPCC AND ROC_AMDHIP_LIBRARY AND ROC_AMD_INCLUDE_DIR AND EXISTS /dev/kfd)
    set(roc_resolved amd)
  elseif(CUDAToolkit_NVCC_EXECUTABLE AND EXISTS /dev/nvidiactl)
    set(roc_resolved nvidia)
  else()
    set(roc_resolved host)
  endif()
endif()
message(STATUS "rocarray: platform ${roc_resolved}")
set(ROC_RESOLVED_PLATFORM ${roc_resolved})
string(TOUPPER ${roc_resolved} roc_platform_upper)

add_library(roc_platform INTERFACE)
target_compile_definitions(roc_platform INTERFACE ROC_PLATFORM_${roc_platform_upper}=1)
target_link_libraries(roc_platform INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

if(roc_resolved STREQUAL "amd")
  foreach(needed ROC_HIPCC ROC_AMDHIP_LIBRARY ROC_AMD_INCLUDE_DIR)
    if(NOT ${needed})
      message(FATAL_ERROR "rocarray: the amd platform needs hipcc, libamdhip64 and HIP's headers "
        "(Debian and Ubuntu: apt-get install hipcc libamdhip64-dev); ${needed} was not found")
    endif()
  endforeach()
  if(ROC_HIP_INCLUDE_DIR)
    set(ROC_AMD_INCLUDE_DIR ${ROC_HIP_INCLUDE_DIR})
  endif()
  target_compile_definitions(roc_platform INTERFACE __HIP_PLATFORM_AMD__=1)
  if(NOT ROC_AMD_INCLUDE_DIR STREQUAL "/usr/include")
    target_include_directories(roc_platform SYSTEM INTERFACE
      $<BUILD_INTERFACE:${ROC_AMD_INCLUDE_DIR}>)
  endif()
  target_link_libraries(roc_platform INTERFACE $<BUILD_INTERFACE:${ROC_AMDHIP_LIBRARY}>
                                               $<INSTALL_INTERFACE:rocarray::amdhip64>)
  include(RocAmdArchitectures)
elseif(roc_resolved STREQUAL "nvidia")
  if(NOT CUDAToolkit_FOUND)
    message(FATAL_ERROR "rocarray: the nvidia platform needs the CUDA toolkit (nvcc); set "
                        "CUDAToolkit_ROOT to where it is")
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
  enable_language(CUDA)
  target_include_directories(roc_platform SYSTEM INTERFACE
    "$<BUILD_INTERFACE:${CUDAToolkit_INCLUDE_DIRS}>")
  # Static, so that a binary also starts where no driver and no toolkit are.
  target_link_libraries(roc_platform INTERFACE CUDA::cudart_static)
  if(ROC_HIP_INCLUDE_DIR STREQUAL "")
    find_path(roc_hip_nvidia hip/nvidia_detail/nvidia_hip_runtime_api.h
      HINTS ${roc_rocm_places} PATH_SUFFIXES include)
    set(roc_hip_include ${roc_hip_nvidia})
  else()
    set(roc_hip_include ${ROC_HIP_INCLUDE_DIR})
  endif()
  if(roc_hip_include)
    if(NOT EXISTS ${roc_hip_include}/hip/nvidia_detail/nvidia_hip_runtime_api.h)
      message(FATAL_ERROR "rocarray: ROC_HIP_INCLUDE_DIR=${roc_hip_include} has no HIP headers for "
                          "NVIDIA (hip/nvidia_detail); set it to a folder that has, or to OFF")
    endif()
    message(STATUS "rocarray: HIP's headers from ${roc_hip_include}")
    # /usr/include as a system folder would hide the C++ library's own math.h.
    if(NOT roc_hip_include STREQUAL "/usr/include")
      target_include_directories(roc_platform SYSTEM INTERFACE
        $<BUILD_INTERFACE:${roc_hip_include}>)
    endif()
  else()
    message(STATUS "rocarray: no HIP headers, the calls are aliases of CUDA's")
    target_compile_definitions(roc_platform INTERFACE ROC_NATIVE_ALIAS=1)
  endif()
endif()
