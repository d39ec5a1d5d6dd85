# SPDX-License-Identifier: MIT
# rocarray_alternative(COMPONENT LINK FILE SLAVES)
#
# Writes the maintainer scripts postinst and prerm of a component's Debian package, and sets CPack's variable
# for them. They register the installed FILE as an alternative for LINK, a path without the platform, and
# remove it: see update-alternatives(1). The alternative has the name of LINK. SLAVES has a line for each
# file that is switched together with it: link, name of the alternative, file.

function(rocarray_alternative component link target slaves)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/debian/${component})
  get_filename_component(name ${link} NAME)
  set(install "update-alternatives --install ${link} ${name} ${target} ${rocarray_priority}")
  if(slaves)
    # dpkg may leave out files, or the directory of a link (path-exclude, as in container images).
    # Without the directory update-alternatives fails, and so does the installation.
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
  file(WRITE ${directory}/postinst "#!/bin/sh
set -e
[ \"$1\" = configure ] || exit 0
${install}
")
  file(WRITE ${directory}/prerm "#!/bin/sh
set -e
[ \"$1\" = remove ] || [ \"$1\" = deconfigure ] || exit 0
update-alternatives --remove ${name} ${target}
")
  file(CHMOD ${directory}/postinst ${directory}/prerm PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${directory}/postinst ${directory}/prerm PARENT_SCOPE)
endfunction()
