# SPDX-License-Identifier: MIT
# rocarray_alternative(COMPONENT LINK NAME SLAVES)
#
# The scripts by which a component's package offers its file NAME as LINK, a name without a platform,
# and takes it back (Debian's alternatives). What comes and goes with it is in SLAVES, a line each:
# link, name of the alternative, file.

function(rocarray_alternative component link name slaves)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/debian/${component})
  set(target /usr/${rocarray_private_folder}/${name})
  set(install "update-alternatives --install ${link} ${name} ${target} ${rocarray_priority}")
  if(slaves)
    # dpkg may have been told to leave out files, or the folder of a link (path-exclude, as images of
    # containers have it): without the folder update-alternatives fails, and with it the package.
    set(install "slaves=
while read -r link name file; do
  if [ -e \"\${DPKG_ROOT:-}$file\" ] && [ -d \"\${DPKG_ROOT:-}\${link%/*}\" ]; then
    slaves=\"$slaves --slave $link $name $file\"
  fi
done <<LIST
${slaves}LIST
# shellcheck disable=SC2086
${install} $slaves")
  endif()
  set(ldconfig "")
  if(component STREQUAL "library")
    set(ldconfig "ldconfig\n")
  endif()
  file(WRITE ${folder}/postinst "#!/bin/sh
set -e
[ \"$1\" = configure ] || exit 0
${install}
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
