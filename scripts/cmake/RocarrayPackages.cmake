# SPDX-License-Identifier: MIT
# Debian packages, made by `cpack -G DEB` in the build directory: the library, the files for development,
# if they are built, rocbench and the Python package, and on amd and nvidia the preloaded library with
# rocarray-run.
#
# The packages of several platforms can be installed together: each has its own directories, and the
# default library, .pc file and tool are selected by Debian's alternatives. A project selects a platform
# by -DROCARRAY_PLATFORM (find_package) or by the name of the .pc file (pkg-config); a program selects one
# at start by LD_LIBRARY_PATH, since all have one SONAME and one interface.

find_program(ROCARRAY_GZIP gzip)
mark_as_advanced(ROCARRAY_GZIP)
if(NOT ROCARRAY_GZIP)
  return()
endif()

set(rocarray_suffix ${ROCARRAY_RESOLVED_PLATFORM})
# The packages' prefix is /usr, where Debian's libraries are in a directory of the architecture. The loader
# searches it without ldconfig.
if(CMAKE_LIBRARY_ARCHITECTURE)
  set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
set(rocarray_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(rocarray_private_directory ${CMAKE_INSTALL_LIBDIR}/rocarray-${rocarray_suffix})
set(rocarray_library_package librocarray${rocarray_soversion}-${rocarray_suffix})
set(rocarray_development_package librocarray-${rocarray_suffix}-dev)
set(rocarray_tool_package rocarray-tools-${rocarray_suffix})
set(rocarray_python_package python3-rocarray-${rocarray_suffix})
set(rocarray_preload_package rocarray-preload-${rocarray_suffix})
set(rocarray_maintainer "rocarray developers <developers@rocarray.invalid>")

# rocarray_debian_documents(COMPONENT): installs copyright and changelog, which every package must have.
file(READ ${PROJECT_SOURCE_DIR}/LICENSE rocarray_license)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]+)" rocarray_copyright "${rocarray_license}")
set(rocarray_copyright ${CMAKE_MATCH_1})
string(REGEX REPLACE "^MIT License\n\nCopyright[^\n]*\n\n" "" rocarray_license "${rocarray_license}")
string(REGEX REPLACE "\n$" "" rocarray_license "${rocarray_license}")
string(REGEX REPLACE "\n\n" "\n.\n" rocarray_license "${rocarray_license}")
string(REGEX REPLACE "\n" "\n " rocarray_license "${rocarray_license}")
string(TIMESTAMP rocarray_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
function(rocarray_debian_documents component)
  set(package ${rocarray_${component}_package})
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/debian/${component})
  file(WRITE ${directory}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: rocarray

Files: *
Copyright: ${rocarray_copyright}
License: MIT
 ${rocarray_license}
")
  file(WRITE ${directory}/changelog
"rocarray (${PROJECT_VERSION}) unstable; urgency=medium

  * New version.

 -- ${rocarray_maintainer}  ${rocarray_date}
")
  rocarray_gzip(${directory}/changelog ${directory}/changelog.gz)
  install(FILES ${directory}/copyright ${directory}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

# rocarray_gzip(FROM TO): compresses a file. The result does not depend on the time.
function(rocarray_gzip from to)
  execute_process(COMMAND ${ROCARRAY_GZIP} -9n INPUT_FILE ${from} OUTPUT_FILE ${to}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# `cmake --install` without a component installs none of these.
rocarray_install(EXPORT rocarray_package PKG_CONFIG rocarray-${rocarray_suffix}
  LIBRARIES ${rocarray_private_directory}
  HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/rocarray-${rocarray_suffix}
  PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/rocarray-${rocarray_suffix}
  DOCUMENTS ${CMAKE_INSTALL_DATADIR}/doc/${rocarray_development_package}
  RUNTIME COMPONENT library EXCLUDE_FROM_ALL
  DEVELOPMENT COMPONENT development EXCLUDE_FROM_ALL)
set(CPACK_COMPONENTS_ALL library development)
rocarray_debian_documents(library)
rocarray_debian_documents(development)
if(TARGET rocbench)
  rocarray_debian_documents(tool)
  install(TARGETS rocbench
    RUNTIME DESTINATION ${rocarray_private_directory} COMPONENT tool EXCLUDE_FROM_ALL)
  # The man page is installed in the standard directory, with the platform in its name: so dpkg leaves it
  # out on systems without man pages, such as containers.
  set(rocarray_tool_slaves "")
  get_target_property(rocarray_man_page rocbench ROCARRAY_MAN_PAGE)
  if(rocarray_man_page)
    set(rocarray_man_directory ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${rocarray_man_page} RENAME rocbench-${rocarray_suffix}.1.gz
      DESTINATION ${rocarray_man_directory} COMPONENT tool EXCLUDE_FROM_ALL)
    string(CONCAT rocarray_tool_slaves "/usr/${rocarray_man_directory}/rocbench.1.gz rocbench-man-man1"
      " /usr/${rocarray_man_directory}/rocbench-${rocarray_suffix}.1.gz\n")
  endif()
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()
if(TARGET rocarray_preload)
  rocarray_debian_documents(preload)
  # rocarray-run finds the objects beside itself. Not in the directory of the library, which a user may
  # give to ldconfig or add to /etc/ld.so.conf.
  set(rocarray_preload_directory ${rocarray_private_directory}/preload)
  install(TARGETS ${rocarray_preload_targets}
    LIBRARY DESTINATION ${rocarray_preload_directory} COMPONENT preload EXCLUDE_FROM_ALL)
  install(PROGRAMS ${rocarray_run}
    DESTINATION ${rocarray_preload_directory} COMPONENT preload EXCLUDE_FROM_ALL)
  set(rocarray_preload_slaves "")
  get_target_property(rocarray_man_page rocarray_preload ROCARRAY_MAN_PAGE)
  if(rocarray_man_page)
    set(rocarray_man_directory ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${rocarray_man_page} RENAME rocarray-run-${rocarray_suffix}.1.gz
      DESTINATION ${rocarray_man_directory} COMPONENT preload EXCLUDE_FROM_ALL)
    string(CONCAT rocarray_preload_slaves
      "/usr/${rocarray_man_directory}/rocarray-run.1.gz rocarray-run-man-man1"
      " /usr/${rocarray_man_directory}/rocarray-run-${rocarray_suffix}.1.gz\n")
  endif()
  list(APPEND CPACK_COMPONENTS_ALL preload)
endif()

# The package is for the distribution's interpreter.
if(TARGET rocarray_python AND ROCARRAY_PYTHON_EXECUTABLE STREQUAL "/usr/bin/python3")
  rocarray_debian_documents(python)
  set(rocarray_python_directory ${rocarray_private_directory}/python/rocarray)
  install(FILES ${ROCARRAY_PYTHON_FILES}
    DESTINATION ${rocarray_python_directory} COMPONENT python EXCLUDE_FROM_ALL)
  install(TARGETS rocarray_python
    LIBRARY DESTINATION ${rocarray_python_directory} COMPONENT python EXCLUDE_FROM_ALL)
  # The directory of the alternative, which does not exist in a system without Python.
  install(DIRECTORY DESTINATION lib/python3/dist-packages COMPONENT python EXCLUDE_FROM_ALL)
  # The extension loads the library as programs do: by LD_LIBRARY_PATH or the alternatives.
  install(CODE "file(RPATH_REMOVE FILE
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${rocarray_python_directory}/$<TARGET_FILE_NAME:rocarray_python>\")"
    COMPONENT python EXCLUDE_FROM_ALL)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME rocarray)
set(CPACK_PACKAGE_VENDOR rocarray)
set(CPACK_PACKAGE_CONTACT ${rocarray_maintainer})
# Each package has its own synopsis, the first line of its description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
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
  # The extension of the Python package needs the library, on whose package it depends by name.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
endif()

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${rocarray_library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(rocarray_description
  "rocarray is a C++ library of arrays in GPU memory, written once in HIP, that\n\
copies between host and device at nearly the speed of the link.\n\n")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
  "arrays in GPU memory, shared library for ${rocarray_suffix}\n${rocarray_description}\
This package contains the shared library for the platform ${rocarray_suffix}.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ${rocarray_development_package})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${rocarray_library_package} (= ${PROJECT_VERSION})")
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")  # for programs that link the static library
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libboost-context-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake, perl, pkgconf | pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "arrays in GPU memory, files for development for ${rocarray_suffix}\n${rocarray_description}\
This package contains the headers, the static library, the files for CMake and\n\
pkg-config, the guide and examples, for the platform ${rocarray_suffix}.")
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME ${rocarray_tool_package})
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_DESCRIPTION
  "measures copies to, from and on a GPU, for ${rocarray_suffix}\n${rocarray_description}\
This package contains rocbench, which measures the library beside HIP's own\n\
calls and the limits of the hardware, for the platform ${rocarray_suffix}.")
set(CPACK_DEBIAN_PRELOAD_PACKAGE_NAME ${rocarray_preload_package})
set(CPACK_DEBIAN_PRELOAD_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PRELOAD_DESCRIPTION
  "speeds up copies of GPU programs that are not rebuilt, for ${rocarray_suffix}\n${rocarray_description}\
This package contains rocarray-run, which runs a program and serves its copies\n\
of pageable host memory, for the platform ${rocarray_suffix}.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME ${rocarray_python_package})
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "${rocarray_library_package} (= ${PROJECT_VERSION}), python3-numpy")
if(TARGET rocarray_python)
  string(REGEX MATCH "[0-9]+$" rocarray_python_minor ${ROCARRAY_PYTHON_VERSION})
  math(EXPR rocarray_python_minor "${rocarray_python_minor} + 1")
  string(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
    ", python3 (>= ${ROCARRAY_PYTHON_VERSION}~), python3 (<< 3.${rocarray_python_minor})")
