# SPDX-License-Identifier: MIT
# The AMD targets to compile for: those of the known ones that hipcc can compile a kernel for.

if(NOT ROCARRAY_AMD_ARCHITECTURES)
  set(rocarray_probe ${CMAKE_BINARY_DIR}/rocarray_probe)
  file(WRITE ${rocarray_probe}.hip
    "#include <hip/hip_runtime.h>\n__global__ void kernel(int* p) { p[threadIdx.x] = 1; }\n")
  set(rocarray_known "")
  foreach(architecture gfx90a gfx942 gfx1030 gfx1100 gfx1201)
    execute_process(
      COMMAND ${ROCARRAY_HIPCC} -std=c++20 --offload-arch=${architecture} -c ${rocarray_probe}.hip
              -o ${rocarray_probe}.o
      RESULT_VARIABLE rocarray_failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT rocarray_failed)
      list(APPEND rocarray_known ${architecture})
    endif()
  endforeach()
  if(NOT rocarray_known)
    message(FATAL_ERROR "rocarray: ${ROCARRAY_HIPCC} compiles for none of gfx90a gfx942 gfx1030 gfx1100 "
                        "gfx1201; set ROCARRAY_AMD_ARCHITECTURES to what it knows")
  endif()
  set(ROCARRAY_AMD_ARCHITECTURES "${rocarray_known}" CACHE STRING "AMD targets to compile for" FORCE)
endif()
message(STATUS "rocarray: AMD architectures ${ROCARRAY_AMD_ARCHITECTURES}")
