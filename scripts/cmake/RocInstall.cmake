# SPDX-License-Identifier: MIT
# Installation and the package that find_package(rocarray) finds.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(roc_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/rocarray)

set_target_properties(roc_platform PROPERTIES EXPORT_NAME platform)
install(TARGETS rocarray_static rocarray_shared roc_platform EXPORT rocarray
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/roc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(EXPORT rocarray NAMESPACE rocarray:: FILE rocarray-targets.cmake
  DESTINATION ${roc_package_folder})

if(BUILD_SHARED_LIBS)
  set(ROC_DEFAULT_LIBRARY shared)
else()
  set(ROC_DEFAULT_LIBRARY static)
endif()
configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/rocarray-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/rocarray-config.cmake
  INSTALL_DESTINATION ${roc_package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/rocarray-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/rocarray-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/rocarray-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/RocCudaSources.cmake
  ${CMAKE_CURRENT_LIST_DIR}/RocDeviceSources.cmake
  DESTINATION ${roc_package_folder})
install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/../hipify DESTINATION ${roc_package_folder})
