# SPDX-License-Identifier: MIT
# The filter through which Doxygen reads a header: replaces namespace detail by empty lines, so that
# line numbers stay.

/^namespace (roc::)?(layout::)?detail \{/ { inside = 1 }
inside { if (/^\}  \/\/ namespace (roc::)?(layout::)?detail/) inside = 0; print ""; next }
{
  # A comment of its own: otherwise Doxygen takes the comment of the next member for the group's.
  sub(/\/\/\/ ?@\{$/, "/**@{*/")
  print
}
