// SPDX-License-Identifier: MIT
#include "memory/device/allocation_record.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <mutex>

#include "memory/device/allocation_map.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"

namespace roc::memory {
namespace {

using runtime::shared_event;
using runtime::stream_id;

// Few records have uses at all: some locks for all of them. Leaked on purpose.
std::mutex& lock_of(allocation_record const* record) {
  static auto* const locks = new std::array<std::mutex, 32>;
  return (*locks)[(reinterpret_cast<std::uintptr_t>(record) >> 6) % locks->size()];
}

bool is_over(allocation_record::use const& use) {
  return use.done != nullptr ? use.done->query() : runtime::is_over(use.stream);
}

// A foreign stream may be gone when the memory goes: the use needs its event, also where another
// one beside it could not be noted.
void finish_quietly(allocation_record* record, stream_id stream) noexcept {
  if (record == nullptr) return;
  try {
    record->finish_use(stream);
  } catch (std::exception const& late) {
    base::log(late.what());  // the free will ask the stream itself
  }
}

}  // namespace

bool allocation_record::begin_use(stream_id const& stream) {
  if (has_noted(stream)) return false;
  std::lock_guard const lock(lock_of(this));
  auto const known = std::find_if(uses.begin(), uses.end(),
                                  [&](use const& each) { return each.stream == stream; });
  if (known != uses.end()) {
    // A foreign handle may have come back as another stream's, whose work is not behind that event.
    if (known->done != nullptr && !known->done->query()) stream.stream().wait(*known->done);
    if (!stream.is_foreign()) last_user.store(stream.life());
    return stream.is_foreign();
  }
  if (inherits) runtime::order_after(stream, own);
  // Streams come and go while an array stays.
  if (uses.size() >= 8) std::erase_if(uses, is_over);
  uses.push_back({stream, nullptr});
  used_elsewhere.store(true, std::memory_order_release);
  // A foreign stream needs an event behind each of its uses.
  if (!stream.is_foreign()) last_user.store(stream.life());
  return stream.is_foreign();
}

void allocation_record::finish_use(stream_id stream) {
  shared_event done = runtime::record(stream);
  std::lock_guard const lock(lock_of(this));
  for (use& each : uses) {
    if (each.stream == stream) each.done = std::move(done);
  }
}

void allocation_record::record_use_of(stream_id stream) {
  std::lock_guard const lock(lock_of(this));
  uses.push_back({stream, nullptr});
  used_elsewhere.store(true, std::memory_order_release);
}

std::vector<shared_event> allocation_record::events_of_uses(stream_id except) {
  std::vector<shared_event> events;
  if (!used_elsewhere.load(std::memory_order_acquire)) return events;
  std::lock_guard const lock(lock_of(this));
  for (use const& each : uses) {
    if (each.stream == except) continue;
    shared_event done = each.done != nullptr ? each.done : runtime::record(each.stream);
    if (done != nullptr && !done->query()) events.push_back(std::move(done));
  }
  return events;
}

void allocation_record::forget_uses() noexcept {
  std::lock_guard const lock(lock_of(this));
  uses.clear();
  last_user.store(0);
  used_elsewhere.store(false, std::memory_order_relaxed);
}

allocation_record* find_record(void const* address) noexcept {
  return address != nullptr ? allocation_map::instance().find(address) : nullptr;
}

void synchronize_default_stream(int device, void const* first, void const* second) {
  for (void const* const address : {first, second}) {
    synchronize_default_stream(device, find_record(address));
  }
}

void synchronize_default_stream(int device, allocation_record const* record) {
  if (record == nullptr || !record->inherits || record->own.is_default()) return;
  runtime::order_after(runtime::mark_of({}, device), record->own);
}

void order_after_uses(void const* address, stream_id stream) {
  allocation_record* const record = find_record(address);
  if (record == nullptr) return;
  for (shared_event const& done : record->events_of_uses(stream)) {
    runtime::on_device const guard(stream.device());
    stream.stream().wait(*done);
  }
  // Not before: where a wait fails, the next try needs them all again.
  record->forget_uses();
}

device_use::device_use(stream_ref stream, int device, void const* first, void const* second) {
  allocation_record* const records[2] = {find_record(first), find_record(second)};
  if (records[0] == nullptr && records[1] == nullptr) return;
  // Almost always there is nothing to note, and the mark is not copied.
  stream_id const& mark = runtime::mark_of(stream, device);
  auto const is_noted = [&](allocation_record* each) {
    return each == nullptr || each->has_noted(mark);
  };
  if (is_noted(records[0]) && is_noted(records[1])) return;
  stream_ = mark;
  try {
    for (int i = 0; i < 2; ++i) {
      if (records[i] != nullptr && records[i]->begin_use(stream_)) pending_[i] = records[i];
    }
  } catch (...) {
    for (allocation_record* const each : pending_) finish_quietly(each, stream_);
    throw;
  }
}

device_use::~device_use() {
  for (allocation_record* const each : pending_) finish_quietly(each, stream_);
}

device_uses::device_uses(stream_ref stream, int device,
                         std::vector<allocation_record*> const& records) {
  if (records.empty()) return;
  stream_ = runtime::mark_of(stream, device);
  pending_.reserve(records.size());
  try {
    for (allocation_record* const each : records) {
      if (each->begin_use(stream_)) pending_.push_back(each);
    }
  } catch (...) {
    for (allocation_record* const each : pending_) finish_quietly(each, stream_);
    throw;
  }
}

device_uses::~device_uses() {
  for (allocation_record* const each : pending_) finish_quietly(each, stream_);
}

}  // namespace roc::memory
