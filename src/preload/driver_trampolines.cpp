// SPDX-License-Identifier: MIT
// A trampoline for each function of the driver: it jumps to the address in its slot, and does not
// touch arguments or stack, so that it fits every function. At first, each slot has the address of
// code that calls rocarray_preload_load_driver, which changes all slots, and then jumps to the new
// address in its slot. The trampolines are weak: the linker prefers the functions of the same names
// in replaced_driver_calls.cpp.
#include "preload/driver_trampolines.hpp"

#include <atomic>
#include <cstddef>
#include <iterator>

#include "preload/vendor_runtime.hpp"

__asm__(R"(
        .macro  rocarray_trampoline name
        .text
        .p2align 4
        .weak   \name
        .type   \name, @function
\name:
        .cfi_startproc
        endbr64
        jmp     *.Lslot_\name(%rip)
.Lload_\name:
        endbr64
        call    rocarray_preload_first_call
        jmp     *.Lslot_\name(%rip)
        .cfi_endproc
        .size   \name, . - \name
        .data
.Lslot_\name:
        .quad   .Lload_\name
        .endm

        # Keeps all registers in which a function of the System V ABI gets arguments.
        .pushsection .text
        .p2align 4
        .type   rocarray_preload_first_call, @function
rocarray_preload_first_call:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        pushq   %rax
        pushq   %r10
        subq    $136, %rsp              # 8 vectors, and 8 bytes that align the stack
        movups  %xmm0, (%rsp)
        movups  %xmm1, 16(%rsp)
        movups  %xmm2, 32(%rsp)
        movups  %xmm3, 48(%rsp)
        movups  %xmm4, 64(%rsp)
        movups  %xmm5, 80(%rsp)
        movups  %xmm6, 96(%rsp)
        movups  %xmm7, 112(%rsp)
        call    rocarray_preload_load_driver
        movups  (%rsp), %xmm0
        movups  16(%rsp), %xmm1
        movups  32(%rsp), %xmm2
        movups  48(%rsp), %xmm3
        movups  64(%rsp), %xmm4
        movups  80(%rsp), %xmm5
        movups  96(%rsp), %xmm6
        movups  112(%rsp), %xmm7
        addq    $136, %rsp
        popq    %r10
        popq    %rax
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   rocarray_preload_first_call, . - rocarray_preload_first_call

        # The slots, in the order of the names.
        .data
        .p2align 3
        .globl  rocarray_preload_driver_slots
        .hidden rocarray_preload_driver_slots
rocarray_preload_driver_slots:
)"
// driver_exports.inc, which CMake writes, has a line ROCARRAY_DRIVER_EXPORT(name) for each function
// that the toolkit's stub of the driver exports.
#define ROCARRAY_DRIVER_EXPORT(name) "rocarray_trampoline " #name "\n"
#include "driver_exports.inc"
        ".popsection\n");
#undef ROCARRAY_DRIVER_EXPORT

extern "C" [[gnu::visibility("hidden")]] void* rocarray_preload_driver_slots[];

namespace roc::preload {
namespace {

#define ROCARRAY_DRIVER_EXPORT(name) #name,
constexpr char const* names[] = {
#include "driver_exports.inc"
};
#undef ROCARRAY_DRIVER_EXPORT

int fail_without_function() noexcept { return code_without_function; }
int fail_without_driver() noexcept { return code_without_runtime; }

}  // namespace

void set_trampolines(driver_library const& library) noexcept {
  bool const is_open = library.handle != nullptr;
  void* const missing = is_open ? reinterpret_cast<void*>(&fail_without_function)
                                : reinterpret_cast<void*>(&fail_without_driver);
  for (std::size_t i = 0; i != std::size(names); ++i) {
    void* const function = is_open ? library.find(names[i]) : nullptr;
    std::atomic_ref(rocarray_preload_driver_slots[i])
        .store(function != nullptr ? function : missing, std::memory_order_release);
  }
}

}  // namespace roc::preload
