// SPDX-License-Identifier: MIT
// Where the tests run, and how large they may be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

namespace roc::test {

/// Whether this program's tests need a device; set by ROCARRAY_TEST_NO_DEVICE in the environment.
bool needs_device();

enum class mode { threaded, inline_, deferred };

/// The mode of the host provider or the double; a real device is threaded.
mode run_mode();
/// On the CPU double of AMD's runtime: kernels without a twin cannot run.
bool on_double();
/// On the host provider or the double: no device, and memory may be closed to the host.
bool on_cpu();

/// `n` divided by ROCARRAY_TEST_SCALE, 1000 at least (or n): for emulators of the hardware.
std::size_t scaled(std::size_t n);

/// A generator whose seed is printed, and taken from ROCARRAY_TEST_SEED if set.
std::mt19937_64 random_generator(char const* what);

}  // namespace roc::test
