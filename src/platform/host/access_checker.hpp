// SPDX-License-Identifier: MIT
// Finds accesses of the program to memory that pending work uses, and to device memory
// (ROCARRAY_HOST_CHECK).
//
// While work that writes host memory is pending (mode deferred), the pages of the memory are
// inaccessible; while work that reads it is pending, they are read-only. The handler of SIGSEGV
// reports an access to the memory itself. An access to other memory on the same pages passes: the
// handler opens the page for one instruction, at whose end SIGTRAP closes it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>

#include "platform/host/accessed_memory.hpp"
#include "platform/host/api.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {

struct work_record;

/// Destroys the record of work after it has run, or was not enqueued, and ends the protection.
struct work_record_deleter {
  void operator()(work_record* record) const noexcept;
};

/// The record of enqueued work. The operation owns it.
using tracked_work = std::shared_ptr<work_record>;

/// Returns true if the checker is on and work stays pending.
inline bool tracks_work() {
  settings const& options = host_settings();
  return options.check != check_mode::off && options.mode == run_mode::deferred;
}

/// Records work that the calling thread is about to enqueue on `stream`, and protects the host
/// memory that it accesses. Returns null unless tracks_work(). Throws std::bad_alloc.
///
/// @param kind such as "copy"; not copied
tracked_work track_work(char const* kind, hipStream_t stream,
                        std::initializer_list<accessed_memory> memory = {});
/// Makes protected memory accessible to all threads while work runs. Scopes nest.
class accessible_scope {
 public:
  accessible_scope() noexcept;
  ~accessible_scope();
  accessible_scope(accessible_scope const&) = delete;
  accessible_scope& operator=(accessible_scope const&) = delete;

 private:
  bool const is_active_;
};

/// Adds pending work that uses a part of the memory to the list of the exit report: only the end of
/// the memory, by the HIP function `call`, waits for it.
void note_release(void const* data, std::size_t bytes, char const* call) noexcept;
/// Adds all pending work to that list: only the end of the process waits for it.
void note_exit() noexcept;

/// Reports an error of a kernel, once for each pair of `kernel` and `place`. To be called only if
/// ROCARRAY_HOST_CHECK is set; with `abort`, ends the process.
void report_kernel_error(char const* message, void const* kernel, std::size_t place) noexcept;

/// Records where device memory was allocated. `is_array`: an array of the library, which may be a
/// part of an allocation of HIP.
void note_device_allocation(void const* data, std::size_t bytes, bool is_array) noexcept;
void note_device_free(void const* data, bool is_array) noexcept;

}  // namespace roc::host_hip
