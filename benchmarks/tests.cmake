# SPDX-License-Identifier: MIT
# Tests that run the programs.

set(environment ${ROCARRAY_TEST_ENVIRONMENT})
set(without_host_stubs "")
if(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_kernel_host_stubs(rocbench_host_stubs
    SOURCES ${CMAKE_CURRENT_LIST_DIR}/rocbench/kernels.hip
    INCLUDES ${CMAKE_CURRENT_LIST_DIR}/rocbench)
  foreach(program rocbench rocbench_unit_test rocbench_mpi call_overhead planning peer_copies)
    if(TARGET ${program})
      add_dependencies(${program} rocarray_fake_runtime rocarray_library_host_stubs rocbench_host_stubs)
    endif()
  endforeach()
  list(APPEND environment LD_LIBRARY_PATH=${ROCARRAY_FAKE_RUNTIME_DIRECTORY})
  set(without_host_stubs ${environment} ROCARRAY_HOST_STUBS=$<TARGET_FILE:rocarray_library_host_stubs>)
  list(APPEND environment
    ROCARRAY_HOST_STUBS=$<TARGET_FILE:rocarray_library_host_stubs>:$<TARGET_FILE:rocbench_host_stubs>)
endif()

set(launcher "")
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "amd" AND ROCARRAY_TEST_LAUNCHER
   AND NOT ROCARRAY_TEST_LAUNCHER STREQUAL "auto")
  set(launcher ${ROCARRAY_TEST_LAUNCHER})
endif()

# rocarray_fixtures(RESULT files...): returns the names of the fixtures for files that tests write.
function(rocarray_fixtures result)
  list(TRANSFORM ARGN REPLACE ".*/" "${rocarray_test_prefix}.")
  set(${result} "${ARGN}" PARENT_SCOPE)
endfunction()

# rocarray_add_exit_code_test(NAME EXIT_CODE PROGRAM arguments... [MESSAGE regex] [MESSAGES regex...]
# [WITH variable=value...]): passes if the program returns this exit code and its output matches all
# regular expressions; those of MESSAGES contain no semicolons. WITH replaces the environment. The test
# is skipped if there is no device, unless the expected code is 5. The files that it writes (--json,
# --csv, -o) are fixtures, which `compare` and `report` need; these are also skipped if their first
# file does not exist.
function(rocarray_add_exit_code_test test code program)
  cmake_parse_arguments(PARSE_ARGV 3 arg "" MESSAGE "MESSAGES;WITH")
  set(name ${rocarray_test_prefix}.${test})
  set(arguments "${arg_UNPARSED_ARGUMENTS}")
  set(needed "")
  if(arguments MATCHES "^(compare|report);([^;]+)")
    set(needed ${CMAKE_MATCH_2})
  endif()
  if(NOT arg_WITH)
    set(arg_WITH "${environment}")
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND}
    "-DPROGRAM=${launcher};$<TARGET_FILE:${program}>" "-DARGUMENTS=${arguments}"
    -DEXPECTED=${code} "-DMESSAGE=${arg_MESSAGE}" "-DMESSAGES=${arg_MESSAGES}" "-DNEEDED=${needed}"
    -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/expect_exit_code.cmake)
  string(REGEX MATCHALL "(--json|--csv|-o);[^;]+" written "${arguments}")
  list(FILTER written EXCLUDE REGEX "^-")
  rocarray_fixtures(written ${written})
  rocarray_fixtures(needed ${needed})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${arg_WITH}" TIMEOUT 600
    FIXTURES_SETUP "${written}" FIXTURES_REQUIRED "${needed}")
  if(NOT code EQUAL 5)
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "no device was found")
  endif()
endfunction()

