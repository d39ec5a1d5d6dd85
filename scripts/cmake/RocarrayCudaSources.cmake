# SPDX-License-Identifier: MIT
# rocarray_target_cuda_sources(TARGET file.cu... [HEADERS file.cuh...] [OWN name...]
#   [ANY_WARP_SIZE] [HIPIFIED])
#
# Adds CUDA sources to a target that links rocarray::rocarray. On amd hipify-perl translates them
# into the build directory, and hipcc compiles the result. On nvidia nvcc compiles them unchanged
# or, with HIPIFIED, translated and with HIP's CUDA headers. The build fails with a list of the
# names that cannot be translated and, on amd, of the code that assumes warps of 32 lanes.
#
# HEADERS   headers with CUDA code that the sources include. They are translated too, and keep their
#           paths relative to the current source directory.
# OWN       names of the project that look like CUDA's: see scripts/hipify
# ANY_WARP_SIZE  the code is right for waves of 64 lanes: see scripts/hipify
# HIPIFIED  translates on nvidia too
#
# Translation needs perl and hipify-perl. The cache variable ROCARRAY_HIPIFY_PERL is the path of
# hipify-perl. Its default is the environment variable HIPIFY_PERL, or hipify-perl on PATH or in
# ROCm's directories.

include_guard(GLOBAL)

# The script is in scripts/ of the source tree, and in this file's directory of an installed
# package.
set(ROCARRAY_HIPIFY ${CMAKE_CURRENT_LIST_DIR}/hipify)
if(NOT EXISTS ${ROCARRAY_HIPIFY})
  get_filename_component(ROCARRAY_HIPIFY ${CMAKE_CURRENT_LIST_DIR}/../hipify ABSOLUTE)
endif()

# rocarray_find_hipify(): sets ROCARRAY_HIPIFY_PERL and ROCARRAY_PERL; to ...-NOTFOUND if not found.
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

# See the top of this file.
function(rocarray_target_cuda_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ANY_WARP_SIZE;HIPIFIED" "" "HEADERS;OWN")
  get_target_property(platform rocarray_platform_name ROCARRAY_PLATFORM_NAME)
  if(platform STREQUAL "host")
    message(FATAL_ERROR "rocarray: ${target} has CUDA sources, but the host platform has no "
      "compiler for CUDA or HIP; build for amd or nvidia (ROCARRAY_PLATFORM), or write the "
      "kernels with roc::for_each")
  endif()
  _rocarray_require_cuda(${target} ${platform})
  if(platform STREQUAL "nvidia" AND NOT arg_HIPIFIED)
    foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
      get_filename_component(source ${source} ABSOLUTE)
      target_sources(${target} PRIVATE ${source})
      set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
    endforeach()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
    return()
  endif()
  set(hipify_options ${arg_OWN})
  list(TRANSFORM hipify_options PREPEND "--own;")
  if(arg_ANY_WARP_SIZE OR platform STREQUAL "nvidia")
    list(APPEND hipify_options --any-warp-size)
  endif()
  rocarray_find_hipify()
  if(NOT ROCARRAY_HIPIFY_PERL OR NOT EXISTS ${ROCARRAY_HIPIFY_PERL} OR NOT ROCARRAY_PERL)
    message(FATAL_ERROR "rocarray: ${target} has CUDA sources, and translating them for "
      "${platform} needs perl and hipify-perl, but ROCARRAY_HIPIFY_PERL is "
      "\"${ROCARRAY_HIPIFY_PERL}\" and ROCARRAY_PERL is \"${ROCARRAY_PERL}\"; install them "
      "(Debian 13, Ubuntu 24.04: apt-get install hipify-perl; ROCm: the package hipify), or set "
      "ROCARRAY_HIPIFY_PERL to the path of hipify-perl")
  endif()
  if(platform STREQUAL "nvidia")
    _rocarray_require_hip_headers(${target})
  endif()

  set(output_directory ${CMAKE_CURRENT_BINARY_DIR}/${target}.hipified)
  set(headers "")
  foreach(header IN LISTS arg_HEADERS)
    _rocarray_hipify(hipified ${target} ${header} ${output_directory} "" "${hipify_options}")
    list(APPEND headers ${hipified})
  endforeach()
  set(sources "")
  foreach(source IN LISTS arg_UNPARSED_ARGUMENTS)
    # The source depends on the headers: its compilation may start as soon as it exists.
    _rocarray_hipify(hipified ${target} ${source} ${output_directory} "${headers}" "${hipify_options}")
    list(APPEND sources ${hipified})
    # Headers without CUDA code are included from the source's directory.
    get_filename_component(directory ${source} ABSOLUTE)
    get_filename_component(directory ${directory} DIRECTORY)
    target_include_directories(${target} PRIVATE ${directory})
  endforeach()
  rocarray_target_device_sources(${target} ${sources})
endfunction()

# Adds a command that translates a file into a directory, and sets `result` to the path of the
# translation. `dependencies` are files that must be translated first; `options` are
# options of the script.
function(_rocarray_hipify result target source output_directory dependencies options)
  get_filename_component(source ${source} ABSOLUTE)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
  string(REPLACE "../" "" name ${name})
  get_filename_component(output ${name} DIRECTORY)
  string(REGEX REPLACE "[.]cu$" ".hip" name ${name})
  set(output ${output_directory}/${output})
  add_custom_command(
    OUTPUT ${output_directory}/${name}
    COMMAND ${ROCARRAY_PERL} ${ROCARRAY_HIPIFY} --quiet --strict --include roc/native/hip.hpp
      --hipify-perl ${ROCARRAY_HIPIFY_PERL} ${options} -o ${output} ${source}
    DEPENDS ${source} ${ROCARRAY_HIPIFY} ${dependencies}
    COMMENT "Translating ${name} of ${target} into HIP"
    VERBATIM)
  set(${result} ${output_directory}/${name} PARENT_SCOPE)
endfunction()

# Fails if there are no HIP headers, which translated sources of `target` include on nvidia. The alias
# header does not replace them.
function(_rocarray_require_hip_headers target)
  if(NOT rocarray_HIP_INCLUDE_DIR)
    message(FATAL_ERROR "rocarray: ${target} has HIPIFIED CUDA sources, but this rocarray was "
      "configured without HIP's headers; set ROCARRAY_HIP_INCLUDE_DIR to them, or remove "
      "HIPIFIED, so that nvcc compiles the sources unchanged")
  endif()
endfunction()
