// SPDX-License-Identifier: MIT
// The settings of the library as values: for the process, for a scope, and for one copy.
#pragma once

#include <cstddef>
#include <source_location>

#include <roc/config.hpp>
#include <roc/copy_path.hpp>
#include <roc/detail/call_scope.hpp>

namespace roc {

// GCC warns that scoped enumerators shadow names of the namespace.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif

/// Which messages are written to stderr. A level includes all levels before it.
enum class log_level : unsigned char {
  off,      ///< nothing
  error,    ///< late errors, which no caller can catch (see set_log_hook)
  warning,  ///< invalid settings, leaks
  info,     ///< rare events: staging memory is allocated, a profiler was found
  debug,    ///< allocations, streams
  trace,    ///< every copy and fill
};

/// The memory resource that a device begins with (see device_resource).
enum class default_resource : unsigned char {
  pool,       ///< pool_resource over hip_memory_resource
  hip,        ///< hip_memory_resource
  hip_async,  ///< hip_async_memory_resource
};

/// How copies of pageable memory in the order of a stream alternate between the device and the CPU.
enum class stream_staging_method : unsigned char {
  automatic,       ///< the fastest method of the platform
  values,          ///< stream memory operations: the stream waits for values that the CPU writes
  host_functions,  ///< the stream calls functions on a thread of the HIP runtime
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

struct options;

namespace detail {

/// Returns the options in effect for the calling thread. The reference is valid until the thread's
/// innermost scope ends, or for ever if the thread is in no scope.
ROCARRAY_API options const& options_in_effect() noexcept;

}  // namespace detail

/// The settings of the library. The environment variables of the same meaning give the process its
/// options when the library is first used; a program changes them with set_options and
/// scoped_options.
///
/// A new object has the options in effect for the calling thread, so that a program names only
/// those that it changes: `roc::set_options({.copy_threads = 4})`.
struct options {
  /// The path of every copy that can take it; `copy_path::none` selects the fastest path of each
  /// copy. (ROCARRAY_COPY_PATH)
  copy_path path = detail::options_in_effect().path;
  /// How many worker threads help the calling thread to stage, pack and unpack: 1 to 256. A device
  /// has as many threads as were asked for at most; they are never ended. (ROCARRAY_COPY_THREADS)
  std::size_t copy_threads = detail::options_in_effect().copy_threads;
  /// The HIP runtime executes copies of pageable memory without a stream of at most this many
  /// bytes, up to 1 TiB. On a stream, it executes only copies to the device without borrow_source:
  /// on NVIDIA those of at most this size and at most 64 KiB, elsewhere none.
  /// (ROCARRAY_STAGING_THRESHOLD)
  std::size_t staging_threshold = detail::options_in_effect().staging_threshold;
  /// The staging memory of one pool in bytes: 4 KiB to 1 TiB. A device has four pools for each
  /// size of blocks. A lower limit applies to new blocks; existing ones are kept for later copies.
  /// (ROCARRAY_STAGING_LIMIT)
  std::size_t staging_limit = detail::options_in_effect().staging_limit;
  /// The size of one block of staging memory in bytes: 4 KiB to 1 TiB. Blocks of other sizes that
  /// exist are kept. (ROCARRAY_STAGING_BLOCK)
  std::size_t staging_block = detail::options_in_effect().staging_block;
  /// The largest chunk of a staged copy in bytes: 4 KiB to 1 TiB. Chunks are not larger than
  /// a block, and a multiple of 256 bytes. (ROCARRAY_STAGING_CHUNK)
  std::size_t staging_chunk = detail::options_in_effect().staging_chunk;
  /// How copies of pageable memory in the order of a stream alternate between the device and the
  /// CPU. `values` is a preference: copies on a stream that is being captured, and copies on
  /// devices that cannot wait for values, use host functions. (ROCARRAY_STREAM_STAGING)
  stream_staging_method stream_staging = detail::options_in_effect().stream_staging;
  /// The shortest row in bytes that the copy engines copy; the CPU packs shorter ones: 1 to 1 TiB.
  /// (ROCARRAY_MEMCPY2D_MIN_ROW)
  std::size_t memcpy2d_min_row = detail::options_in_effect().memcpy2d_min_row;
  /// Freed pinned memory that is kept for reuse, in bytes, up to 1 TiB; 0 disables the cache.
  /// Applies to memory that is freed from now on; trim_pinned_cache() frees what is kept.
  /// (ROCARRAY_PINNED_CACHE)
  std::size_t pinned_cache = detail::options_in_effect().pinned_cache;
  /// Freed pageable memory of host arrays of 2 MiB and more that is kept for reuse, in bytes, up to
  /// 1 TiB; 0 disables the cache. Applies to memory that is freed from now on;
  /// trim_pageable_cache() frees what is kept. (ROCARRAY_PAGEABLE_CACHE)
  std::size_t pageable_cache = detail::options_in_effect().pageable_cache;
  /// Large ranges are registered in segments of this size in bytes: 4 KiB to 1 TiB, rounded down
  /// to a multiple of 64 KiB, which is the least. (ROCARRAY_REGISTER_CHUNK)
  std::size_t register_chunk = detail::options_in_effect().register_chunk;
  /// The resource of device arrays on devices that have none yet: the first allocation on a device,
  /// or the first device_resource(), creates it for the process. (ROCARRAY_MEMORY_RESOURCE)
  default_resource memory_resource = detail::options_in_effect().memory_resource;
  /// Copies between two devices enable the access of one to the memory of the other, and then use
  /// it. If false, they use scratch memory on both devices; access that is enabled stays so.
  /// (ROCARRAY_PEER_ACCESS)
  bool peer_access = detail::options_in_effect().peer_access;
  /// The messages on stderr. (ROCARRAY_LOG)
  log_level log = detail::options_in_effect().log;
  /// Prints each HIP call of the library to stderr. (ROCARRAY_TRACE=calls)
  bool trace_calls = detail::options_in_effect().trace_calls;
  /// Records allocations and their call sites. Those recorded and never freed are reported when the
  /// process ends. (ROCARRAY_LEAK_CHECK)
  bool leak_check = detail::options_in_effect().leak_check;
  /// Copies, fills and profiler_range appear as ranges in the profiler that the process runs under.
  /// (ROCARRAY_PROFILER is not `off`)
  bool profiler_ranges = detail::options_in_effect().profiler_ranges;

