# SPDX-License-Identifier: MIT
# extract.awk -v page=NAME -v part=host|device [-v table=1] [-v main=1] PAGE
#
# The C++ of a page of the guide as one file to compile, with the page's own line numbers:
#
# - blocks that begin with ```cpp: `assumed` ones come first, at file scope; those with a main()
#   are programs; each of the others is the body of a function;
# - of tables whose last column is named rocarray, the code in that column, each row a function.
#
# What uses <<< or __global__ needs a device compiler: it is `part` device, all else `part` host;
# what is assumed is in both, but for kernels. `table=1`: a page without such rows is an error.
# `main=1` gives the page's first program alone, to be run.

function fail(text) {
  print page ":" FNR ": " text >"/dev/stderr"
  failed = 1
  exit 1
}

function is_device(text) { return text ~ /<<<[^>]|__global__/ }
function is_wanted(text) { return is_device(text) == (part == "device") }

# Lines that #include something go to the top of the file.
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

function at(line) { return "#line " line " \"" page "\"\n" }

function add_function(line, text) {
  if (!is_wanted(text)) return
  # On one line with the code: the compiler names the page's line.
  code = code at(line) "void line_" line "() { " without_includes(text) ";}\n"
}

function end_block() {
  if (words ~ /^cpp assumed$/) {
    if (main) return
    if (part == "device" || !is_device(block)) assumed = assumed at(begun) without_includes(block)
  } else if (words != "cpp") {
    fail("a block of \"" words "\": the extractor knows cpp and cpp assumed")
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

function row(line, cells, spans, count, i, ours, text) {
  gsub(/\\\|/, "\001", line)
  if (split(line, cells, "|") != 4) fail("a row has two columns; write \\| for a bar in code")
  ours = cells[3]
  gsub(/\001/, "|", ours)
  gsub(/^ +| +$/, "", ours)
  ++rows
  if (ours !~ /`/) return  # words alone: there is nothing to compile
  count = split(ours, spans, /<br>/)
  text = ""
  for (i = 1; i <= count; ++i) {
    gsub(/^ +| +$/, "", spans[i])
    if (spans[i] !~ /^`[^`]+`$/) fail("our column has code beside words: \"" spans[i] "\"")
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
  if (words ~ /^cpp/) end_block()
  next
}
in_block { block = block $0 "\n"; next }
/^```/ {
  in_block = 1
  words = substr($0, 4)
  begun = FNR + 1
  block = ""
  next
}
/^\|/ && !main {
  if (!in_table) {
    in_table = 1
    ours_is_here = $0 ~ /\| rocarray \|$/
    next
  }
  if (ours_is_here && $0 !~ /^\|[-|: ]+$/) row($0)
  next
}
{ in_table = 0 }

END {
  if (failed) exit 1
  if (in_block) fail("the block that begins in line " begun " has no end")
  if (table && !compiled) fail("a table with the column \"rocarray\" and code in it is missing")
  if (main && !programs) fail("a program with a main() is missing")
  printf "// %d rows with code; from %s by extract.awk\n", compiled, page
  printf "%s%s", includes, assumed
  if (main) printf "%s", code
  else printf "namespace roc_docs {\n%s}  // namespace roc_docs\n", code
}
