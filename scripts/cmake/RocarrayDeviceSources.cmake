# SPDX-License-Identifier: MIT
# rocarray_target_device_sources(TARGET file.hip...)
#
# Adds files for the device compiler to a target: hipcc on amd, nvcc on nvidia, the C++ compiler on
# the host platform. They are compiled with the target's own include folders and definitions; hipcc
# is also given what the target's property ROCARRAY_DEVICE_OPTIONS holds.

include_guard(GLOBAL)

function(rocarray_target_device_sources target)
  get_target_property(platform rocarray_platform_name ROCARRAY_PLATFORM_NAME)
  _roc_require_cuda(${target} ${platform})
  foreach(source IN LISTS ARGN)
    get_filename_component(source ${source} ABSOLUTE)
    if(platform STREQUAL "amd")
      _roc_add_hipcc_object(${target} ${source})
    else()
      target_sources(${target} PRIVATE ${source})
      if(platform STREQUAL "nvidia")
        set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
        target_compile_options(${target} PRIVATE
          $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda>
          # Not cuda_std_20: CMake before 3.29 does not know what nvcc 13 can.
          $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>
          "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-x cu>")
      else()
        set_source_files_properties(${source} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
      endif()
    endif()
  endforeach()
endfunction()

# On nvidia the project has to enable CMake's CUDA: a function cannot do it for the target's folder.
function(_roc_require_cuda target platform)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(platform STREQUAL "nvidia" AND NOT CUDA IN_LIST languages)
    message(FATAL_ERROR "rocarray: ${target} has sources for nvcc, and the project has not enabled "
      "CUDA: say enable_language(CUDA) after find_package(rocarray), or give CUDA to project()")
  endif()
endfunction()

# hipcc is no language of CMake here: its support needs files that distributions put elsewhere.
function(_roc_add_hipcc_object target source)
  file(RELATIVE_PATH name ${CMAKE_CURRENT_SOURCE_DIR} ${source})
  string(REPLACE "../" "" name ${name})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.hip/${name}.o)
  get_filename_component(folder ${object} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
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
