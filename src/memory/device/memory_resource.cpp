// SPDX-License-Identifier: MIT
#include <roc/memory/memory_resource.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include <roc/device.hpp>
#include <roc/memory/hip_resources.hpp>
#include <roc/error.hpp>
#include <roc/memory/pool_resource.hpp>

#include "platform/call.hpp"
#include "base/options.hpp"

namespace roc {

struct detail::resource_life {
  std::atomic<std::uint64_t> number = 0;  // odd while the resource exists; it only grows
  resource_life* next = nullptr;          // of those that are free
};

namespace {

constexpr std::size_t most_devices = 128;

// All of this is leaked on purpose: static arrays are freed after every other static object.
struct resources {
  std::mutex lives_mutex;
  detail::resource_life* free_lives = nullptr;
  std::mutex defaults_mutex;
  std::array<std::atomic<memory_resource*>, most_devices> current{};
  std::array<memory_resource*, most_devices> defaults{};
};

resources& all() {
  static auto* const instance = new resources;
  return *instance;
}

memory_resource* make_default(int ordinal) {
  switch (base::options().resource) {
    case base::default_resource::direct: return new hip_memory_resource(ordinal);
    case base::default_resource::driver_pool: return new hip_async_memory_resource(ordinal);
    case base::default_resource::pool: break;
  }
  return new pool_resource(*new hip_memory_resource(ordinal));
}

memory_resource& default_of(int ordinal) {
  device const checked(ordinal);
  auto const index = static_cast<std::size_t>(ordinal);
  std::lock_guard const lock(all().defaults_mutex);
  if (all().defaults[index] == nullptr) all().defaults[index] = make_default(checked.ordinal());
  return *all().defaults[index];
}

std::atomic<memory_resource*>& current_of(int ordinal) {
  if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < most_devices) {
    return all().current[static_cast<std::size_t>(ordinal)];
  }
  throw error(std::make_error_code(std::errc::no_such_device),
              "no device " + std::to_string(ordinal) + ": choose one below device::count()");
}

}  // namespace

bool detail::resource_ticket::is_valid() const noexcept {
  return life_ != nullptr && life_->number.load(std::memory_order_acquire) == number_;
}

memory_resource::memory_resource() : life_(nullptr) {
  std::lock_guard const lock(all().lives_mutex);
  life_ = all().free_lives;
  if (life_ == nullptr) {
    life_ = new detail::resource_life;
  } else {
    all().free_lives = life_->next;
  }
  life_->number.fetch_add(1, std::memory_order_release);
}

memory_resource::~memory_resource() {
  life_->number.fetch_add(1, std::memory_order_release);
  for (auto& each : all().current) {
    memory_resource* self = this;
    each.compare_exchange_strong(self, nullptr);
  }
  std::lock_guard const lock(all().lives_mutex);
  life_->next = std::exchange(all().free_lives, life_);
}

void* memory_resource::allocate(std::size_t bytes, stream_ref stream) {
  if (bytes == 0) return nullptr;
  platform::refuse_in_host_function("memory_resource::allocate");
  if (bytes > PTRDIFF_MAX) {
    throw out_of_memory(std::make_error_code(std::errc::not_enough_memory),
                        "no " + std::to_string(bytes) +
                            " bytes: that is more than addresses can count");
  }
  return do_allocate(bytes, stream);
}

void memory_resource::deallocate(void* data, std::size_t bytes, stream_ref stream) noexcept {
  if (data != nullptr) do_deallocate(data, bytes, stream);
}

detail::resource_ticket memory_resource::ticket() const noexcept {
  return {life_, life_->number.load(std::memory_order_relaxed)};
}

bool memory_resource::do_is_equal(memory_resource const&) const noexcept { return false; }
int memory_resource::do_device_ordinal() const noexcept { return -1; }
memory_statistics memory_resource::do_statistics() const { return {}; }
void memory_resource::do_trim() {}

memory_resource& device_resource(int device) {
  memory_resource* const set = current_of(device).load(std::memory_order_acquire);
  if (set != nullptr) return *set;
  memory_resource& made = default_of(device);
  memory_resource* expected = nullptr;
  current_of(device).compare_exchange_strong(expected, &made, std::memory_order_acq_rel);
  return expected == nullptr ? made : *expected;
}

memory_resource* set_device_resource(int ordinal, memory_resource* resource) {
  device const checked(ordinal);
  if (resource != nullptr && resource->device_ordinal() >= 0 &&
      resource->device_ordinal() != ordinal) {
    throw error(std::make_error_code(std::errc::invalid_argument),
                "a memory resource of device " + std::to_string(resource->device_ordinal()) +
                    " set for device " + std::to_string(ordinal) + ": make one for that device");
  }
  memory_resource& before = device_resource(ordinal);
  current_of(checked.ordinal()).store(resource, std::memory_order_release);
  return &before;
}

memory_statistics device::memory_statistics() const {
  return device_resource(ordinal_).statistics();
}

}  // namespace roc
