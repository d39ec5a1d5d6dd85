// SPDX-License-Identifier: MIT
#include "memory/device/device_use.hpp"

#include <exception>

#include "base/error.hpp"
#include "memory/device/allocation_map.hpp"
#include "memory/device/graph_memory.hpp"

namespace roc::memory {
namespace {

using runtime::stream_id;

// Does nothing for null. Every begun use of a foreign stream needs its event, even if a later use
// could not be begun: the stream may be destroyed before the memory is freed.
void finish_use_quietly(allocation_record* record, stream_id const& stream) noexcept {
  if (record == nullptr) return;
  try {
    record->finish_use(stream);
  } catch (std::exception const& error) {
    base::log_error(error.what());  // deallocation records an event on the stream itself instead
  }
}

}  // namespace

void synchronize_default_stream(int device, void const* first, void const* second) {
  for (void const* const address : {first, second}) {
    synchronize_default_stream(device, find_record(address));
  }
}

void synchronize_default_stream(int device, allocation_record const* record) {
  if (record == nullptr || !record->has_prior_work || record->allocation_stream.is_default()) {
    return;
  }
  runtime::order_after(runtime::stream_id_of({}, device), record->allocation_stream);
}

device_use::device_use(stream_ref stream, int device, void const* first, void const* second,
                       std::span<allocation_record* const> records) {
  if (graph_memory* const graph = captured_memory_of(stream)) [[unlikely]] {
    graph->add_device(first);
    graph->add_device(second);
    return;
  }
  allocation_record* const found[2] = {find_record(first), find_record(second)};
  if (found[0] == nullptr && found[1] == nullptr && records.empty()) return;
  // The common case records nothing; the stream_id is not copied then.
  stream_id const& id = runtime::stream_id_of(stream, device);
  auto const needs_no_record = [&](allocation_record* record) {
    return record == nullptr || record->has_tracked(id);
  };
  if (needs_no_record(found[0]) && needs_no_record(found[1]) && records.empty()) return;
  stream_ = id;
  more_pending_.reserve(records.size());
  try {
    for (int i = 0; i < 2; ++i) {
      if (found[i] != nullptr && found[i]->begin_use(stream_)) pending_[i] = found[i];
    }
    for (allocation_record* const record : records) {
      if (record->begin_use(stream_)) more_pending_.push_back(record);
    }
  } catch (...) {
    finish_quietly();
    throw;
  }
}

void device_use::finish_quietly() noexcept {
  for (allocation_record* const record : pending_) finish_use_quietly(record, stream_);
  for (allocation_record* const record : more_pending_) finish_use_quietly(record, stream_);
}

}  // namespace roc::memory
