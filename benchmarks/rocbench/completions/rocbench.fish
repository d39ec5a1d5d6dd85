# SPDX-License-Identifier: MIT
# Completion of rocbench's commands, options, cases and files for fish.

function __rocbench_cases
    rocbench list 2>/dev/null | string replace -r ' .*' ''
end

function __rocbench_tools
    # The tools that this rocbench knows are in its help.
    rocbench --help 2>/dev/null | string replace -rf '^ *--like [^{]*\{([^}]*)\}.*' '$1' | string split ,
end

set -l measuring run sweep latency alloc check
set -l commands $measuring list info compare report
# Options to measure with: of these commands, and of none.
set -l measures "not __fish_seen_subcommand_from list info compare report"

complete -c rocbench -f
complete -c rocbench -s h -l help -d 'Print the options'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -l version -d 'Print the version'

complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a run -d 'Measure cases'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a sweep -d 'Measure over many sizes'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a latency -d 'Measure small copies'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a alloc -d 'Measure getting memory'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a check -d 'Check what arrives'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a list -d 'List cases'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a info -d 'Tell about the device'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a compare -d 'Compare two runs'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a report -d 'Draw a run as HTML or SVG'

complete -c rocbench -n "__fish_seen_subcommand_from $measuring list" -a '(__rocbench_cases)' -d Case

complete -c rocbench -n $measures -x -l size -d 'Bytes of a copy, several with commas'
complete -c rocbench -n $measures -x -l row -d 'Bytes of a row of the strided cases'
complete -c rocbench -n $measures -x -l pitch -d 'Bytes from one row to the next'
complete -c rocbench -n $measures -x -l element -a '1 2 4 8 16' -d 'Bytes of an element of the permute cases'
complete -c rocbench -n $measures -x -l min-time -d 'Seconds for a case at least'
complete -c rocbench -n $measures -x -l max-time -d 'Seconds for a case at most'
complete -c rocbench -n $measures -x -l rounds -d 'Parts that the time is divided into'
complete -c rocbench -n $measures -r -F -l json -d 'File for the results as JSON'
complete -c rocbench -n $measures -r -F -l csv -d 'File for the results as CSV'
complete -c rocbench -n $measures -l strict -d 'End with 4 where a case is noisy'
complete -c rocbench -n $measures -x -l like -a '(__rocbench_tools)' -d 'Measure as that tool does'
complete -c rocbench -n $measures -l inject -d 'Corrupt a byte, to show that it is found'
complete -c rocbench -n "not __fish_seen_subcommand_from list compare report" -x -l device -d 'Ordinal of the device'

complete -c rocbench -n "__fish_seen_subcommand_from compare" -x -l tolerance -d 'Percent that is the same'
complete -c rocbench -n "__fish_seen_subcommand_from compare" -r -F -l thresholds -d 'File of rates to reach'
complete -c rocbench -n "__fish_seen_subcommand_from report" -r -F -s o -l output -d 'File to write, HTML or .svg'
complete -c rocbench -n "__fish_seen_subcommand_from compare report" -F
