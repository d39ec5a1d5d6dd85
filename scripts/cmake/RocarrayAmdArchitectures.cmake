# SPDX-License-Identifier: MIT
# Sets ROCARRAY_AMD_ARCHITECTURES, unless it is set, to those of a fixed list of AMD targets for
# which hipcc can compile a kernel.

if(NOT ROCARRAY_AMD_ARCHITECTURES)
  set(rocarray_probe ${CMAKE_BINARY_DIR}/rocarray_probe)
  file(WRITE ${rocarray_probe}.hip
    "#include <hip/hip_runtime.h>\n__global__ void kernel(int* p) { p[threadIdx.x] = 1; }\n")
  set(rocarray_supported "")
  foreach(architecture gfx90a gfx942 gfx1030 gfx1100 gfx1201)
    execute_process(
      COMMAND ${ROCARRAY_HIPCC} -std=c++20 --offload-arch=${architecture} -c ${rocarray_probe}.hip
              -o ${rocarray_probe}.o
      RESULT_VARIABLE rocarray_failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT rocarray_failed)
      list(APPEND rocarray_supported ${architecture})
    endif()
  endforeach()
  if(NOT rocarray_supported)
    message(FATAL_ERROR "rocarray: ${ROCARRAY_HIPCC} compiles for none of gfx90a, gfx942, gfx1030, "
      "gfx1100 and gfx1201; set ROCARRAY_AMD_ARCHITECTURES to targets that it supports")
  endif()
  set(ROCARRAY_AMD_ARCHITECTURES "${rocarray_supported}"
    CACHE STRING "AMD targets to compile for" FORCE)
endif()
message(STATUS "rocarray: AMD architectures ${ROCARRAY_AMD_ARCHITECTURES}")
