// SPDX-License-Identifier: MIT
// Tracking of device memory that enqueued work uses, by address.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include <roc/stream.hpp>

#include "memory/device/allocation_record.hpp"
#include "memory/device/graph_memory.hpp"
#include "runtime/stream_id.hpp"

namespace roc::memory {

/// Makes the default stream of `device` wait for work that was pending on the allocation stream
/// when the allocations that contain `first` and `second` were made. Later uses need no call: work
/// on the default stream is ordered after them by runtime::order_default_stream_after_all. Null and
/// unknown addresses are ignored. Does not block; calls HIP. Throws roc::error.
void synchronize_default_stream(int device, void const* first, void const* second = nullptr);
/// Makes the default stream of `device` wait for work that was pending on the allocation stream
/// when the allocation of `record` was made. Null is ignored. Does not block; calls HIP. Throws
/// roc::error.
void synchronize_default_stream(int device, allocation_record const* record);

/// Records that work which is enqueued on one stream during the lifetime of this object uses the
/// allocations that contain up to two addresses, and any number of allocations whose records are
/// known. Null and unknown addresses are ignored.
///
/// If the stream is captured, the uses are those of the launches of the graph: see graph_memory. The
/// caller has added the memory of `records` to it, by its addresses.
/// Each address costs one lookup, and nothing more if the stream is the one that the memory was
/// allocated on or used on last. Allocates only for records. Never blocks.
class device_use {
 public:
  /// Begins the uses. `device` is the device of the default stream if `stream` does not name one.
  /// No element of `records` is null. Throws roc::error, std::bad_alloc; no event is missing then.
  device_use(stream_ref stream, int device, void const* first, void const* second = nullptr,
             std::span<allocation_record* const> records = {}) {
    if (graph_memory* const graph = captured_memory_of(stream)) [[unlikely]] {
      graph->add_device(first);
      graph->add_device(second);
      return;
    }
    auto const needs_no_record = [&](void const* address) {
      return address == nullptr || is_use_recorded(address, stream, device);
    };
    // The common case records nothing.
    if (needs_no_record(first) && needs_no_record(second) && records.empty()) [[likely]]
      return;
    begin(stream, device, first, second, records);
  }
  /// Records events after the work, if the stream is foreign. Errors go to the log hook.
  ~device_use() {
    if (begun_) finish_quietly();
  }
  device_use(device_use const&) = delete;
  device_use& operator=(device_use const&) = delete;

 private:
  struct begun_uses {
    runtime::stream_id stream;
    // The records that need finish_use: of the addresses, and others.
    std::array<allocation_record*, 2> pending{};
    std::vector<allocation_record*> more_pending;
  };

  // Returns true if no allocation contains `address`, or if work on `stream` needs no call of
  // allocation_record::begin_use for it. Throws what the constructor throws.
  static bool is_use_recorded(void const* address, stream_ref const& stream, int device);
  // Begins the uses of allocations, and throws what the constructor throws.
  void begin(stream_ref stream, int device, void const* first, void const* second,
             std::span<allocation_record* const> records);
  // Ends the uses that have begun. Errors go to the log hook.
  void finish_quietly() noexcept;

  std::optional<begun_uses> begun_;  // nullopt if no use was to be recorded
};

}  // namespace roc::memory
