# SPDX-License-Identifier: MIT
# What Doxygen reads of a header: what is the library's own is left out, line for line, but for the
# bases that arrays and views have their operations from.

BEGIN { bases = "(copy_forms|device_copies|owner_operations|padded_memory|view_operations)" }
/^namespace (roc::)?detail \{/ && FILENAME !~ "/detail/" bases "[.]hpp$" { inside = 1 }
inside { if (/^\}  \/\/ namespace (roc::)?detail/) inside = 0; print ""; next }
# What the bases do for the arrays alone.
/^ (protected|private|public):/ { hidden = FILENAME ~ /\/detail\// && /protected/ }
hidden && !/^};/ { print ""; next }
/^};/ { hidden = 0 }
# By these members the library knows its arrays and views.
/^  using roc_[a-z_]+ = void;/ || /^  static constexpr detail::place memory_place/ { print ""; next }
{ print }
