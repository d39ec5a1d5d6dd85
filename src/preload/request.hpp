// SPDX-License-Identifier: MIT
// What the two shared objects of the preloaded library pass to each other. librocarray-preload.so
// takes the calls of the program; librocarray-preload-copy.so, which contains the library, is
// loaded at the first copy that it may serve. Contains no type of HIP or CUDA.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace roc::preload {

/// What happened to a copy: it was served, or why it was passed on to the vendor's function.
enum class outcome : unsigned char {
  served,
  switched_off,     // ROCARRAY_PRELOAD=off
  small,            // the vendor's function is as fast
  other_direction,  // contiguous within a device, within the host, or of an unknown kind
  invalid,          // the vendor's function refuses the arguments, or they are unusual
  array,            // a CUDA or HIP array
  capturing,        // a stream is being captured
  earlier_error,    // the runtime holds an error that the program has not fetched (amd)
  pinned,           // pinned host memory, which the vendor's function copies at full speed
  other_memory,     // memory that is managed, or of an unknown kind
  other_device,     // memory, stream or context of another device than the current one
  suits_vendor,     // a layout or a setting for which the vendor's function is preferred
  to_measure,       // done by the vendor's function to measure its rate
  vendor_faster,    // according to the copies that were measured
  nested,           // made by a callback of a tool within a call of the library
  after_fork,       // a child process of one that has used the library
  after_reset,      // the program has reset the device
  unavailable,      // the library could not be loaded, or not for this runtime
  exiting,          // the process ends: the library's runtime or threads may be gone
  failed,           // the library failed; the vendor's function did the whole copy
  given_up,         // the library has failed several times in a row
  count
};

/// The kinds of a copy that can be served, with the numbers of hipMemcpyKind.
enum class direction : int { to_device = 1, to_host = 2, within_device = 3, unspecified = 4 };

/// The handle that both vendors give to the default stream of the calling thread.
inline void* per_thread_stream() noexcept { return reinterpret_cast<void*>(std::uintptr_t{2}); }

struct copy_request;
struct copy_report;

/// Decides who does a copy that can be served: returns outcome::served; outcome::to_measure, if the
/// copier is to wait for the earlier work, but not to copy; or why the copy is passed on. The
/// report has the direction and the kind of host memory.
using choice_function = outcome (*)(copy_request const*, copy_report const*) noexcept;

/// A copy of `depth` slices of `height` rows of `width` bytes. Pitches are in bytes.
struct copy_request {
  void const* source;
  void* destination;
  std::size_t width;
  std::size_t height;
  std::size_t depth;
  std::size_t source_pitch;  // from row to row
  std::size_t destination_pitch;
  std::size_t source_slice;  // from slice to slice
  std::size_t destination_slice;
  int kind;             // a direction, or another number of hipMemcpyKind
  void* stream;         // null: the legacy default stream
  bool is_synchronous;  // the vendor's function returns after the copy is complete
  int device;           // the current device of the caller
  std::atomic<int> const* captures = nullptr;  // the number of streams that are being captured
  choice_function choose = nullptr;            // null: the copier does the copy

  /// Returns the bytes that are copied. check_shape has excluded an overflow.
  std::size_t bytes() const noexcept { return width * height * depth; }
  /// Returns true if a strided copy within the device is so small that the vendor's function is as
  /// fast. A call of it takes 4 us, one of this library 6.5 us. The copies of the vendor and of
  /// this library took, in us, on an H100:
  ///
  ///     rows of     1 MiB      4 MiB      16 MiB
  ///      4 B       42 |  6   123 |  5   475 | 35
  ///     64 B       12 |  4    16 |  5    45 | 18
  ///    256 B        5 |  5    12 |  5    17 | 11
  ///     16 KiB      4 |  5     7 |  5    23 | 11
  bool is_small_within_device() const noexcept {
    constexpr std::size_t kibi = 1024;
    std::size_t const limit = width < 128 ? 256 * kibi : width < kibi ? 2048 * kibi : 8192 * kibi;
    return bytes() <= limit;
  }
  bool is_contiguous() const noexcept {
    bool const has_dense_rows =
        height == 1 || (source_pitch == width && destination_pitch == width);
    return has_dense_rows &&
           (depth == 1 || (source_slice == width * height && destination_slice == width * height));
  }
};

/// What the copier found out about a copy, and how long it took, without the wait for earlier work.
/// A copy within a device is enqueued, which has no duration.
struct copy_report {
  direction copied = direction::unspecified;
  bool is_pinned = false;  // the host memory
  std::int64_t nanoseconds = 0;
};

/// The vendor's functions of the program's runtime that librocarray-preload-copy.so calls. The
/// copies are those that librocarray-preload.so replaces: the library must call the vendor's. Null
/// on nvidia, where the library contains the runtime.
struct vendor_functions {
  void* memcpy;
  void* memcpy_async;
  void* memcpy_2d_async;
  void* memcpy_3d_async;
};

/// Called once, before the first copy. Calls neither HIP nor CUDA.
using start_function = void (*)(vendor_functions const*) noexcept;
inline constexpr char start_name[] = "rocarray_preload_start";

/// Does the copy and returns outcome::served after it is complete, or returns why the vendor's
/// function has to do it. Waits for the earlier work of the stream. A copy within a device is
/// enqueued on the stream instead. A copy that failed may have written part of the destination;
/// nothing of it is pending then, except on the stream of the request. Leaves the current device of
/// the calling thread unchanged.
using copy_function = outcome (*)(copy_request const*, copy_report*) noexcept;
inline constexpr char copy_name[] = "rocarray_preload_copy";

}  // namespace roc::preload
