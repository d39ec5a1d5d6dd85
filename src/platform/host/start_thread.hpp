// SPDX-License-Identifier: MIT
// Starts the threads of HIP on the CPU.
#pragma once

#include <functional>

namespace roc::host_hip {

/// Starts a detached thread that runs `body`. Its stack is larger than the default by the size of
/// the thread-local variables: glibc takes thread-local variables, such as the shared memory of
/// kernels, from the stack. It takes no signals of the process. Throws std::system_error or
/// std::bad_alloc if no thread can be started, or if this use of "start_thread" was planned to fail
/// (see fail_at).
void start_thread(std::function<void()> body);

}  // namespace roc::host_hip
