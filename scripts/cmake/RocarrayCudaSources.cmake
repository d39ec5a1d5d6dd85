# SPDX-License-Identifier: MIT
# rocarray_target_cuda_sources(TARGET file.cu... [HEADERS file.cuh...] [OWN name...] [HIPIFIED])
#
# Adds CUDA sources, as they are, to a target that links rocarray::rocarray. On amd they are
# translated by hipify-perl into the build folder and compiled by hipcc; on nvidia nvcc compiles them
# untouched, or, with HIPIFIED, translated, through HIP's CUDA headers. What cannot be translated
# stops the build with the names that are left.
#
# HEADERS  headers with CUDA in them that the sources include: translated too, with their places
#          relative to the current source folder kept
# OWN      names of yours that look like CUDA's: see scripts/hipify
#
# ROCARRAY_HIPIFY_PERL, a cache variable, names hipify-perl; looked for on PATH and in ROCm's folders, and
# taken from the environment's HIPIFY_PERL. Only what is translated needs it, and perl.

include_guard(GLOBAL)

# In the source tree the script lies in scripts/, in the package beside this file.
set(ROCARRAY_HIPIFY ${CMAKE_CURRENT_LIST_DIR}/hipify)
if(NOT EXISTS ${ROCARRAY_HIPIFY})
  get_filename_component(ROCARRAY_HIPIFY ${CMAKE_CURRENT_LIST_DIR}/../hipify ABSOLUTE)
endif()

# rocarray_find_hipify(): sets ROCARRAY_HIPIFY_PERL, if it is anywhere, and ROCARRAY_PERL.
macro(rocarray_find_hipify)
  if(NOT ROCARRAY_HIPIFY_PERL AND NOT "$ENV{HIPIFY_PERL}" STREQUAL "")
    set(ROCARRAY_HIPIFY_PERL $ENV{HIPIFY_PERL} CACHE FILEPATH
      "hipify-perl, to translate CUDA sources" FORCE)
  endif()
  find_program(ROCARRAY_HIPIFY_PERL hipify-perl
    HINTS ${ROCM_PATH} $ENV{ROCM_PATH} /opt/rocm PATH_SUFFIXES bin
    DOC "hipify-perl, to translate CUDA sources")
  find_program(ROCARRAY_PERL perl DOC "perl, which runs hipify-perl")
  mark_as_advanced(ROCARRAY_HIPIFY_PERL ROCARRAY_PERL)
endmacro()

function(rocarray_target_cuda_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HIPIFIED" "" "HEADERS;OWN")
  get_target_property(platform rocarray_platform_name ROCARRAY_PLATFORM_NAME)
  if(platform STREQUAL "host")
    message(FATAL_ERROR "rocarray: ${target} has CUDA sources, and the host platform has no compiler "
      "for CUDA or HIP: build for amd or nvidia (ROCARRAY_PLATFORM), or write the kernels with "
      "roc::for_each")
  endif()
  _roc_require_cuda(${target} ${platform})
  if(platform STREQUAL "nvidia" AND NOT arg_HIPIFIED)
    foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
      get_filename_component(source ${source} ABSOLUTE)
      target_sources(${target} PRIVATE ${source})
      set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
    endforeach()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    return()
  endif()
  rocarray_find_hipify()
  if(NOT ROCARRAY_HIPIFY_PERL OR NOT EXISTS ${ROCARRAY_HIPIFY_PERL} OR NOT ROCARRAY_PERL)
    message(FATAL_ERROR "rocarray: ${target} has CUDA sources, and translating them for ${platform} "
      "needs perl and hipify-perl (Debian 13, Ubuntu 24.04: apt-get install hipify-perl; ROCm: the "
      "package hipify): ROCARRAY_HIPIFY_PERL is \"${ROCARRAY_HIPIFY_PERL}\"; set it to where hipify-perl is")
  endif()
  if(platform STREQUAL "nvidia")
    _roc_require_hip_headers(${target})
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.hipified)
  set(headers "")
  foreach(header IN LISTS arg_HEADERS)
    _roc_hipify(hipified ${target} ${header} ${folder} "" "${arg_OWN}")
    list(APPEND headers ${hipified})
  endforeach()
  set(sources "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    # After the headers: the compiler may be started as soon as the source is there.
    _roc_hipify(hipified ${target} ${source} ${folder} "${headers}" "${arg_OWN}")
    list(APPEND sources ${hipified})
    # Headers without CUDA in them stay where they are.
    get_filename_component(beside ${source} ABSOLUTE)
    get_filename_component(beside ${beside} DIRECTORY)
    target_include_directories(${target} PRIVATE ${beside})
  endforeach()
  rocarray_target_device_sources(${target} ${sources})
endfunction()

# The command that makes a file's translation below `folder`; its name goes to `result`.
function(_roc_hipify result target source folder after own)
  get_filename_component(source ${source} ABSOLUTE)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
  string(REPLACE "../" "" name ${name})
  get_filename_component(place ${name} DIRECTORY)
  string(REGEX REPLACE "[.]cu$" ".hip" name ${name})
  list(TRANSFORM own PREPEND "--own;")
  set(place ${folder}/${place})
  add_custom_command(
    OUTPUT ${folder}/${name}
    COMMAND ${ROCARRAY_PERL} ${ROCARRAY_HIPIFY} --quiet --strict --include roc/native/hip.hpp
      --hipify-perl ${ROCARRAY_HIPIFY_PERL} ${own} -o ${place} ${source}
    DEPENDS ${source} ${ROCARRAY_HIPIFY} ${after}
    COMMENT "Translating ${name} of ${target} into HIP"
    VERBATIM)
  set(${result} ${folder}/${name} PARENT_SCOPE)
endfunction()

# On nvidia, translated sources include HIP's own headers, which the alias header does not replace.
function(_roc_require_hip_headers target)
  foreach(library rocarray_platform rocarray::platform)
    if(TARGET ${library})
      get_target_property(definitions ${library} INTERFACE_COMPILE_DEFINITIONS)
      if("${definitions}" MATCHES "ROCARRAY_NATIVE_ALIAS=1")
        message(FATAL_ERROR "rocarray: ${target} wants its CUDA sources HIPIFIED, and this rocarray "
          "was configured without HIP's headers: set ROCARRAY_HIP_INCLUDE_DIR to them, or leave HIPIFIED "
          "out, so that nvcc compiles the sources as they are")
      endif()
    endif()
  endforeach()
endfunction()
