// SPDX-License-Identifier: MIT
#include <roc/memory/memory_resource.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/memory/pool_resource.hpp>

#include "base/error.hpp"
#include "base/options.hpp"
#include "memory/device/current_resource.hpp"
#include "memory/device/memory_kind.hpp"
#include "platform/call.hpp"
#include "platform/log_if_throws.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_id.hpp"

namespace roc {

// Shows whether a resource still exists. Never freed, but reused for a later resource.
struct detail::resource_generation {
  std::atomic<std::uint64_t> number = 0;  // odd while the resource exists; never decreases
  memory_resource* resource = nullptr;
  resource_generation* next = nullptr;  // in the list of unused generations
};

namespace {

using memory::current_resources;
using memory::max_devices;

struct resource_registry {
  std::mutex generations_mutex;
  detail::resource_generation* unused_generations = nullptr;  // guarded by generations_mutex
  std::mutex defaults_mutex;
  std::array<memory_resource*, max_devices> defaults{};  // guarded by defaults_mutex; never freed
};

// Neither constructed nor destroyed at run time: static arrays are freed after every other static
// object.
constinit resource_registry registry;
static_assert(std::is_trivially_destructible_v<resource_registry>);

// Creates the resource that ROCARRAY_MEMORY_RESOURCE names; it is never destroyed.
memory_resource* make_default_resource(int ordinal) {
  switch (base::options().memory_resource) {
    case base::default_resource::hip: return new hip_memory_resource(ordinal);
    case base::default_resource::hip_async: return new hip_async_memory_resource(ordinal);
    case base::default_resource::pool: break;
  }
  return new pool_resource(*new hip_memory_resource(ordinal));
}

// Returns the default resource of the device, and creates it at the first call. Throws roc::error
// if there is no such device.
memory_resource& default_resource_of(int ordinal) {
  device const checked(ordinal);
  auto const index = static_cast<std::size_t>(ordinal);
  std::lock_guard const lock(registry.defaults_mutex);
  memory_resource*& resource = registry.defaults[index];
  if (resource == nullptr) resource = make_default_resource(checked.ordinal());
  return *resource;
}

// Throws roc::error if the ordinal is outside [0, max_devices). Does not call HIP.
std::atomic<memory_resource*>& current_slot(int ordinal) {
  if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < max_devices) {
    return current_resources[static_cast<std::size_t>(ordinal)];
  }
  throw error(std::make_error_code(std::errc::no_such_device),
              "device " + std::to_string(ordinal) +
                  " does not exist; use an ordinal below device::count()");
}

// Makes the default resource the current one, unless another thread has set one, and returns the
// current one. Throws roc::error if there is no such device.
[[gnu::noinline]] memory_resource& install_default_resource(int ordinal, detail::caller at) {
  detail::call_scope const call("device_resource", at);
  std::atomic<memory_resource*>& slot = current_slot(ordinal);
  memory_resource& initial = default_resource_of(ordinal);
  memory_resource* expected = nullptr;
  slot.compare_exchange_strong(expected, &initial, std::memory_order_acq_rel);
  return expected == nullptr ? initial : *expected;
}

// Returns the stream on which to deallocate memory that work on `stream` uses, while a graph is
// captured. Nothing can be enqueued on a captured stream. The default stream takes its place, and
// waits for the work from before the capture. Returns nothing, after logging an error, if that work
// cannot be awaited: the memory must then never be freed.
[[gnu::noinline]] std::optional<stream_ref> uncaptured_stream(stream_ref stream) noexcept {
  bool is_captured = true;  // also if HIP cannot tell
  bool const is_known =
      platform::retry_then_log([&] { is_captured = runtime::belongs_to_capture(stream); });
  if (!is_captured) return stream;
  int const device = stream.device_ordinal();
  auto const order = [&] {
    runtime::stream_id const default_stream = runtime::stream_id_of({}, device);
    if (auto const before = runtime::event_before_join(stream)) {
      runtime::wait(default_stream, *before);
    }
  };
  bool const is_ordered = is_known && platform::retry_then_log(order);
  if (is_ordered || runtime::synchronize_all_devices_quietly()) {
    return stream_ref(nullptr, device, detail::stream_kind::default_stream);
  }
  base::log_error(
      "memory that was deallocated on a captured stream is never freed: the work that uses it "
      "cannot be awaited; see the error before");
  return {};
}

[[noreturn, gnu::noinline]] void throw_too_large(std::size_t bytes) {
  throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                      "cannot allocate " + std::to_string(bytes) +
                          " bytes: the size is larger than the address space");
}

}  // namespace

