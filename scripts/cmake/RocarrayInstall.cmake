# SPDX-License-Identifier: MIT
# Installs the library, its headers, the files for find_package(rocarray) and pkg-config, the guide and
# the examples.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(BUILD_SHARED_LIBS)
  set(ROCARRAY_DEFAULT_LIBRARY shared)
else()
  set(ROCARRAY_DEFAULT_LIBRARY static)
endif()
set_target_properties(rocarray_platform PROPERTIES EXPORT_NAME platform)

set(rocarray_package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/rocarray)
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/rocarray-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/rocarray-config.cmake
  INSTALL_DESTINATION ${rocarray_package_directory} NO_SET_AND_CHECK_MACRO)
set(rocarray_version_file ${CMAKE_CURRENT_BINARY_DIR}/rocarray-config-version.cmake)
write_basic_package_version_file(${rocarray_version_file} COMPATIBILITY SameMinorVersion)
# A project that sets ROCARRAY_PLATFORM gets that platform's package, or a message that names this one.
set(rocarray_version ${PROJECT_VERSION})
file(READ ${CMAKE_CURRENT_LIST_DIR}/rocarray-config-platform.cmake.in rocarray_platform_check)
string(CONFIGURE "${rocarray_platform_check}" rocarray_platform_check @ONLY)
file(APPEND ${rocarray_version_file} "${rocarray_platform_check}")

# The flags in the .pc file; its directories differ between the plain installation and the packages.
get_target_property(rocarray_definitions rocarray_platform INTERFACE_COMPILE_DEFINITIONS)
list(TRANSFORM rocarray_definitions PREPEND -D)
list(JOIN rocarray_definitions " " rocarray_pc_definitions)
set(rocarray_pc_private "-pthread -ldl -Wl,-z,nodelete")
# The device runtime's directory is a variable: `pkg-config --define-variable` can replace it.
set(rocarray_pc_variables "")
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "amd")
  get_filename_component(rocarray_directory ${ROCARRAY_AMDHIP_LIBRARY} DIRECTORY)
  set(rocarray_pc_variables "runtimelibdir=${rocarray_directory}\n")
  string(APPEND rocarray_pc_private " -L\${runtimelibdir} -lamdhip64")
elseif(ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia")
  set(rocarray_pc_variables "runtimelibdir=${CUDAToolkit_LIBRARY_DIR}\n")
  string(APPEND rocarray_pc_private " -L\${runtimelibdir} -lcudart_static -lrt")
elseif(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
  string(APPEND rocarray_pc_private " -lboost_context")
endif()

# rocarray_install(EXPORT name LIBRARIES directory HEADERS directory PACKAGE directory PKG_CONFIG name
#                  DOCUMENTS directory RUNTIME keywords... DEVELOPMENT keywords...)
#
# Installs everything; `keywords` are passed to install().
function(rocarray_install)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "EXPORT;LIBRARIES;HEADERS;PACKAGE;PKG_CONFIG;DOCUMENTS"
    "RUNTIME;DEVELOPMENT")
  install(TARGETS rocarray_static rocarray_shared EXPORT ${arg_EXPORT}
    LIBRARY DESTINATION ${arg_LIBRARIES} ${arg_RUNTIME} NAMELINK_SKIP
    ARCHIVE DESTINATION ${arg_LIBRARIES} ${arg_DEVELOPMENT}
    INCLUDES DESTINATION ${arg_HEADERS})
  install(TARGETS rocarray_shared
    LIBRARY DESTINATION ${arg_LIBRARIES} ${arg_DEVELOPMENT} NAMELINK_ONLY)
  install(TARGETS rocarray_platform EXPORT ${arg_EXPORT})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/roc DESTINATION ${arg_HEADERS} ${arg_DEVELOPMENT}
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
  install(EXPORT ${arg_EXPORT} NAMESPACE rocarray:: FILE rocarray-targets.cmake
    DESTINATION ${arg_PACKAGE} ${arg_DEVELOPMENT})
  set(modules ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/rocarray-config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/rocarray-config-version.cmake
    ${modules}/RocarrayCollectives.cmake
    ${modules}/RocarrayCudaSources.cmake
    ${modules}/RocarrayDeviceSources.cmake
    DESTINATION ${arg_PACKAGE} ${arg_DEVELOPMENT})
  install(PROGRAMS ${modules}/../hipify DESTINATION ${arg_PACKAGE} ${arg_DEVELOPMENT})
  # As in the repository, so that links from one to the other lead somewhere.
  install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    DESTINATION ${arg_DOCUMENTS} ${arg_DEVELOPMENT})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${arg_DOCUMENTS} ${arg_DEVELOPMENT}
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN _static EXCLUDE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${arg_DOCUMENTS} ${arg_DEVELOPMENT})

  # Relative to the .pc file, so that an installation can be moved.
  set(pkg_config ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  set(rocarray_pc_prefix ${CMAKE_INSTALL_PREFIX})
  if(NOT IS_ABSOLUTE ${pkg_config})
    file(RELATIVE_PATH rocarray_pc_prefix /prefix/${pkg_config} /prefix)
    string(REGEX REPLACE "/$" "" rocarray_pc_prefix ${rocarray_pc_prefix})
    set(rocarray_pc_prefix "\${pcfiledir}/${rocarray_pc_prefix}")
  endif()
  foreach(kind LIBRARIES HEADERS)
    set(rocarray_pc_${kind} ${arg_${kind}})
    if(NOT IS_ABSOLUTE ${arg_${kind}})
      set(rocarray_pc_${kind} "\${prefix}/${arg_${kind}}")
    endif()
  endforeach()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/pkgconfig/${arg_PKG_CONFIG}.pc)
  configure_file(${modules}/rocarray.pc.in ${file} @ONLY)
  install(FILES ${file} DESTINATION ${pkg_config} ${arg_DEVELOPMENT})
endfunction()

rocarray_install(EXPORT rocarray PKG_CONFIG rocarray
  LIBRARIES ${CMAKE_INSTALL_LIBDIR}
  HEADERS ${CMAKE_INSTALL_INCLUDEDIR}
  PACKAGE ${rocarray_package_directory}
  DOCUMENTS ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET rocarray_preload)
  get_target_property(rocarray_run rocarray_preload ROCARRAY_RUN)
  # Not in the directory of libraries: on nvidia, ldconfig would take librocarray-preload.so, whose SONAME
  # is the driver's, for the driver and make a link libcuda.so.1 to it.
  get_target_property(rocarray_preload_targets rocarray_preload ROCARRAY_TARGETS)
  install(TARGETS ${rocarray_preload_targets} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/rocarray)
  install(PROGRAMS ${rocarray_run} DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(RocarrayPackages)
endif()
