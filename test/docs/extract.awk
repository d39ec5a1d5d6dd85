# SPDX-License-Identifier: MIT
# extract.awk -v page=NAME -v part=host|device [-v table=1] [-v main=1 [-v language=c]] PAGE
#
# Prints the C++ code of a page as one source file, with #line directives that name the page:
#
# - Blocks that begin with ```cpp. Those marked `assumed` come first, at file scope; those with a
#   main() are programs; each of the others becomes the body of a function.
# - Tables whose last column is named rocarray: the code in that column, one function per row.
#
# Code that uses <<<, __global__, roc::launch or their headers is for the device compiler and belongs to
# `part=device`, all other code to `part=host`. Assumed blocks are in both parts, except kernels. With `table=1` a page
# without such a table is an error. `main=1` prints the first program of the page alone; with
# `language=c` that of the blocks that begin with ```c.

# Prints the message with the page's line and exits with status 1.
function fail(text) {
  print page ":" FNR ": " text >"/dev/stderr"
  failed = 1
  exit 1
}

# Returns whether the code needs a device compiler.
function is_device(text) { return text ~ /<<<[^>]|__global__|roc::launch\(|<roc\/(launch|kernel)\.hpp>/ }
# Returns whether the code belongs to the part that is extracted.
function is_wanted(text) { return is_device(text) == (part == "device") }

# Returns the code with empty lines in place of its #include lines, which are added to `includes`, the
# top of the source file.
function without_includes(text, lines, count, i, result) {
  count = split(text, lines, "\n")
  result = ""
  for (i = 1; i < count; ++i) {
    if (lines[i] ~ /^ *#include/) {
      includes = includes lines[i] "\n"
      lines[i] = ""
    }
    result = result lines[i] "\n"
  }
  return result
}

# Returns a directive by which the compiler reports errors at this line of the page.
function at(line) { return "#line " line " \"" page "\"\n" }

# Adds the code, which begins in this line of the page, as the body of a function.
function add_function(line, text) {
  if (!is_wanted(text)) return
  # The function begins on the line of the code, so that the compiler reports the page's line.
  code = code at(line) "void line_" line "() { " without_includes(text) ";}\n"
}

# Adds the block that ends here: `info` is the word after its ```, `begun` its first line.
function end_block() {
  if (info ~ /^cpp assumed$/) {
    if (main) return
    if (part == "device" || !is_device(block)) assumed = assumed at(begun) without_includes(block)
  } else if (info != "cpp") {
    fail("unknown block \"" info "\": use cpp or cpp assumed")
  } else if (block ~ /(^|\n)int main\(/) {
    ++programs
    if (main && programs == 1) code = at(begun) block
    if (!main && is_wanted(block)) {
      code = code "namespace program_" begun " {\n" at(begun) without_includes(block) "}\n"
    }
  } else if (!main) {
    add_function(begun, block)
  }
}

# Adds the code in the last column of a table's row.
function row(line, cells, spans, count, i, ours, text) {
  gsub(/\\\|/, "\001", line)
  if (split(line, cells, "|") != 4) fail("a row must have two columns; write \\| for a bar in code")
  ours = cells[3]
  gsub(/\001/, "|", ours)
  gsub(/^ +| +$/, "", ours)
  ++rows
  if (ours !~ /`/) return  # only words: nothing to compile
  count = split(ours, spans, /<br>/)
  text = ""
  for (i = 1; i <= count; ++i) {
    gsub(/^ +| +$/, "", spans[i])
    if (spans[i] !~ /^`[^`]+`$/) fail("the rocarray column mixes code and words: \"" spans[i] "\"")
    text = text substr(spans[i], 2, length(spans[i]) - 2) " "
  }
  ++compiled
  if (text ~ /^ *#include/) {
    includes = includes text "\n"
    return
  }
  add_function(FNR, text "\n")
}

in_block && /^```/ {
  in_block = 0
  if (language == "c" && info == "c") info = "cpp"
  else if (language == "c") next
  if (info ~ /^cpp/) end_block()
  next
}
in_block { block = block $0 "\n"; next }
/^```/ {
  in_block = 1
  info = substr($0, 4)
  begun = FNR + 1
  block = ""
  next
}
/^\|/ && !main {
  if (!in_table) {
    in_table = 1
    has_our_column = $0 ~ /\| rocarray \|$/
    next
  }
  if (has_our_column && $0 !~ /^\|[-|: ]+$/) row($0)
  next
}
{ in_table = 0 }

END {
  if (failed) exit 1
  if (in_block) fail("the block that begins in line " begun " is not closed")
  if (table && !compiled) fail("no table has a column \"rocarray\" with code")
  if (main && !programs) fail("no block has a main()")
  printf "// Extracted from %s by extract.awk: %d rows with code.\n", page, compiled
  printf "%s%s", includes, assumed
  if (main) printf "%s", code
  else printf "namespace roc_docs {\n%s}  // namespace roc_docs\n", code
}
