# SPDX-License-Identifier: MIT
# gdb -x check.gdb PROGRAM: debugs a program with ROCARRAY_HOST_CHECK (docs/synchronization-check.md).
#
# The checker handles SIGSEGV, and SIGTRAP after it has let an instruction pass: those are passed on.
# The trap flag (0x100) tells the checker's traps from the debugger's own.
handle SIGSEGV nostop noprint pass
catch signal SIGTRAP
condition $bpnum ((int)$eflags & 0x100) != 0
commands
  silent
  signal SIGTRAP
end
