// SPDX-License-Identifier: MIT
// Resources that stand in front of another one and add one thing each; they can be stacked in any
// order. All are of the device of their upstream, which must outlive them.
#pragma once

#include <atomic>
#include <cstddef>

#include <roc/config.hpp>
#include <roc/error.hpp>
#include <roc/memory/memory_resource.hpp>

namespace roc {

/// What the adaptors share: everything is passed on.
class ROCARRAY_API resource_adaptor : public memory_resource {
 public:
  /// What it stands in front of.
  memory_resource& upstream() const noexcept { return upstream_; }

 protected:
  /// `upstream` must outlive it.
  explicit resource_adaptor(memory_resource& upstream) : upstream_(upstream) {}

  void* do_allocate(std::size_t bytes, stream_ref stream) override;  ///< upstream's
  /// upstream's
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  int do_device_ordinal() const noexcept override;   ///< upstream's
  memory_statistics do_statistics() const override;  ///< upstream's
  void do_trim() override;                           ///< upstream's

 private:
  memory_resource& upstream_;
};

/// Counts what passes: bytes as they were asked for, whatever the upstream rounds them to. What it
/// does not count itself, its statistics take from the upstream. Memory that is given back twice is
/// counted twice: only the upstream may find that out.
class ROCARRAY_API statistics_resource_adaptor final : public resource_adaptor {
 public:
  /// Begins to count at zero.
  explicit statistics_resource_adaptor(memory_resource& upstream) : resource_adaptor(upstream) {}
  /// The peak is what is handed out now.
  void reset_peak() noexcept;

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  memory_statistics do_statistics() const override;

  std::atomic<std::size_t> current_ = 0;
  std::atomic<std::size_t> peak_ = 0;
  std::atomic<std::size_t> blocks_ = 0;
  std::atomic<std::size_t> allocations_ = 0;
};

/// Hands out a number of bytes at most; throws out_of_memory for more.
class ROCARRAY_API limiting_resource_adaptor final : public resource_adaptor {
 public:
  /// `limit` in bytes, as they are asked for.
  limiting_resource_adaptor(memory_resource& upstream, std::size_t limit)
      : resource_adaptor(upstream), limit_(limit) {}
  /// In bytes.
  std::size_t limit() const noexcept { return limit_; }
  /// Below what is handed out, nothing more is, until enough has been given back.
  void set_limit(std::size_t bytes) noexcept { limit_ = bytes; }

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;

  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> current_ = 0;
};

/// Writes a line for everything that passes: "allocate 1024 bytes: 0x7f0012340000, stream 0x0".
class ROCARRAY_API logging_resource_adaptor final : public resource_adaptor {
 public:
  /// `sink` receives the lines, from any thread; null: the library's log hook.
  explicit logging_resource_adaptor(memory_resource& upstream, log_hook sink = nullptr)
      : resource_adaptor(upstream), sink_(sink) {}

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
  void write(char const* what, std::size_t bytes, void const* data, stream_ref stream) noexcept;

  log_hook sink_;
};

/// Throws out_of_memory where it was told to, for tests of what happens then.
class ROCARRAY_API failing_resource_adaptor final : public resource_adaptor {
 public:
  /// Passes everything on until fail_at says otherwise.
  explicit failing_resource_adaptor(memory_resource& upstream) : resource_adaptor(upstream) {}
  /// The `nth` allocation from now on fails, counted from 1, and `times` in all; 0: none.
  void fail_at(std::size_t nth, std::size_t times = 1) noexcept;
  /// How many allocations failed.
  std::size_t failures() const noexcept { return failures_; }

 private:
  void* do_allocate(std::size_t bytes, stream_ref stream) override;

  std::atomic<std::size_t> first_ = 0;
  std::atomic<std::size_t> end_ = 0;
  std::atomic<std::size_t> count_ = 0;
  std::atomic<std::size_t> failures_ = 0;
};

/// Writes zeros over memory before it is given back, so that nobody reads what was in it. Memory
/// that cannot be cleared is never given back; the log says so.
class ROCARRAY_API zeroing_resource_adaptor final : public resource_adaptor {
 public:
  /// `upstream` must outlive it.
  explicit zeroing_resource_adaptor(memory_resource& upstream) : resource_adaptor(upstream) {}

 private:
  void do_deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept override;
};

}  // namespace roc
