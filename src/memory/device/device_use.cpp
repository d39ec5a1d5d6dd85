// SPDX-License-Identifier: MIT
#include "memory/device/device_use.hpp"

#include <cstddef>
#include <exception>

#include "base/error.hpp"
#include "memory/device/allocation_map.hpp"

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
  if (first != nullptr) synchronize_default_stream(device, find_record(first));
  if (second != nullptr) synchronize_default_stream(device, find_record(second));
}

void synchronize_default_stream(int device, allocation_record const* record) {
  if (record == nullptr || !record->has_prior_work || record->allocation_stream.is_default()) {
    return;
  }
  runtime::order_after(runtime::stream_id_of({}, device), record->allocation_stream);
}

bool device_use::is_use_recorded(void const* address, stream_ref const& stream, int device) {
  allocation_record* const record = find_record(address);
  return record == nullptr || record->has_tracked(runtime::stream_id_of(stream, device));
}

void device_use::begin(stream_ref stream, int device, void const* first, void const* second,
                       std::span<allocation_record* const> records) {
  allocation_record* const found[2] = {find_record(first), find_record(second)};
  begun_uses& uses = begun_.emplace();
  uses.stream = runtime::stream_id_of(stream, device);
  uses.more_pending.reserve(records.size());
  try {
    for (std::size_t i = 0; i != uses.pending.size(); ++i) {
      if (found[i] != nullptr && found[i]->begin_use(uses.stream)) uses.pending[i] = found[i];
    }
    for (allocation_record* const record : records) {
      if (record->begin_use(uses.stream)) uses.more_pending.push_back(record);
    }
  } catch (...) {
    finish_quietly();
    throw;
  }
}

void device_use::finish_quietly() noexcept {
  for (allocation_record* const record : begun_->pending) {
    finish_use_quietly(record, begun_->stream);
  }
  for (allocation_record* const record : begun_->more_pending) {
    finish_use_quietly(record, begun_->stream);
  }
}

}  // namespace roc::memory