endif()
set(CPACK_DEBIAN_PYTHON_DESCRIPTION
  "arrays in GPU memory, Python package for ${rocarray_suffix}\n${rocarray_description}\
This package contains the module rocarray for Python, which copies arrays of\n\
NumPy and other libraries, for the platform ${rocarray_suffix}.")

# A platform with a device has precedence over the CPU.
set(rocarray_priority 30)
if(rocarray_suffix STREQUAL "host")
  set(rocarray_priority 10)
endif()

include(RocarrayAlternatives)
rocarray_alternative(library /usr/${CMAKE_INSTALL_LIBDIR}/librocarray.so.${rocarray_soversion}
  /usr/${rocarray_private_directory}/librocarray.so.${rocarray_soversion} "")
set(rocarray_pc_file /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig/rocarray)
rocarray_alternative(development ${rocarray_pc_file}.pc ${rocarray_pc_file}-${rocarray_suffix}.pc "")
rocarray_alternative(tool /usr/bin/rocbench /usr/${rocarray_private_directory}/rocbench
  "${rocarray_tool_slaves}")
rocarray_alternative(python /usr/lib/python3/dist-packages/rocarray
  /usr/${rocarray_private_directory}/python/rocarray "")
if(TARGET rocarray_preload)
  rocarray_alternative(preload /usr/bin/rocarray-run /usr/${rocarray_preload_directory}/rocarray-run
    "${rocarray_preload_slaves}")
endif()

include(CPack)
