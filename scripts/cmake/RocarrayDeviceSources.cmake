# SPDX-License-Identifier: MIT
# rocarray_target_device_sources(TARGET file.hip...)
#
# Adds sources for the device compiler to a target: hipcc on amd, nvcc on nvidia, the C++ compiler
# on the host platform. They are compiled with the target's include directories and definitions, and
# by hipcc also with the options in the target's property ROCARRAY_DEVICE_OPTIONS.

include_guard(GLOBAL)

# See the top of this file.
function(rocarray_target_device_sources target)
  get_target_property(platform rocarray_platform_name ROCARRAY_PLATFORM_NAME)
  _rocarray_require_cuda(${target} ${platform})
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    if(platform STREQUAL "amd")
      _rocarray_add_hipcc_object(${target} ${source})
    else()
      target_sources(${target} PRIVATE ${source})
      if(platform STREQUAL "nvidia")
        set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
        target_compile_options(${target} PRIVATE
          $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>
          # Not the feature cuda_std_20: CMake before 3.29 does not know that nvcc 13 supports
          # C++20.
          $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>
          "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-x cu>")
      else()
        set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
      endif()
    endif()
  endforeach()
endfunction()

# Fails on nvidia unless the project has enabled CUDA: a function cannot enable a language for the
# target's directory.
function(_rocarray_require_cuda target platform)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(platform STREQUAL "nvidia" AND NOT CUDA IN_LIST languages)
    message(FATAL_ERROR "rocarray: ${target} has sources for nvcc, but the project has not enabled "
      "CUDA; call enable_language(CUDA) after find_package(rocarray), or add CUDA to project()")
  endif()
endfunction()

# Adds a custom command that compiles a source with hipcc, and adds the object to the target. Does not use
# CMake's language HIP, which needs files that distributions install in other directories.
function(_rocarray_add_hipcc_object target source)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
  string(REPLACE "../" "" name ${name})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.hip/${name}.o)
  get_filename_component(object_directory ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${object_directory})
  set(includes $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  set(architectures ${ROCARRAY_AMD_ARCHITECTURES})
  list(TRANSFORM architectures PREPEND --offload-arch=)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${ROCARRAY_HIPCC} -std=c++20 -fPIC -fvisibility=hidden -fvisibility-inlines-hidden
      "$<$<CONFIG:Debug,RelWithDebInfo>:-g>"
      "$<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-O3;-DNDEBUG>"
      "$<TARGET_PROPERTY:${target},ROCARRAY_DEVICE_OPTIONS>" ${architectures}
      "$<$<BOOL:${includes}>:-I$<JOIN:$<FILTER:${includes},EXCLUDE,^/usr/include$>,;-I>>"
      "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
      -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "Building HIP object ${name}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${target} PRIVATE ${object})
endfunction()
