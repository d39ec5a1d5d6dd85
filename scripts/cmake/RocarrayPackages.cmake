# SPDX-License-Identifier: MIT
# Debian packages, by `cpack -G DEB` in the build folder: the library, what is needed to build with
# it, and, where the benchmarks are built, rocbench.
#
# Those of several platforms can be installed side by side: each has folders of its own, and the
# library and the tool that are found without naming a platform are Debian's alternatives. A project
# picks a platform by -DROCARRAY_PLATFORM (find_package), by the name of the .pc file (pkg-config), or
# when a program starts, by LD_LIBRARY_PATH: all have one SONAME and one interface.

set(rocarray_suffix ${ROCARRAY_RESOLVED_PLATFORM})
set(rocarray_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(rocarray_private_folder ${CMAKE_INSTALL_LIBDIR}/rocarray-${rocarray_suffix})

# None of this is part of a plain `cmake --install`.
rocarray_install(EXPORT rocarray_package PKG_CONFIG rocarray-${rocarray_suffix}
  LIBRARIES ${rocarray_private_folder}
  HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/rocarray-${rocarray_suffix}
  PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/rocarray-${rocarray_suffix}
  RUNTIME COMPONENT library EXCLUDE_FROM_ALL
  DEVELOPMENT COMPONENT development EXCLUDE_FROM_ALL)
set(CPACK_COMPONENTS_ALL library development)
if(TARGET rocbench)
  install(TARGETS rocbench
    RUNTIME DESTINATION ${rocarray_private_folder} COMPONENT tool EXCLUDE_FROM_ALL)
  # Its completions: in a folder of the platform's own, as the tool is, and offered with it under the
  # standard places. The man page lies where all do, under the platform's name and compressed: where
  # dpkg leaves man pages out, as in images of containers, it leaves this one out as well.
  set(rocarray_tool_folder ${CMAKE_INSTALL_DATADIR}/rocarray-${rocarray_suffix})
  set(rocarray_tool_source ${PROJECT_SOURCE_DIR}/benchmarks/rocbench)
  set(rocarray_man_folder ${CMAKE_INSTALL_MANDIR}/man1)
  set(rocarray_man_page ${CMAKE_CURRENT_BINARY_DIR}/debian/rocbench-${rocarray_suffix}.1.gz)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${rocarray_tool_source}/rocbench.1)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/debian)
  file(ARCHIVE_CREATE OUTPUT ${rocarray_man_page} PATHS ${rocarray_tool_source}/rocbench.1
    FORMAT raw COMPRESSION GZip COMPRESSION_LEVEL 9)
  install(FILES ${rocarray_man_page} DESTINATION ${rocarray_man_folder} COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${rocarray_tool_source}/completions/rocbench.bash RENAME rocbench
    DESTINATION ${rocarray_tool_folder}/bash-completion/completions COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${rocarray_tool_source}/completions/_rocbench
    DESTINATION ${rocarray_tool_folder}/zsh/vendor-completions COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${rocarray_tool_source}/completions/rocbench.fish
    DESTINATION ${rocarray_tool_folder}/fish/vendor_completions.d COMPONENT tool EXCLUDE_FROM_ALL)
  set(rocarray_tool_slaves "/usr/${rocarray_man_folder}/rocbench.1.gz rocbench-man-man1"
    " /usr/${rocarray_man_folder}/rocbench-${rocarray_suffix}.1.gz\n")
  foreach(file
      bash-completion/completions/rocbench
      zsh/vendor-completions/_rocbench
      fish/vendor_completions.d/rocbench.fish)
    # A link needs its folder, which no other package may have made.
    get_filename_component(folder ${file} DIRECTORY)
    install(DIRECTORY DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder}
      COMPONENT tool EXCLUDE_FROM_ALL)
    string(REPLACE "/" "-" name rocbench-${folder})
    list(APPEND rocarray_tool_slaves
      "/usr/${CMAKE_INSTALL_DATADIR}/${file} ${name} /usr/${rocarray_tool_folder}/${file}\n")
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

# A platform with a device comes before the CPU.
set(rocarray_priority 30)
if(rocarray_suffix STREQUAL "host")
  set(rocarray_priority 10)
endif()

include(RocarrayAlternatives)
rocarray_alternative(library /usr/${CMAKE_INSTALL_LIBDIR}/librocarray.so.${rocarray_soversion}
  librocarray.so.${rocarray_soversion} "")
rocarray_alternative(tool /usr/bin/rocbench rocbench "${rocarray_tool_slaves}")

include(CPack)
