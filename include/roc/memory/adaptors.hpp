// SPDX-License-Identifier: MIT
// Memory resources that forward to an upstream resource and add one feature each: statistics,
// limits, logging, injected failures, zeroing. They can be stacked in any order.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>

#include <roc/config.hpp>
#include <roc/error.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

/// Base class of the adaptors. Forwards all calls to the upstream resource.
///
/// An adaptor of your own may divide or cache the blocks of its upstream, so that its arrays track
/// the streams that use them by themselves. The adaptors of the library hand out the blocks of
/// their upstream unchanged.
///
/// *Lifetime:* the upstream resource must outlive the adaptor.
class ROCARRAY_API resource_adaptor : public memory_resource {
 public:
  /// Returns the upstream resource.
  memory_resource& upstream() const noexcept { return upstream_; }

 protected:
  /// Creates an adaptor that forwards to `upstream`.
  ///
  /// @param upstream must outlive the adaptor
  explicit resource_adaptor(memory_resource& upstream) : upstream_(upstream) {}

  /// Allocates from the upstream resource.
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  /// Deallocates to the upstream resource.
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  int do_device_ordinal() const noexcept override;                    ///< the upstream resource's
  std::optional<host_memory> do_host_kind() const noexcept override;  ///< the upstream resource's
  memory_statistics do_statistics() const override;                   ///< the upstream resource's
  void do_trim() override;  ///< trims the upstream resource

 private:
  memory_resource& upstream_;
};

/// Counts allocations and bytes as they are requested, before the upstream resource rounds them up
/// (rmm: `statistics_resource_adaptor`).
///
/// statistics() has the adaptor's own current_bytes, peak_bytes, current_blocks and allocations;
/// the other counters are those of the upstream resource. A block that is deallocated twice is
/// counted twice: only the upstream resource may detect that.
class ROCARRAY_API statistics_resource_adaptor final : public resource_adaptor {
 public:
  /// Creates an adaptor that counts the allocations of `upstream`.
  ///
  /// @param upstream must outlive the adaptor
  explicit statistics_resource_adaptor(memory_resource& upstream) : resource_adaptor(upstream) {}
  /// Sets peak_bytes to current_bytes.
  void reset_peak() noexcept;

 private:
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;
  memory_statistics do_statistics() const override;

  std::atomic<std::size_t> current_ = 0;  // bytes
  std::atomic<std::size_t> peak_ = 0;     // bytes
  std::atomic<std::size_t> blocks_ = 0;
  std::atomic<std::size_t> allocations_ = 0;
};

/// Limits the number of bytes that are allocated at the same time (rmm:
/// `limiting_resource_adaptor`). An allocation beyond the limit throws out_of_memory.
class ROCARRAY_API limiting_resource_adaptor final : public resource_adaptor {
 public:
  /// Creates an adaptor that limits the memory in use from `upstream`.
  ///
  /// @param upstream must outlive the adaptor
  /// @param limit in bytes, as requested
  limiting_resource_adaptor(memory_resource& upstream, std::size_t limit)
      : resource_adaptor(upstream), limit_(limit) {}
  /// Returns the limit in bytes.
  std::size_t limit() const noexcept { return limit_; }
  /// Sets the limit, in bytes. If more is allocated now, every allocation fails until enough has
  /// been deallocated.
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }

 private:
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;

  std::atomic<std::size_t> limit_;        // bytes
  std::atomic<std::size_t> current_ = 0;  // bytes
};

/// Writes one line for every allocation and deallocation (rmm: `logging_resource_adaptor`):
/// "allocate 1024 bytes: 0x7f0012340000, stream 0x0".
class ROCARRAY_API logging_resource_adaptor final : public resource_adaptor {
 public:
  /// Creates an adaptor that logs the calls to `upstream`.
  ///
  /// @param upstream must outlive the adaptor
  /// @param sink receives the lines, from any thread; null: the library's log hook
  explicit logging_resource_adaptor(memory_resource& upstream, log_hook sink = nullptr)
      : resource_adaptor(upstream), sink_(sink) {}

 private:
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;
  void write(char const* operation, std::size_t bytes, void const* data,
             stream_ref stream) noexcept;

  log_hook sink_;
};

/// Makes selected allocations throw out_of_memory, for tests of error handling.
class ROCARRAY_API failing_resource_adaptor final : public resource_adaptor {
 public:
  /// Creates an adaptor that forwards every allocation until fail_at is called.
  ///
  /// @param upstream must outlive the adaptor
  explicit failing_resource_adaptor(memory_resource& upstream) : resource_adaptor(upstream) {}
  /// Makes consecutive allocations fail.
  /// @param nth the number of the first allocation that fails; the next allocation has number 1; 0
  ///   makes no allocation fail
  /// @param times the number of allocations that fail
  void fail_at(std::size_t nth, std::size_t times = 1) noexcept;
  /// Returns the number of allocations that failed so far.
  std::size_t failures() const noexcept { return failures_; }

 private:
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;

  std::atomic<std::size_t> first_ = 0;  // the first allocation that fails
  std::atomic<std::size_t> end_ = 0;    // one past the last that fails
  std::atomic<std::size_t> count_ = 0;  // allocations since fail_at
  std::atomic<std::size_t> failures_ = 0;
};

/// Overwrites memory with zeros before it is deallocated, so that its content cannot be read later.
/// The zeros are written in stream order. If memory cannot be zeroed, it is leaked, and the error
/// is reported to the log hook.
class ROCARRAY_API zeroing_resource_adaptor final : public resource_adaptor {
 public:
  /// Creates an adaptor that zeroes memory before it returns it to `upstream`.
  ///
  /// @param upstream must outlive the adaptor
  explicit zeroing_resource_adaptor(memory_resource& upstream) : resource_adaptor(upstream) {}

 private:
  detail::resource_block do_allocate_block(std::size_t bytes, stream_ref stream) override;
  void do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                           stream_ref stream) noexcept override;
};

}  // namespace roc
