// SPDX-License-Identifier: MIT
// The platform that the tests run on, and the size of their problems.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace roc::test {

/// Returns true if the program's tests need a device: ROCARRAY_TEST_NO_DEVICE is not set.
bool needs_device();

/// When HIP on the CPU runs enqueued work (ROCARRAY_HOST_MODE).
enum class mode { threaded, inline_, deferred };

/// Returns the mode of the host platform or of the fake HIP runtime; `threaded` on a GPU.
mode run_mode();
/// Returns true on the fake HIP runtime, where only kernels with a host stub can run.
bool on_fake_runtime();
/// Returns true on the host platform and on the fake HIP runtime: there is no GPU, and device
/// memory may be inaccessible to the host.
bool on_cpu();

/// Returns a problem size: `n` divided by ROCARRAY_TEST_SCALE, but not below min(n, 1000). The
/// variable is set for slow simulators.
std::size_t scaled(std::size_t n);

/// Returns a random generator and prints its seed, which is random unless ROCARRAY_TEST_SEED is
/// set. `test` is printed with it.
std::mt19937_64 random_generator(char const* test);

}  // namespace roc::test
