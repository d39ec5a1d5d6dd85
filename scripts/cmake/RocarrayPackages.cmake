# SPDX-License-Identifier: MIT
# Debian packages, made by `cpack -G DEB` in the build directory: the library, the files for development,
# and, if the benchmarks are built, rocbench.
#
# The packages of several platforms can be installed together: each has its own directories, and the
# default library and tool are selected by Debian's alternatives. A project selects a platform by
# -DROCARRAY_PLATFORM (find_package) or by the name of the .pc file (pkg-config); a program selects one
# at start by LD_LIBRARY_PATH, since all have one SONAME and one interface.

set(rocarray_suffix ${ROCARRAY_RESOLVED_PLATFORM})
set(rocarray_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(rocarray_private_directory ${CMAKE_INSTALL_LIBDIR}/rocarray-${rocarray_suffix})

# `cmake --install` without a component installs none of these.
rocarray_install(EXPORT rocarray_package PKG_CONFIG rocarray-${rocarray_suffix}
  LIBRARIES ${rocarray_private_directory}
  HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/rocarray-${rocarray_suffix}
  PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/rocarray-${rocarray_suffix}
  RUNTIME COMPONENT library EXCLUDE_FROM_ALL
  DEVELOPMENT COMPONENT development EXCLUDE_FROM_ALL)
set(CPACK_COMPONENTS_ALL library development)
if(TARGET rocbench)
  install(TARGETS rocbench
    RUNTIME DESTINATION ${rocarray_private_directory} COMPONENT tool EXCLUDE_FROM_ALL)
  # The completions are installed in the platform's own directory, as the tool is, and linked from the
  # standard directories by the alternatives. The man page is installed in the standard directory, with
  # the platform in its name: so dpkg leaves it out on systems without man pages, such as containers.
  set(rocarray_tool_directory ${CMAKE_INSTALL_DATADIR}/rocarray-${rocarray_suffix})
  set(rocarray_tool_source ${PROJECT_SOURCE_DIR}/benchmarks/rocbench)
  set(rocarray_man_directory ${CMAKE_INSTALL_MANDIR}/man1)
  set(rocarray_man_page ${CMAKE_CURRENT_BINARY_DIR}/debian/rocbench-${rocarray_suffix}.1.gz)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${rocarray_tool_source}/rocbench.1)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/debian)
  file(ARCHIVE_CREATE OUTPUT ${rocarray_man_page} PATHS ${rocarray_tool_source}/rocbench.1
    FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  install(FILES ${rocarray_man_page} DESTINATION ${rocarray_man_directory} COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${rocarray_tool_source}/completions/rocbench.bash RENAME rocbench
    DESTINATION ${rocarray_tool_directory}/bash-completion/completions COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${rocarray_tool_source}/completions/_rocbench
    DESTINATION ${rocarray_tool_directory}/zsh/vendor-completions COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${rocarray_tool_source}/completions/rocbench.fish
    DESTINATION ${rocarray_tool_directory}/fish/vendor_completions.d COMPONENT tool EXCLUDE_FROM_ALL)
  set(rocarray_tool_slaves "/usr/${rocarray_man_directory}/rocbench.1.gz rocbench-man-man1"
    " /usr/${rocarray_man_directory}/rocbench-${rocarray_suffix}.1.gz\n")
  foreach(file
      bash-completion/completions/rocbench
      zsh/vendor-completions/_rocbench
      fish/vendor_completions.d/rocbench.fish)
    # The directory of the link may not exist otherwise.
    get_filename_component(directory ${file} DIRECTORY)
    install(DIRECTORY DESTINATION ${CMAKE_INSTALL_DATADIR}/${directory}
      COMPONENT tool EXCLUDE_FROM_ALL)
    string(REPLACE "/" "-" name rocbench-${directory})
    list(APPEND rocarray_tool_slaves
      "/usr/${CMAKE_INSTALL_DATADIR}/${file} ${name} /usr/${rocarray_tool_directory}/${file}\n")
  endforeach()
  string(JOIN "" rocarray_tool_slaves ${rocarray_tool_slaves})
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rocarray)
set(CPACK_PACKAGE_VENDOR rocarray)
set(CPACK_PACKAGE_CONTACT "the authors of rocarray")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
find_program(ROCARRAY_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(ROCARRAY_SHLIBDEPS)
if(ROCARRAY_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

set(rocarray_library_package librocarray${rocarray_soversion}-${rocarray_suffix})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${rocarray_library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
  "Arrays in GPU memory, copies, streams: library for ${rocarray_suffix}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librocarray-${rocarray_suffix}-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${rocarray_library_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "Arrays in GPU memory: headers and libraries for ${rocarray_suffix}")
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME rocarray-tools-${rocarray_suffix})
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_DESCRIPTION
  "rocbench, which measures copies to, from and on a GPU (${rocarray_suffix})")

# A platform with a device has precedence over the CPU.
set(rocarray_priority 30)
if(rocarray_suffix STREQUAL "host")
  set(rocarray_priority 10)
endif()

include(RocarrayAlternatives)
rocarray_alternative(library /usr/${CMAKE_INSTALL_LIBDIR}/librocarray.so.${rocarray_soversion}
  librocarray.so.${rocarray_soversion} "")
rocarray_alternative(tool /usr/bin/rocbench rocbench "${rocarray_tool_slaves}")

include(CPack)