  friend bool operator==(options const&, options const&) = default;  ///< Compares all members.
};

/// Returns the options in effect for the calling thread: those of its innermost scoped_options, or
/// else those of the process.
ROCARRAY_API options get_options() noexcept;

/// Sets the options of the process, for calls of the library that begin from now on. Has no effect
/// on a thread within a scoped_options before that scope ends. Thread-safe; the process keeps one
/// copy of each distinct value.
///
/// @throws roc::error with the code `std::errc::invalid_argument` and a message that names the
///   member and its value
ROCARRAY_API void set_options(options const& values,
                              detail::caller at = std::source_location::current());

/// How one copy, or the copies of one batch, are done.
struct copy_options {
  /// The path of the copy; `copy_path::none`: as options::path. Unlike that option it is no
  /// preference: a copy that cannot take the path throws.
  copy_path path = copy_path::none;
  /// How many worker threads help the calling thread: 1 to 256; 0: options::copy_threads.
  std::size_t threads = 0;
};

namespace detail {

/// Options that a thread uses, with what the library derives from them.
struct active_options : options {
  /// The limit for host-to-device copies on a stream that corresponds to staging_threshold. Lower,
  /// because the HIP runtime must have read the source when the call returns.
  std::size_t staging_threshold_on_stream;
  /// The bytes of a chunk: staging_chunk, but at most staging_block, and rounded down to 256.
  std::size_t chunk_bytes;
  /// True if a copy that cannot take `path` must throw.
  bool is_path_required;
  /// True if copy_options::threads was given.
  bool are_threads_required;

  friend bool operator==(active_options const&, active_options const&) = default;
};

/// Overrides the options of the calling thread until it is destroyed, in the reverse order.
class ROCARRAY_API options_override {
 public:
  explicit options_override(options const& values);
  explicit options_override(copy_options const& values);
  options_override(options_override const&) = delete;
  options_override& operator=(options_override const&) = delete;
  ~options_override();

 private:
  explicit options_override(active_options const& values) noexcept;

  active_options values_;
  active_options const* previous_;  // of the enclosing scope; null if there is none
};

}  // namespace detail

/// Overrides the options of the calling thread for a scope. Scopes nest; they must end in the
/// thread that began them, the innermost first. Work that the thread enqueues in the scope uses
/// these options also in the library's own threads, and after the scope has ended. Other threads
/// are not affected.
///
/// `roc::scoped_options const guard({.path = roc::copy_path::staged});`
class [[nodiscard]] scoped_options {
 public:
  /// Begins the scope.
  /// @throws roc::error as set_options does; the options are then unchanged
  explicit scoped_options(options const& values,
                          detail::caller at = std::source_location::current())
      : override_((detail::call_scope("scoped_options", at), values)) {}
  scoped_options(scoped_options const&) = delete;
  scoped_options& operator=(scoped_options const&) = delete;

 private:
  detail::options_override override_;
};

}  // namespace roc
