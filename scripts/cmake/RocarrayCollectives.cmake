# SPDX-License-Identifier: MIT
# Finds the platform's collective library for <roc/interop/collectives.hpp>: RCCL on amd, NCCL on
# nvidia. The host platform has its own in the header.
#
# Out: rocarray::collectives         interface target with the library and rocarray::rocarray; it does
#                                    not exist if the library is not installed
#      rocarray::collective_library  the library alone

set(rocarray_collectives_platform ${ROCARRAY_RESOLVED_PLATFORM})
if(NOT rocarray_collectives_platform)
  set(rocarray_collectives_platform ${rocarray_PLATFORM})  # in an installed package
endif()
set(rocarray_has_collectives ON)
if(rocarray_collectives_platform STREQUAL "amd")
  find_path(ROCARRAY_RCCL_INCLUDE_DIR rccl/rccl.h HINTS ${ROCM_PATH} $ENV{ROCM_PATH} /opt/rocm
    PATH_SUFFIXES include)
  find_library(ROCARRAY_RCCL_LIBRARY rccl HINTS ${ROCM_PATH} $ENV{ROCM_PATH} /opt/rocm PATH_SUFFIXES lib)
  mark_as_advanced(ROCARRAY_RCCL_INCLUDE_DIR ROCARRAY_RCCL_LIBRARY)
  set(rocarray_collectives_include ${ROCARRAY_RCCL_INCLUDE_DIR})
  set(rocarray_collectives_library ${ROCARRAY_RCCL_LIBRARY})
elseif(rocarray_collectives_platform STREQUAL "nvidia")
  find_path(ROCARRAY_NCCL_INCLUDE_DIR nccl.h HINTS ${NCCL_ROOT} $ENV{NCCL_ROOT} ${CUDAToolkit_INCLUDE_DIRS}
    PATH_SUFFIXES include)
  find_library(ROCARRAY_NCCL_LIBRARY nccl HINTS ${NCCL_ROOT} $ENV{NCCL_ROOT} ${CUDAToolkit_LIBRARY_DIR}
    PATH_SUFFIXES lib lib64)
  mark_as_advanced(ROCARRAY_NCCL_INCLUDE_DIR ROCARRAY_NCCL_LIBRARY)
  set(rocarray_collectives_include ${ROCARRAY_NCCL_INCLUDE_DIR})
  set(rocarray_collectives_library ${ROCARRAY_NCCL_LIBRARY})
endif()
if(NOT rocarray_collectives_platform STREQUAL "host"
   AND NOT (rocarray_collectives_include AND rocarray_collectives_library))
  set(rocarray_has_collectives OFF)
  message(STATUS "rocarray: no rocarray::collectives: RCCL (amd) or NCCL (nvidia) was not found; install it, or set "
    "ROCARRAY_RCCL_INCLUDE_DIR and ROCARRAY_RCCL_LIBRARY, or ROCARRAY_NCCL_INCLUDE_DIR and ROCARRAY_NCCL_LIBRARY")
endif()
if(rocarray_has_collectives AND NOT TARGET rocarray::collectives)
  add_library(rocarray::collective_library INTERFACE IMPORTED GLOBAL)
  if(NOT rocarray_collectives_platform STREQUAL "host")
    target_link_libraries(rocarray::collective_library INTERFACE ${rocarray_collectives_library})
    # As a system include directory, /usr/include would hide the C++ library's math.h.
    if(NOT rocarray_collectives_include STREQUAL "/usr/include")
      target_include_directories(rocarray::collective_library SYSTEM INTERFACE ${rocarray_collectives_include})
    endif()
    message(STATUS "rocarray: rocarray::collectives uses ${rocarray_collectives_library}")
  endif()
  add_library(rocarray::collectives INTERFACE IMPORTED GLOBAL)
  target_link_libraries(rocarray::collectives INTERFACE rocarray::collective_library rocarray::rocarray)
endif()
