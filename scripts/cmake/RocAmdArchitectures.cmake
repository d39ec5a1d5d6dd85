# SPDX-License-Identifier: MIT
# The AMD targets to compile for: those of the known ones that hipcc can compile a kernel for.

if(NOT ROC_AMD_ARCHITECTURES)
  set(roc_probe ${CMAKE_BINARY_DIR}/roc_probe)
  file(WRITE ${roc_probe}.hip
    "#include <hip/hip_runtime.h>\n__global__ void kernel(int* p) { p[threadIdx.x] = 1; }\n")
  set(roc_known "")
  foreach(architecture gfx90a gfx942 gfx1030 gfx1100 gfx1201)
    execute_process(
      COMMAND ${ROC_HIPCC} -std=c++20 --offload-arch=${architecture} -c ${roc_probe}.hip
              -o ${roc_probe}.o
      RESULT_VARIABLE roc_failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT roc_failed)
      list(APPEND roc_known ${architecture})
    endif()
  endforeach()
  if(NOT roc_known)
    message(FATAL_ERROR "rocarray: ${ROC_HIPCC} compiles for none of gfx90a gfx942 gfx1030 gfx1100 "
                        "gfx1201; set ROC_AMD_ARCHITECTURES to what it knows")
  endif()
  set(ROC_AMD_ARCHITECTURES "${roc_known}" CACHE STRING "AMD targets to compile for" FORCE)
endif()
message(STATUS "rocarray: AMD architectures ${ROC_AMD_ARCHITECTURES}")
