# SPDX-License-Identifier: MIT
# Tests of the installed package and of the Debian packages: exported symbols, and consumers built
# from them. Included by this directory's CMakeLists.txt, whose variables it uses.

include(GNUInstallDirs)

if(NOT ROCARRAY_SANITIZE)
  set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  add_test(NAME ${prefix}.exported_symbols
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/exported_symbols.sh check
      ${CMAKE_CURRENT_LIST_DIR}/exported_symbols.txt ${CMAKE_NM} $<TARGET_FILE:rocarray_shared>)
  add_test(NAME ${prefix}.soname
    COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/soname.sh ${CMAKE_READELF}
      $<TARGET_FILE:rocarray_shared> ${soversion})

  # rocarray_pkg_config_test(NAME static|shared DIRECTORY-OF-PC-FILES PC-NAME FIXTURE)
  function(rocarray_pkg_config_test name kind directory pc fixture)
    add_test(NAME ${prefix}.${name}
      COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/pkg_config.sh ${kind}
        ${CMAKE_CURRENT_BINARY_DIR}/${name} ${directory} ${pc} ${CMAKE_CXX_COMPILER})
    set_tests_properties(${prefix}.${name} PROPERTIES
      FIXTURES_REQUIRED ${fixture} SKIP_RETURN_CODE 77 TIMEOUT 120 ENVIRONMENT "${environment}")
  endfunction()
  set(pc_directory ${install}/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  rocarray_pkg_config_test(pkg_config_static static ${pc_directory} rocarray ${prefix}.install)
  rocarray_pkg_config_test(pkg_config_shared shared ${pc_directory} rocarray ${prefix}.install)

  # The installed examples, as a project of their own. They compile as those of this build do.
  if(ROCARRAY_BUILD_EXAMPLES)
    add_test(NAME ${prefix}.installed_examples
      COMMAND ${CMAKE_CTEST_COMMAND} --build-and-test
        ${install}/${CMAKE_INSTALL_DOCDIR}/examples ${CMAKE_CURRENT_BINARY_DIR}/installed_examples ${options}
        --build-options ${variables} -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_PREFIX_PATH=${install}
        --test-command round_trip)
    set_tests_properties(${prefix}.installed_examples PROPERTIES SKIP_REGULAR_EXPRESSION "no device"
      FIXTURES_REQUIRED ${prefix}.install TIMEOUT 900 ENVIRONMENT "${environment}")
  endif()

  set(other amd)
  if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "amd")
    set(other host)
  endif()
  add_test(NAME ${prefix}.wrong_platform
    COMMAND ${consumer} ${CMAKE_CURRENT_BINARY_DIR}/wrong_platform ${options}
      --build-options ${variables} -DCMAKE_PREFIX_PATH=${install} -DROCARRAY_PLATFORM=${other})
  set_tests_properties(${prefix}.wrong_platform PROPERTIES
    FIXTURES_REQUIRED ${prefix}.install
    PASS_REGULAR_EXPRESSION "for ${ROCARRAY_RESOLVED_PLATFORM}, and ROCARRAY_PLATFORM asks for ${other}")

  find_program(ROCARRAY_DPKG dpkg)
  find_program(ROCARRAY_LINTIAN lintian)
  mark_as_advanced(ROCARRAY_DPKG ROCARRAY_LINTIAN)
  if(ROCARRAY_DPKG)
    set(debs ${CMAKE_CURRENT_BINARY_DIR}/debs)
    get_filename_component(cpack ${CMAKE_COMMAND} DIRECTORY)
    add_test(NAME ${prefix}.debs
      COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/debs.sh ${cpack}/cpack ${PROJECT_BINARY_DIR} ${debs}
        ${ROCARRAY_RESOLVED_PLATFORM} librocarray.so.${soversion})
    set_tests_properties(${prefix}.debs PROPERTIES
      FIXTURES_SETUP ${prefix}.debs TIMEOUT 120)
    add_test(NAME ${prefix}.installed_debs
      COMMAND bash ${CMAKE_CURRENT_LIST_DIR}/installed_debs.sh
        ${CMAKE_CURRENT_BINARY_DIR}/installed_debs librocarray.so.${soversion} ${debs})
    set_tests_properties(${prefix}.installed_debs PROPERTIES
      FIXTURES_REQUIRED ${prefix}.debs SKIP_RETURN_CODE 77 TIMEOUT 120)
    # Not in scripts/packages: on Debian 12 lintian and what it needs are 147 packages. With two processors
    # their installation takes 23 s and more, and this test 16 s on each platform.
    if(ROCARRAY_LINTIAN)
      add_test(NAME ${prefix}.lintian
        COMMAND sh -c [["$0" --allow-root --fail-on error,warning "$1"/*.deb]] ${ROCARRAY_LINTIAN} ${debs})
      set_tests_properties(${prefix}.lintian PROPERTIES FIXTURES_REQUIRED ${prefix}.debs TIMEOUT 120)
    else()
      add_test(NAME ${prefix}.lintian
        COMMAND sh -c "echo 'lintian was not found: install it and configure again'; exit 77")
      set_tests_properties(${prefix}.lintian PROPERTIES SKIP_RETURN_CODE 77)
    endif()
    set(deb_usr ${debs}/root/usr)
    add_test(NAME ${prefix}.consumer_of_debs
      COMMAND ${consumer} ${CMAKE_CURRENT_BINARY_DIR}/consumer_debs ${options}
        --build-options ${variables} -DCMAKE_PREFIX_PATH=${deb_usr} -DKIND=shared
          -DROCARRAY_PLATFORM=${ROCARRAY_RESOLVED_PLATFORM}
        --test-command consumer)
    set_tests_properties(${prefix}.consumer_of_debs PROPERTIES
      FIXTURES_REQUIRED ${prefix}.debs TIMEOUT 120 ENVIRONMENT "${environment}")
    set(deb_pc_directory ${deb_usr}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig)
    rocarray_pkg_config_test(consumer_of_debs_by_pkg_config shared ${deb_pc_directory}
      rocarray-${ROCARRAY_RESOLVED_PLATFORM} ${prefix}.debs)
    execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(user STREQUAL "0")  # only root can install packages, and so make the alternatives
      rocarray_pkg_config_test(consumer_of_debs_by_pkg_config_default static ${deb_pc_directory}
        rocarray ${prefix}.debs)
    endif()
  else()
    add_test(NAME ${prefix}.debs COMMAND sh -c "echo 'dpkg was not found: not a Debian system'; exit 77")
    set_tests_properties(${prefix}.debs PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()
