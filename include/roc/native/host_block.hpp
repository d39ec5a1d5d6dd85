// SPDX-License-Identifier: MIT
// The interface between kernels that a C++ compiler has compiled and the code that runs them on the
// CPU: the host platform and the fake HIP runtime. Kernels include
// roc/native/host_kernel_language.hpp. The names are not in roc::host_hip, which is opened at
// global scope.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <type_traits>

namespace roc::host_kernels {

/// The largest number of threads in a block.
inline constexpr unsigned max_block_threads = 1024;

/// The type of the built-in variables of kernels.
struct kernel_index {
  unsigned x = 0;
  unsigned y = 0;
  unsigned z = 0;

  /// Converts to dim3 and to vectors of three numbers.
  template <class V>
    requires(
        std::is_class_v<V> &&
        requires(V v, unsigned n) {
          V{n, n, n};
          v.x + v.y + v.z;
        } && !requires(V v) { v.w; })
  constexpr operator V() const {
    return V{x, y, z};
  }
};

/// What a barrier of a block computes of the predicates of all threads.
enum class block_reduction { none, count, all, any };

/// The functions of a warp.
enum class warp_function : unsigned char {
  synchronize,
  active_mask,
  ballot,
  any,
  all,
  shuffle,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
};

/// A call of a function of a warp.
struct warp_call {
  warp_function function;
  /// A bit for each lane that must call. None: the lanes that call at the same place, as those of
  /// one branch on a device.
  std::optional<std::uint64_t> mask;
  std::source_location at;
};

/// The lanes of a warp that took part in an operation, and their values.
struct lane_values {
  std::uint64_t const* values = nullptr;  // of all lanes; valid until the warp's next operation
  std::uint64_t lanes = 0;                // a bit for each lane that took part
};

/// The block that the calling thread of the system runs. Its functions are called by the threads of
/// the kernel.
class running_block {
 public:
  /// Blocks the thread of the kernel until all threads of the block that have not ended wait at a
  /// barrier. Returns the reduction of their predicates.
  virtual int synchronize(block_reduction reduction, int predicate, std::source_location at) = 0;
  /// Blocks the thread of the kernel until the lanes of the call's mask that have not ended call
  /// the same function with the same mask. A call without a mask completes after all complete
  /// operations with a mask. Of several places, the first in the source is next. Returns the values
  /// of the lanes that took part. Ends the process if lanes of the mask wait elsewhere and no
  /// thread can continue.
  virtual lane_values exchange(std::uint64_t value, warp_call const& call) = 0;
  /// Reports that a lane uses the value of one that did not take part (ROCARRAY_HOST_CHECK).
  virtual void report_inactive_lane(unsigned lane, std::source_location at) = 0;
  /// Ends the process with a message that names the kernel, the block and the thread.
  [[noreturn]] virtual void fail(char const* problem, std::source_location at) = 0;

  unsigned lane = 0;              ///< of the thread of the kernel that runs
  void* shared_memory = nullptr;  ///< dynamic shared memory, aligned to 16 bytes

 protected:
  running_block() = default;
  ~running_block() = default;
  running_block(running_block const&) = delete;
  running_block& operator=(running_block const&) = delete;
};

/// The block of the kernel that runs in the calling thread of the system; null if none does.
/// Hidden, as the built-in variables of kernels: each shared object with kernels has its own.
[[gnu::visibility("hidden")]] inline constinit thread_local running_block* block_of_thread =
    nullptr;

/// The addresses of the built-in variables, for the calling thread of the system. Each shared
/// object with kernels has its own.
struct kernel_variables {
  kernel_index* thread;
  kernel_index* block;
  kernel_index* block_size;
  kernel_index* grid_size;
  int* warp_size;
  running_block** running;  // null while no kernel runs
};

/// A kernel that a C++ compiler has compiled.
struct host_kernel {
  void const* function;  // identifies the kernel
  kernel_variables (*variables)();
  void (*run_thread)(void* arguments);  // calls the kernel for the thread in the variables
};

}  // namespace roc::host_kernels
