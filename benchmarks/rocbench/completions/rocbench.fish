# SPDX-License-Identifier: MIT
# fish completion of rocbench's commands, options, cases and files.

function __rocbench_cases
    rocbench list 2>/dev/null | string replace -r ' .*' ''
end

function __rocbench_tools
    # The help text lists the tools of --like.
    rocbench --help 2>/dev/null | string replace -rf '^ *--like [^{]*\{([^}]*)\}.*' '$1' | string split ,
end

set -l measuring run sweep latency alloc check
set -l commands $measuring list info compare report
# Measuring options belong to the measuring commands and to rocbench without a command.
set -l measures "not __fish_seen_subcommand_from list info compare report"

complete -c rocbench -f
complete -c rocbench -s h -l help -d 'Print the options'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -l version -d 'Print the version'

complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a run -d 'Measure cases'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a sweep -d 'Measure at many sizes'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a latency -d 'Measure small synchronized copies'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a alloc -d 'Measure allocation and deallocation'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a check -d 'Run every case once and verify the data'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a list -d 'List cases'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a info -d 'Print the device and its limits'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a compare -d 'Compare two runs'
complete -c rocbench -n "not __fish_seen_subcommand_from $commands" -a report -d 'Draw a run as HTML or SVG'

complete -c rocbench -n "__fish_seen_subcommand_from $measuring list" -a '(__rocbench_cases)' -d Case

complete -c rocbench -n $measures -x -l size -d 'Bytes per copy, or several sizes separated by commas'
complete -c rocbench -n $measures -x -l row -d 'Bytes per row of the strided cases'
complete -c rocbench -n $measures -x -l pitch -d 'Bytes from one row to the next'
complete -c rocbench -n $measures -x -l element -a '1 2 4 8 16' -d 'Bytes per element of the permute cases'
complete -c rocbench -n $measures -x -l min-time -d 'Minimal seconds per case'
complete -c rocbench -n $measures -x -l max-time -d 'Maximal seconds per case'
complete -c rocbench -n $measures -x -l rounds -d 'Rounds that divide the time'
complete -c rocbench -n $measures -r -F -l json -d 'Write the results as JSON'
complete -c rocbench -n $measures -r -F -l csv -d 'Write the results as CSV'
complete -c rocbench -n $measures -l strict -d 'Return exit code 4 if a case is noisy'
complete -c rocbench -n $measures -x -l like -a '(__rocbench_tools)' -d 'Measure as another tool does'
complete -c rocbench -n $measures -l inject -d 'Corrupt a byte to test the verification'
complete -c rocbench -n "not __fish_seen_subcommand_from list compare report" -x -l device -d 'Ordinal of the device'

complete -c rocbench -n "__fish_seen_subcommand_from compare" -x -l tolerance -d 'Change in percent that counts as the same'
complete -c rocbench -n "__fish_seen_subcommand_from compare" -r -F -l thresholds -d 'File of minimal rates'
complete -c rocbench -n "__fish_seen_subcommand_from report" -r -F -s o -l output -d 'File to write, HTML or .svg'
complete -c rocbench -n "__fish_seen_subcommand_from compare report" -F