memory_resource* detail::weak_resource_ref::get() const noexcept {
  bool const exists =
      generation_ != nullptr && generation_->number.load(std::memory_order_acquire) == number_;
  return exists ? generation_->resource : nullptr;
}

memory_resource::memory_resource() : generation_(nullptr) {
  std::lock_guard const lock(registry.generations_mutex);
  generation_ = registry.unused_generations;
  if (generation_ == nullptr) {
    generation_ = new detail::resource_generation;
  } else {
    registry.unused_generations = generation_->next;
  }
  generation_->resource = this;
  generation_->number.fetch_add(1, std::memory_order_release);
}

memory_resource::~memory_resource() {
  generation_->number.fetch_add(1, std::memory_order_release);
  for (auto& slot : current_resources) {
    memory_resource* self = this;
    slot.compare_exchange_strong(self, nullptr);
  }
  std::lock_guard const lock(registry.generations_mutex);
  generation_->next = std::exchange(registry.unused_generations, generation_);
}

void* memory_resource::allocate(std::size_t bytes, stream_ref stream, detail::caller at) {
  detail::call_scope const call(__func__, at);
  return allocate_block(bytes, stream).data;
}

void memory_resource::deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept {
  deallocate_block({data}, bytes, stream);
}

detail::resource_block memory_resource::allocate_block(std::size_t bytes, stream_ref stream) {
  if (bytes == 0) return {};
  platform::refuse_in_host_function();
  runtime::refuse_captured(stream, "allocation from a memory resource, other than by an array,");
  if (bytes > PTRDIFF_MAX) throw_too_large(bytes);
  return do_allocate_block(bytes, stream);
}

void memory_resource::deallocate_block(detail::resource_block const& block, std::size_t bytes,
                                       stream_ref stream) noexcept {
  if (block.data == nullptr) return;
  if (runtime::is_any_capture_active()) [[unlikely]] {
    auto const uncaptured = uncaptured_stream(stream);
    if (!uncaptured) return;
    stream = *uncaptured;
  }
  do_deallocate_block(block, bytes, stream);
}

detail::resource_block memory_resource::do_allocate_block(std::size_t bytes, stream_ref stream) {
  return {do_allocate(bytes, stream)};
}

void memory_resource::do_deallocate_block(detail::resource_block const& block, std::size_t bytes,
                                          stream_ref stream) noexcept {
  do_deallocate(block.data, bytes, stream);
}

bool memory_resource::do_can_release() const noexcept { return false; }

detail::weak_resource_ref memory_resource::weak_ref() const noexcept {
  return {generation_, generation_->number.load(std::memory_order_relaxed)};
}

bool memory_resource::do_is_equal(memory_resource const&) const noexcept { return false; }
int memory_resource::do_device_ordinal() const noexcept { return -1; }
std::optional<host_memory> memory_resource::do_host_kind() const noexcept { return std::nullopt; }
memory_statistics memory_resource::do_statistics() const { return {}; }
void memory_resource::do_trim() {}

memory_resource& device_resource(int device, detail::caller at) {
  memory_resource* const current = memory::current_resource(device);
  return current != nullptr ? *current : install_default_resource(device, at);
}

memory_resource* set_device_resource(int ordinal, memory_resource* resource, detail::caller at) {
  detail::call_scope const call(__func__, at);
  device const checked(ordinal);
  if (resource != nullptr && resource->device_ordinal() >= 0 &&
      resource->device_ordinal() != ordinal) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "memory resource of device " + std::to_string(resource->device_ordinal()) +
                    " cannot serve device " + std::to_string(ordinal) +
                    "; create one for that device");
  }
  if (resource != nullptr) memory::check_device_memory(*resource);
  memory_resource& previous = device_resource(ordinal);
  current_slot(checked.ordinal()).store(resource, std::memory_order_release);
  return &previous;
}

memory_statistics device::memory_statistics(detail::caller at) const {
  detail::call_scope const call(__func__, at);
  return device_resource(ordinal_).statistics();
}

}  // namespace roc