# Tests of rocbench: name | exit code | arguments | regular expression of the output. {results} is the name
# of a file.
set(results ${CMAKE_CURRENT_BINARY_DIR}/results.json)
file(WRITE ${results}.low "# every case reaches this\nh2d/* 0.0000001 GB/s\n")
file(WRITE ${results}.high "h2d/pinned 1000000 GB/s\n")
set(row "triad +[0-9]+[.][0-9][0-9][0-9] +[0-9.]+ +[0-9.]+ +[0-9.]+ +64 KiB [^\\n]*yes")
set(quick "--size 64K --min-time 0.01 --max-time 0.02")
string(CONFIGURE [==[
# Every command. What doctor finds depends on the machine; it always says something about huge pages.
default_set | 0 | @quick@
check | 0 | check
sweep | 0 | sweep h2d/p* --max-time 0.01 --size 1,1K,1M
latency | 0 | latency --max-time 0.01
alloc | 0 | alloc --max-time 0.01
info | 0 | info
version | 0 | --version
list | 0 | list h2d/pinned raw/h2d/pinned fill/b* | ^h2d/pinned +[*] [^\n]*\nraw/h2d/pinned +[*] [^\n]*\nfill/byte [^\n]*\n$
doctor | [03] | doctor | huge pages +[^\n]+

# Sizes and other tools' measurements. BabelStream has its own columns, and its size of arrays.
unaligned_sizes | 0 | run * --size 1,4097 --min-time 0 --max-time 0
usual_sizes | 0 | run latency/d2d/copy alloc/device --max-time 0.01 | latency/d2d/copy +4 B .*alloc/device +1 MiB
rows | 0 | run strided/* @quick@ --row 1000 --pitch 3K
batches | 0 | run *batch/* @quick@ --row 100
like_nvbandwidth | 0 | --like nvbandwidth --size 1M
like_babelstream_finds_wrong_byte | 2 | --like babelstream --size 64K --inject
like_babelstream | 0 | --like babelstream run *stream/triad --size 64K | Arrays of 64 KiB instead of BabelStream's 2 GiB: as given by --size.*Function +MBytes/sec +Min .sec. +Max +Average[^\n]*\n[^\n]*stream/@row@.*raw/stream/@row@

# Errors, and suggestions for misspelt names.
noisy_with_strict | 4 | run d2d/copy --size 4K --min-time 0 --max-time 0 --strict
unknown_case | 5 | run nonsense | rocbench: no case matches 'nonsense'; `rocbench list` prints all cases\n
misspelt_case | 5 | run h2d/pined | rocbench: no case matches 'h2d/pined'; did you mean 'h2d/pinned'[?]\n
misspelt_case_of_two | 0 | list h2d/pinned d2h/pined | rocbench: no case matches 'd2h/pined'; did you mean 'd2h/pinned'[?]\n
misspelt_command | 1 | swep | rocbench: unknown command 'swep'; did you mean 'sweep'[?]\n
misspelt_option | 1 | run --max-tme=1 | rocbench: unknown option '--max-tme=1'; did you mean '--max-time'[?]\n
unknown_option | 1 | run --nonsense | rocbench: unknown option '--nonsense'; see `rocbench run --help`\n
unexpected_argument | 1 | info all | rocbench: unexpected argument 'all'; see `rocbench info --help`\n
invalid_size | 1 | run --size 17179869185G | rocbench: --size: '17179869185G' is not a size from 1 byte to 16 EiB; use [^\n]*\n
size_exceeds_memory | 1 | run --size 100T | size 100 TiB exceeds this machine's memory
size_option_of_advice | 1 | run --size 100T | use --size [0-9]+M or less\n
rows_exceed_memory | 1 | run strided/* --size 64M --row 1 --pitch 1T | pitch of 1 TiB [^\n]* memory
unknown_device | 5 | run --device 1000
every_case_finds_wrong_byte | 2 | run * @quick@ --inject
skipped.no_gap | 77 | run h2d/pinned --size 64K --inject=gap | skipped: [^\n]*no gaps to corrupt

# Result files are written, refused before measuring, compared and drawn. The last line of standard
# output of compare is the verdict. Its first word is the worst finding.
unwritable_file | 1 | run @quick@ --json /nonexistent/x.json
full_device | 1 | run d2d/copy @quick@ --json /dev/full
run_writes_results | 0 | run h2d/* @quick@ --json {results} --csv {results}.csv
parameters_in_results | 0 | run strided/2d/h2d @quick@ --row 64 --json - | "name": "bytes per row",[^}]*"value": "64"
compare_with_itself | 0 | compare {results} {results} --tolerance 100
compare_reaches_thresholds | 0 | compare {results} {results} --tolerance 100 --thresholds {results}.low
compare_below_threshold | 3 | compare {results} {results} --tolerance 100 --thresholds {results}.high | \nbelow 1 threshold[^\n]*\n(rocbench: [^\n]*\n)?$
compare_refuses_missing_file | 1 | compare {results} /nonexistent
compare_refuses_other_file | 1 | compare {results} {results}.csv
report_writes_page | 0 | report {results} {results} -o {results}.html
report_refuses_other_file | 1 | report {results}.csv -o {results}.not.html
report_refuses_unwritable_file | 1 | report {results} -o /nonexistent/x.html
report_writes_picture | 0 | report {results} -o {results}.svg
report_refuses_picture_of_two | 1 | report {results} {results} -o {results}.two.svg
latency_writes_times | 0 | latency latency/d2d/copy --size 4 --max-time 0 --json {results}.times
report_refuses_picture_of_times | 1 | report {results}.times -o {results}.times.svg
interrupted_writes_results | 0 | compare {results}.part1 {results}.part1 --tolerance 100
]==] table @ONLY)
string(REPLACE ";" "\\;" table "${table}")
string(REGEX MATCHALL "[^\n]+" table "${table}")
foreach(line IN LISTS table)
  if(line MATCHES "^([a-z_0-9.]+) [|] ([^|]+) [|] ([^|]+)( [|] (.*))?$")
    set(test ${CMAKE_MATCH_1})
    set(code ${CMAKE_MATCH_2})
    string(REPLACE "\\n" "\n" message "${CMAKE_MATCH_5}")
    separate_arguments(arguments UNIX_COMMAND "${CMAKE_MATCH_3}")
    list(TRANSFORM arguments REPLACE "{results}" "${results}")  # the path may have spaces
    rocarray_add_exit_code_test(rocbench.${test} "${code}" rocbench ${arguments}
      MESSAGE "${message}")
  elseif(NOT line MATCHES "^#")
    message(FATAL_ERROR "rocarray: not a test of rocbench: ${line}")
  endif()
endforeach()
separate_arguments(quick)
rocarray_add_exit_code_test(rocbench.unit 0 rocbench_unit_test)
rocarray_add_exit_code_test(rocbench.unit_on_two_devices 0 rocbench_unit_test
  WITH ${environment} ROCARRAY_HOST_DEVICES=2)
# One HIP call cannot copy memory that is registered in several parts, so raw cases register their
# memory by HIP, in one part.
rocarray_add_exit_code_test(rocbench.registered_in_parts 0 rocbench run */registered --size 300K
  --max-time 0.01 WITH ${environment} ROCARRAY_REGISTER_CHUNK=64K)

# Output that cannot be written is an error.
if(EXISTS /dev/full)
  add_test(NAME ${rocarray_test_prefix}.rocbench.full_standard_output COMMAND sh -c
    "\"\$1\" --version >/dev/full; test \$? = 1" sh $<TARGET_FILE:rocbench>)
  set_tests_properties(${rocarray_test_prefix}.rocbench.full_standard_output PROPERTIES
    ENVIRONMENT "${environment}")
endif()

# Each kind of copy and memory finds a wrong byte in its payload, the last byte of the guard band before
# it, the first byte of the guard band after it, and a byte in a gap.
set(message_before "guard band before the payload, byte 4095")
set(message_after "guard band after the payload, byte 0")
set(message_gap "gap, byte")
set(cases h2d/pageable d2h/pinned d2d/copy bidir/pinned strided/2d/h2d strided/3d/d2h strided/2d/d2d
  permute/3d/h2d fill/float stream/triad mapped/read mapped/write batch/h2d batch/d2h latency/d2h/pageable
  raw/batch/d2d stream/dot raw/stream/dot stream/copy stream/mul stream/add raw/mapped/read raw/mapped/write
  managed/fault raw/managed/fault managed/prefetch raw/managed/prefetch raw/stream/copy raw/stream/mul
  raw/stream/add raw/stream/triad batch/d2d raw/batch/h2d raw/batch/d2h
  h2d/just_written async/h2d/just_written raw/async/h2d/just_written async/h2d/written_borrowed
  async/h2d/borrowed async/rows/h2d/borrowed async/rows/d2h/pageable
  raw/async/rows/d2h/pageable async/bidir/pageable async/tiles/borrowed raw/async/tiles/pinned
  threads_4/h2d/pageable enqueue/d2h/pageable box/interior box/long_rows_shifted raw/box/compact
  box/every_2nd_element permute/021/d2d reverse/last_axis/d2d reverse/first_axis/d2d reverse/interior/d2d
  for_each/1d for_each/2d for_each/3d for_each/4d raw/for_each/1d raw/for_each/4d for_each/stencil
  raw/for_each/stencil)
set(cases_with_gaps ${cases})
list(FILTER cases_with_gaps INCLUDE REGEX "^(strided/|async/rows/|batch/|box/(interior|long)|.*/stencil)")
foreach(site data before after gap)
  set(cases_of_site ${cases})
  if(site STREQUAL "gap")
    set(cases_of_site ${cases_with_gaps})
  endif()
  if(site STREQUAL "data")  # new arrays have no guard bands
    list(APPEND cases_of_site d2h/new_array raw/d2h/new_array d2h/new_pages raw/d2h/new_pages)
  endif()
  list(TRANSFORM cases_of_site REPLACE "(.+)" "rocbench: \\1: [^\n]*${message_${site}}"
    OUTPUT_VARIABLE messages)
  rocarray_add_exit_code_test(rocbench.finds_wrong_byte_${site} 2
    rocbench run ${cases_of_site} --size 30001 --row 1000 --max-time 0 --inject=${site}
    MESSAGES ${messages})
endforeach()
# Elements of every size. Those of 7 bytes begin at every position within a word of the pattern.
foreach(bytes RANGE 1 16)
  rocarray_add_exit_code_test(rocbench.elements_of_${bytes}_bytes 0
    rocbench run permute/* reverse/* *box/* --size 64K --max-time 0 --element ${bytes})
endforeach()
foreach(site data gap)
  set(cases_of_site box/interior raw/box/compact permute/2d/d2d permute/3d/h2d reverse/last_axis/d2d)
  set(message "payload byte")
  if(site STREQUAL "gap")
    set(cases_of_site box/interior raw/box/interior)
    set(message ${message_gap})
  endif()
  list(TRANSFORM cases_of_site REPLACE "(.+)" "rocbench: \\1: [^\n]*${message}" OUTPUT_VARIABLE messages)
  rocarray_add_exit_code_test(rocbench.elements_of_7_bytes_find_wrong_byte_${site} 2
    rocbench run ${cases_of_site} --size 64K --max-time 0 --element 7 --inject=${site} MESSAGES ${messages})
endforeach()
# The command check finds them too; every_case_finds_wrong_byte takes all cases.
foreach(site data gap before after)
  rocarray_add_exit_code_test(rocbench.check_finds_wrong_byte_${site} 2
    rocbench check ?2?/p* strided/* box/interior --inject=${site})
endforeach()

if(NOT ROCARRAY_ON_FAKE_RUNTIME)  # whose library of host stubs has not these kernels
  rocarray_add_exit_code_test(kernel_examples 0 kernel_examples 70 100001 MESSAGE "stencil [^\n]*ms.*color, linear [^\n]*ms")
endif()

# Skipped cases print the reason.
if(NOT ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia")
  rocarray_add_exit_code_test(rocbench.skipped.batch_call 77
    rocbench run raw/batch_call/h2d --size 64K MESSAGE "skipped: [^\n]*no batched copy function")
endif()
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" OR ROCARRAY_ON_FAKE_RUNTIME)
  set(variables ROCARRAY_HOST_MANAGED=off ROCARRAY_HOST_MANAGED=basic ROCARRAY_HOST_MEMORY=16M)
  set(reasons "no managed memory" "no concurrent managed access" "more managed memory than a quarter")
  foreach(variable reason IN ZIP_LISTS variables reasons)
    rocarray_add_exit_code_test(rocbench.skipped.managed.${variable} 77 rocbench run managed/*
      --size 5M MESSAGE "skipped: [^\n]*${reason}" WITH ${environment} ${variable})
  endforeach()
  rocarray_add_exit_code_test(rocbench.batch_exceeds_memory 1 rocbench run batch/* --size 1M --row 1
    MESSAGE "copies of 1 B with 256 B between them exceed [^\n]* memory" WITH ${environment}
    ROCARRAY_HOST_MEMORY=64M)
endif()
if(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_exit_code_test(rocbench.skipped.without_host_stubs 77
    rocbench run *stream/* *mapped/* --size 5M MESSAGE "skipped: [^\n]*not compiled for this device"
    WITH ${without_host_stubs})
endif()

# The output says if the figures are not those of a GPU.
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host")
  rocarray_add_exit_code_test(rocbench.says_that_the_cpu_was_measured 0
    rocbench run d2d/copy ${quick} MESSAGE "Measured on the CPU: ")
  # Fixed counts take a quarter of the time of the shortest measurement.
  foreach(mode threaded inline deferred)
    rocarray_add_exit_code_test(rocbench.every_case_${mode} 0 rocbench run * --size 64K --like nvbandwidth
      WITH ${environment} ${ROCARRAY_HOST_TEST_ENVIRONMENT} ROCARRAY_HOST_MODE=${mode})
  endforeach()
elseif(ROCARRAY_ON_FAKE_RUNTIME)
  rocarray_add_exit_code_test(rocbench.says_that_the_fake_runtime_was_measured 0
    rocbench run d2d/copy ${quick} MESSAGE "Measured with the fake HIP runtime")
endif()

# After Ctrl-C the results so far are written; after 10 seconds there is one on a busy machine too. In
# the background, timeout would send a second signal, which ends the process.
add_test(NAME ${rocarray_test_prefix}.rocbench.interrupted COMMAND ${CMAKE_COMMAND}
  "-DPROGRAM=timeout;--foreground;--preserve-status;-s;INT;10;${launcher};$<TARGET_FILE:rocbench>"
  "-DARGUMENTS=run;d2d/copy;--size;64K;--min-time;60;--max-time;60;--json;${results}.part1"
  -DEXPECTED=130 -P ${CMAKE_CURRENT_LIST_DIR}/expect_exit_code.cmake)
set_tests_properties(${rocarray_test_prefix}.rocbench.interrupted PROPERTIES TIMEOUT 60
  ENVIRONMENT "${environment}" SKIP_REGULAR_EXPRESSION "no device was found"
  FIXTURES_SETUP ${rocarray_test_prefix}.results.json.part1)
find_program(ROCARRAY_BROWSER NAMES chromium chromium-browser google-chrome
  DOC "Browser that draws rocbench's report in a test")
if(ROCARRAY_BROWSER)
  foreach(kind html svg)
    set(test ${rocarray_test_prefix}.rocbench.report_renders_${kind})
    add_test(NAME ${test} COMMAND ${CMAKE_COMMAND}
      -DBROWSER=${ROCARRAY_BROWSER} -DREPORT=${results}.${kind}
      -DDIRECTORY=${CMAKE_CURRENT_BINARY_DIR}
      -P ${CMAKE_CURRENT_LIST_DIR}/rocbench/render_report.cmake)
    set_tests_properties(${test} PROPERTIES TIMEOUT 600
      FIXTURES_REQUIRED ${rocarray_test_prefix}.results.json.${kind}
      SKIP_REGULAR_EXPRESSION "no device was found")
  endforeach()
endif()

# The other programs.
rocarray_add_exit_code_test(call_overhead 0 call_overhead --benchmark_min_time=0.01)
rocarray_add_exit_code_test(planning 0 planning --benchmark_min_time=0.001
  "--benchmark_filter=/(64|512)$|<[0-9]>$")
add_test(NAME ${rocarray_test_prefix}.transfers_table COMMAND bash
  ${CMAKE_CURRENT_LIST_DIR}/transfers_table_test.sh $<TARGET_FILE:rocbench>
  ${CMAKE_CURRENT_BINARY_DIR}/transfers_table)
set_tests_properties(${rocarray_test_prefix}.transfers_table PROPERTIES
  ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
add_test(NAME ${rocarray_test_prefix}.bench_help
  COMMAND ${PROJECT_SOURCE_DIR}/scripts/bench --help)
set_tests_properties(${rocarray_test_prefix}.bench_help PROPERTIES TIMEOUT 10
  ENVIRONMENT PATH=/usr/bin:/bin PASS_REGULAR_EXPRESSION "^usage: scripts/bench [^\n]*\n")

# Programs as they are and under rocarray-run. The median of a few copies says nothing: only the tool is tested.
if(TARGET plain_copies AND TARGET rocarray_preload AND ROCARRAY_PYTHON_EXECUTABLE)
  get_target_property(run rocarray_preload ROCARRAY_RUN)
  set(name ${rocarray_test_prefix}.benchmarks.preloaded_programs)
  add_test(NAME ${name} COMMAND ${ROCARRAY_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/peers/preloaded.py
    ${run} $<TARGET_FILE:plain_copies> --programs plain,static,torch,cupy --sizes 65536,2097152 --rounds 1
    --device-rows)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "${environment}" TIMEOUT 600 SKIP_RETURN_CODE 77
    PASS_REGULAR_EXPRESSION
      "plain [|] d2h/pinned/rows [|] 2 MiB [|] [0-9.]+ [|] [0-9.]+ to [0-9.]+ [|] [0-9.]+ [|].*plain [|] d2d/rows_4 [|]"
    FAIL_REGULAR_EXPRESSION "wrong bytes;exit status;Traceback")
endif()

# Peers of the library, which run elsewhere.
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia" AND ROCARRAY_PYTHON_EXECUTABLE)
  set(name ${rocarray_test_prefix}.benchmarks.torch_between_devices)
  add_test(NAME ${name}
    COMMAND ${ROCARRAY_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/peers/between_devices.py 256 0.01)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77
    PASS_REGULAR_EXPRESSION "NCCL: all_reduce over [0-9]+ devices, bus bandwidth +[0-9.]+ GB/s")
  if(TARGET rocarray_preload)
    get_target_property(run rocarray_preload ROCARRAY_RUN)
    add_test(NAME ${rocarray_test_prefix}.benchmarks.torch_same_results
      COMMAND ${ROCARRAY_PYTHON_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/peers/torch_same_results.py ${run} --steps 4)
    set_tests_properties(${rocarray_test_prefix}.benchmarks.torch_same_results PROPERTIES
      ENVIRONMENT "${environment}" TIMEOUT 600 SKIP_RETURN_CODE 77)
  endif()
endif()

# The host platform and the fake HIP runtime have as many devices as asked for. A machine with one GPU has
# no case of this name.
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" OR ROCARRAY_ON_FAKE_RUNTIME OR
   (ROCARRAY_RESOLVED_PLATFORM STREQUAL "nvidia" AND rocarray_test_gpu_count GREATER 1))
  set(two_devices ${environment} ROCARRAY_HOST_DEVICES=2)
  rocarray_add_exit_code_test(rocbench.peer 0 rocbench run "peer/*" "raw/peer/*" --size 64K --max-time 0.01
    MESSAGE "peer/0-1/copy" WITH ${two_devices})
  rocarray_add_exit_code_test(rocbench.peer_odd_sizes 0 rocbench run "peer/*" --size 1,4097 --max-time 0
    WITH ${two_devices})
  rocarray_add_exit_code_test(rocbench.peer_finds_wrong_byte 2 rocbench run "peer/*" --size 64K --max-time 0
    --inject WITH ${two_devices})
  rocarray_add_exit_code_test(rocbench.all_of_two_devices 0 rocbench run "all/*" "raw/all/*" --size 64K
    --max-time 0 MESSAGE "all/bidir/pageable +64 KiB +0: [0-9.]+ 1: [0-9.]+" WITH ${two_devices})
  rocarray_add_exit_code_test(rocbench.peer_rows_exceed_memory 1 rocbench run "peer/*/rows" --size 64K --row 1
    --pitch 1T MESSAGE "pitch of 1 TiB [^\n]* memory" WITH ${two_devices})
  if(TARGET rocarray::collectives)
    rocarray_add_exit_code_test(rocbench.collectives_of_two 0 rocbench run "*collective/*" --size 1,40001
      --row 1000 --max-time 0 MESSAGE "\nraw/collective/all_to_all +" WITH ${two_devices})
  endif()
endif()
if(ROCARRAY_RESOLVED_PLATFORM STREQUAL "host" OR ROCARRAY_ON_FAKE_RUNTIME)
  set(four_devices ${environment} ROCARRAY_HOST_DEVICES=4)
  rocarray_add_exit_code_test(rocbench.peer_matrix 0 rocbench run "peer/*/copy" --size 64K --max-time 0
    MESSAGE "peer/copy, 64 KiB, GB/s\n +0 +1 +2 +3\n +0 +- +[0-9.]+ +[0-9.]+ +[0-9.]+\n" WITH ${four_devices})
  rocarray_add_exit_code_test(rocbench.all_devices 0 rocbench run "all/*" "raw/all/*" --size 64K,4099
    --max-time 0 MESSAGE "all/bidir/pageable +64 KiB +0: [0-9.]+ 1: [0-9.]+ 2: [0-9.]+ 3: [0-9.]+\n"
    WITH ${four_devices})
  if(TARGET rocarray::collectives)
    # The second size is not a multiple of the ranks.
    rocarray_add_exit_code_test(rocbench.collectives 0 rocbench run "*collective/*" --size 64K,40001 --row 1000
      --max-time 0 MESSAGE "\nraw/collective/all_to_all +62.5 KiB +[0-9.]+ +[0-9.]+ " WITH ${four_devices})
    rocarray_add_exit_code_test(rocbench.collectives_of_three 0 rocbench run "collective/*" --size 1,64K
      --max-time 0 WITH ${environment} ROCARRAY_HOST_DEVICES=3)
    foreach(site data before after gap)
      set(messages "")
      foreach(operation IN ITEMS all_reduce broadcast reduce all_gather reduce_scatter all_to_all send_receive)
        list(APPEND messages "rocbench: collective/${operation}/rows: rank 0, [^\n]*${message_${site}}")
      endforeach()
      rocarray_add_exit_code_test(rocbench.collectives_find_wrong_byte_${site} 2 rocbench run "*collective/*"
        --size 40001 --row 1000 --max-time 0 --inject=${site} MESSAGES ${messages} WITH ${four_devices})
    endforeach()
  endif()
  foreach(site data before after)
    set(messages "")
    foreach(case IN ITEMS h2d/pinned d2h/registered bidir/pageable bidir/pageable_1thread)
      list(APPEND messages "rocbench: all/${case}: [^\n]* device 0, [^\n]*${message_${site}}")
    endforeach()
    rocarray_add_exit_code_test(rocbench.all_devices_find_wrong_byte_${site} 2 rocbench run "all/*" "raw/all/*"
      --size 64K --max-time 0 --inject=${site} MESSAGES ${messages} WITH ${four_devices})
  endforeach()
endif()

# Messages between ranks. MPI itself has leaks and races that sanitizers report.
rocarray_add_exit_code_test(rocbench.names_the_program_with_mpi 5 rocbench run "mpi/*"
  MESSAGE "run mpirun -n 2 rocbench-mpi 'mpi/[*]'")
if(TARGET rocbench_mpi AND MPIEXEC_EXECUTABLE AND NOT ROCARRAY_SANITIZE)
  set(launcher_of_one ${launcher})
  set(launcher ${MPIEXEC_EXECUTABLE})
  execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE version ERROR_QUIET)
  if(version MATCHES "Open ?MPI|OpenRTE|Open RTE")
    # Open MPI refuses to run as root, as in containers, and more processes than cores.
    list(APPEND launcher --oversubscribe --allow-run-as-root --bind-to none)
  endif()
  set(two_ranks ${launcher} ${MPIEXEC_NUMPROC_FLAG} 2)
  set(launcher ${two_ranks})
  rocarray_add_exit_code_test(rocbench_mpi.every_case 0 rocbench_mpi --size 1,40001,262144 --max-time 0
    --json ${results}.mpi MESSAGE "mpi/latency .*mpi/ping_pong .*mpi/bandwidth .*mpi/halo/0 .*mpi/halo/2 ")
  rocarray_add_exit_code_test(rocbench_mpi.times 0 rocbench_mpi mpi/latency --max-time 0.1
    MESSAGE "mpi/latency +8 B +[0-9.]+ ")
  foreach(case latency ping_pong bandwidth halo/0 halo/1 halo/2)
    list(APPEND messages_of_mpi "rocbench: mpi/${case}: rank [01], sample 1: element"
      "rocbench: raw/mpi/${case}: rank [01], sample 1: element")
  endforeach()
  rocarray_add_exit_code_test(rocbench_mpi.finds_wrong_element 2 rocbench_mpi --size 4096 --max-time 0 --inject
    MESSAGES ${messages_of_mpi})
  rocarray_add_exit_code_test(rocbench_mpi.unknown_case 5 rocbench_mpi mpi/other)
  rocarray_add_exit_code_test(rocbench_mpi.raw_case 0 rocbench_mpi raw/mpi/latency --max-time 0
    MESSAGE "mpi/latency +8 B +[0-9.]+ ")
  rocarray_add_exit_code_test(rocbench_mpi.arrays_exceed_memory 77 rocbench_mpi mpi/halo/2 --size 1GiB
    --max-time 0 MESSAGE "mpi/halo/2 +1 GiB skipped: arrays of 16 TiB exceed a rank's memory")
  rocarray_add_exit_code_test(rocbench_mpi.time_is_no_number 1 rocbench_mpi mpi/latency --max-time nan
    MESSAGE "nan is not a number")
  set(launcher ${launcher_of_one})
  rocarray_add_exit_code_test(rocbench_mpi.says_how_to_run 77 rocbench_mpi
    MESSAGE "need two ranks, not 1; run mpirun -n 2 rocbench-mpi")
  rocarray_add_exit_code_test(rocbench_mpi.compare 0 rocbench compare ${results}.mpi ${results}.mpi
    --tolerance 100)
endif()

# Copies between the devices, which the host platform and the fake HIP runtime have two of.
add_test(NAME ${rocarray_test_prefix}.peer_copies COMMAND ${launcher} $<TARGET_FILE:peer_copies> 256 0)
set_tests_properties(${rocarray_test_prefix}.peer_copies PROPERTIES
  ENVIRONMENT "${environment};ROCARRAY_HOST_DEVICES=2" TIMEOUT 120 SKIP_RETURN_CODE 77
  PASS_REGULAR_EXPRESSION "transposed, both ways" FAIL_REGULAR_EXPRESSION "WRONG RESULT")
