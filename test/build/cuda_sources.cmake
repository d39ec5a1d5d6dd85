# SPDX-License-Identifier: MIT
# Tests of scripts/hipify, and of the installed package's function for CUDA sources. Included by this
# directory's CMakeLists.txt, whose variables it uses.

rocarray_find_hipify()
set(hipify_test bash ${CMAKE_CURRENT_LIST_DIR}/hipify.sh)

# The script is the same on every platform: one build tests it.
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" AND ROCARRAY_PERL)
  foreach(case example left warps strict nothing bad into_sources onto_sources missing)
    add_test(NAME ${prefix}.hipify_${case}
      COMMAND ${hipify_test} ${case} ${CMAKE_CURRENT_BINARY_DIR}/hipify ${ROCARRAY_HIPIFY_PERL})
    set_tests_properties(${prefix}.hipify_${case} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()

if(NOT ROCARRAY_SANITIZE)
  set(cuda_consumer ${CMAKE_CTEST_COMMAND} --build-and-test
    ${CMAKE_CURRENT_LIST_DIR}/consumer_cuda)

  # rocarray_cuda_consumer_test(NAME [MESSAGE text] [OPTIONS options...] [RUN command])
  function(rocarray_cuda_consumer_test name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "MESSAGE" "OPTIONS;RUN")
    add_test(NAME ${prefix}.${name}
      COMMAND ${cuda_consumer} ${CMAKE_CURRENT_BINARY_DIR}/${name} ${options}
        --build-options ${variables} -DCMAKE_PREFIX_PATH=${install} ${arg_OPTIONS}
        --test-command ${arg_RUN})
    set_tests_properties(${prefix}.${name} PROPERTIES
      FIXTURES_REQUIRED ${prefix}.install TIMEOUT 120 ENVIRONMENT "${environment}")
    if(arg_MESSAGE)
      # CMake wraps its messages.
      string(REPLACE " " "[ \n]+" message ${arg_MESSAGE})
      set_tests_properties(${prefix}.${name} PROPERTIES PASS_REGULAR_EXPRESSION ${message})
    endif()
  endfunction()

  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
    rocarray_cuda_consumer_test(cuda_on_host RUN consumer_cuda
      MESSAGE "host platform has no compiler for CUDA or HIP[;] build for amd or nvidia")
  elseif(ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia")
    rocarray_cuda_consumer_test(consumer_with_cuda RUN consumer_cuda)
    rocarray_cuda_consumer_test(cuda_not_enabled RUN consumer_cuda OPTIONS -DWITHOUT_CUDA=ON
      MESSAGE "the project has not enabled CUDA[;] call enable_language")
    get_target_property(definitions rocarray_platform INTERFACE_COMPILE_DEFINITIONS)
    if("${definitions}" MATCHES "ROCARRAY_NATIVE_ALIAS" AND ROCARRAY_HIPIFY_PERL AND ROCARRAY_PERL)
      rocarray_cuda_consumer_test(cuda_without_hip_headers RUN consumer_cuda
        OPTIONS -DHOW=HIPIFIED -DROCARRAY_HIPIFY_PERL=${ROCARRAY_HIPIFY_PERL}
        MESSAGE "configured without HIP's headers[;] set ROCARRAY_HIP_INCLUDE_DIR")
    endif()
  else()
    rocarray_cuda_consumer_test(cuda_without_hipify RUN consumer_cuda
      OPTIONS -DROCARRAY_HIPIFY_PERL=${CMAKE_CURRENT_BINARY_DIR}/nowhere
      MESSAGE "needs perl and hipify-perl")
    if(ROCARRAY_HIPIFY_PERL AND ROCARRAY_PERL)
      # The fake HIP runtime runs only kernels with a host stub: there it is only built.
      set(run consumer_cuda)
      if(ROCARRAY_ON_FAKE_RUNTIME)
        set(run ${CMAKE_COMMAND} -E true)
      endif()
      set(tool -DROCARRAY_HIPIFY_PERL=${ROCARRAY_HIPIFY_PERL})
      rocarray_cuda_consumer_test(consumer_with_cuda OPTIONS ${tool} RUN ${run})
      rocarray_cuda_consumer_test(cuda_left OPTIONS ${tool} -DMORE=left.cu RUN ${run}
        MESSAGE "left.cu:4: CUDA is left: cudaNameOfNextYear")
    else()
      add_test(NAME ${prefix}.consumer_with_cuda COMMAND sh -c
        "echo 'hipify-perl was not found: install it, or set ROCARRAY_HIPIFY_PERL or HIPIFY_PERL to it'; exit 77")
      set_tests_properties(${prefix}.consumer_with_cuda PROPERTIES SKIP_RETURN_CODE 77)
    endif()
  endif()
endif()
