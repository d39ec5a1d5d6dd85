# SPDX-License-Identifier: MIT
# Debian packages, by `cpack -G DEB` in the build folder: the library, what is needed to build with
# it, and, where the benchmarks are built, rocbench.
#
# Those of several platforms can be installed side by side: each has folders of its own, and the
# library and the tool that are found without naming a platform are Debian's alternatives. A project
# picks a platform by -DROC_PLATFORM (find_package), by the name of the .pc file (pkg-config), or
# when a program starts, by LD_LIBRARY_PATH: all have one SONAME and one interface.

set(roc_suffix ${ROC_RESOLVED_PLATFORM})
set(roc_soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(roc_private_folder ${CMAKE_INSTALL_LIBDIR}/rocarray-${roc_suffix})

# None of this is part of a plain `cmake --install`.
roc_install(EXPORT rocarray_package PKG_CONFIG rocarray-${roc_suffix}
  LIBRARIES ${roc_private_folder}
  HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/rocarray-${roc_suffix}
  PACKAGE ${CMAKE_INSTALL_LIBDIR}/cmake/rocarray-${roc_suffix}
  RUNTIME COMPONENT library EXCLUDE_FROM_ALL
  DEVELOPMENT COMPONENT development EXCLUDE_FROM_ALL)
set(CPACK_COMPONENTS_ALL library development)
if(TARGET rocbench)
  install(TARGETS rocbench
    RUNTIME DESTINATION ${roc_private_folder} COMPONENT tool EXCLUDE_FROM_ALL)
  # Its man page and completions: in a folder of the platform's own, as the tool is, and offered with
  # it under the standard places.
  set(roc_tool_folder ${CMAKE_INSTALL_DATADIR}/rocarray-${roc_suffix})
  set(roc_tool_source ${PROJECT_SOURCE_DIR}/benchmarks/rocbench)
  set(roc_tool_files
    man/man1/rocbench.1
    bash-completion/completions/rocbench
    zsh/vendor-completions/_rocbench
    fish/vendor_completions.d/rocbench.fish)
  install(FILES ${roc_tool_source}/rocbench.1
    DESTINATION ${roc_tool_folder}/man/man1 COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${roc_tool_source}/completions/rocbench.bash RENAME rocbench
    DESTINATION ${roc_tool_folder}/bash-completion/completions COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${roc_tool_source}/completions/_rocbench
    DESTINATION ${roc_tool_folder}/zsh/vendor-completions COMPONENT tool EXCLUDE_FROM_ALL)
  install(FILES ${roc_tool_source}/completions/rocbench.fish
    DESTINATION ${roc_tool_folder}/fish/vendor_completions.d COMPONENT tool EXCLUDE_FROM_ALL)
  set(roc_tool_slaves "")
  foreach(file IN LISTS roc_tool_files)
    # A link needs its folder, which no other package may have made.
    get_filename_component(folder ${file} DIRECTORY)
    install(DIRECTORY DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder}
      COMPONENT tool EXCLUDE_FROM_ALL)
    string(REPLACE "/" "-" name rocbench-${folder})
    string(APPEND roc_tool_slaves " \\\n  --slave /usr/${CMAKE_INSTALL_DATADIR}/${file} ${name} "
      "/usr/${roc_tool_folder}/${file}")
  endforeach()
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
find_program(ROC_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(ROC_SHLIBDEPS)
if(ROC_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()

set(roc_library_package librocarray${roc_soversion}-${roc_suffix})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${roc_library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION
  "Arrays in GPU memory, copies, streams: library for ${roc_suffix}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librocarray-${roc_suffix}-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${roc_library_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION
  "Arrays in GPU memory: headers and libraries for ${roc_suffix}")
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME rocarray-tools-${roc_suffix})
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_DESCRIPTION
  "rocbench, which measures copies to, from and on a GPU (${roc_suffix})")

# A platform with a device comes before the CPU.
set(roc_priority 30)
if(roc_suffix STREQUAL "host")
  set(roc_priority 10)
endif()

# The scripts that offer a file of a package under the name without a platform, and take it back;
# `slaves`, options of update-alternatives, name what comes and goes with it.
function(roc_alternative component link name slaves)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/debian/${component})
  set(target /usr/${roc_private_folder}/${name})
  set(ldconfig "")
  if(component STREQUAL "library")
    set(ldconfig "ldconfig\n")
  endif()
  file(WRITE ${folder}/postinst "#!/bin/sh
set -e
[ \"$1\" = configure ] || exit 0
update-alternatives --install ${link} ${name} ${target} ${roc_priority}${slaves}
${ldconfig}")
  file(WRITE ${folder}/prerm "#!/bin/sh
set -e
[ \"$1\" = remove ] || [ \"$1\" = deconfigure ] || exit 0
update-alternatives --remove ${name} ${target}
")
  file(CHMOD ${folder}/postinst ${folder}/prerm PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${folder}/postinst ${folder}/prerm PARENT_SCOPE)
endfunction()
roc_alternative(library /usr/${CMAKE_INSTALL_LIBDIR}/librocarray.so.${roc_soversion}
  librocarray.so.${roc_soversion} "")
roc_alternative(tool /usr/bin/rocbench rocbench "${roc_tool_slaves}")

include(CPack)
