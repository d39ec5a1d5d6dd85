// SPDX-License-Identifier: MIT
#include "runtime/auxiliary_streams.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <vector>

#include <roc/error.hpp>

#include "base/no_destructor.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::runtime {
namespace {

constexpr std::size_t max_pairs = 16;

// The pairs of one device.
struct pairs_of_device {
  std::vector<std::unique_ptr<auxiliary_streams>> pairs;
  // Pinned; one for each pair. Null until first used.
  progress_counters* counters = nullptr;
  progress_counters* device_counters = nullptr;
  bool supports_values = true;  // false after an attempt has failed
};

// Never destroyed: copies may run until the process ends.
struct all_pairs {
  std::mutex mutex;
  std::map<int, pairs_of_device> by_device;
};
all_pairs& instance() {
  static base::no_destructor<all_pairs> pairs;
  return *pairs;
}

// Allocates the counters of all pairs of the current device. The default flags make memory that is
// coherent on AMD.
void allocate_counters(pairs_of_device& device) {
  void* memory = nullptr;
  ROCARRAY_HIP(hipHostMalloc, &memory, max_pairs * sizeof(progress_counters), hipHostMallocDefault);
  void* mapped = nullptr;
  try {
    ROCARRAY_HIP(hipHostGetDevicePointer, &mapped, memory, 0);
  } catch (...) {
    ROCARRAY_HIP_QUIET(hipHostFree, memory);
    throw;
  }
  device.counters = static_cast<progress_counters*>(memory);
  device.device_counters = static_cast<progress_counters*>(mapped);
  for (std::size_t i = 0; i != max_pairs; ++i) ::new (device.counters + i) progress_counters();
}

// Returns true if the code means that the device or its driver lacks the operation.
bool means_unsupported(std::error_code code) noexcept {
  for (hipError_t const lacking :
       {hipErrorNotSupported, hipErrorInvalidValue, hipErrorNotInitialized}) {
    if (code == std::error_code(lacking, hip_category())) return true;
  }
  return false;
}

// Tries the operations with values that change nothing. HIP's headers for NVIDIA lack the attribute
// that tells whether a device has them.
bool try_values(auxiliary_streams const& pair) {
  hipStream_t const stream = handle(pair.first);
  try {
    ROCARRAY_HIP(hipStreamWriteValue64, stream, &pair.device_counters->device, 0, 0);
    ROCARRAY_HIP(hipStreamWaitValue64, stream, &pair.device_counters->cpu, 0,
                 hipStreamWaitValueGte);
    return true;
  } catch (error const& failure) {
    if (!means_unsupported(failure.code())) throw;
    return false;
  }
}

}  // namespace

auxiliary_streams_guard::auxiliary_streams_guard(stream_ref user) {
  int const device = current_device();
  // The per-thread streams of all threads have one identity, so it tells nothing about their order.
  stream_id const user_id =
      is_per_thread_handle(user.handle()) ? stream_id() : stream_id_of(user, device);
  std::lock_guard const lock(instance().mutex);
  auto& device_pairs = instance().by_device[device].pairs;
  auxiliary_streams* free_pair = nullptr;
  for (auto const& pair : device_pairs) {
    if (pair->in_use.load(std::memory_order_acquire)) continue;
    if (pair->is_abandoned && has_abandoned_work()) continue;
    if (!user_id.is_empty() && pair->user == user_id) {
      free_pair = pair.get();
      break;
    }
    if (free_pair == nullptr && (pair->is_abandoned || pair->done.query())) free_pair = pair.get();
  }
  if (free_pair != nullptr) {
    free_pair->in_use.store(true, std::memory_order_relaxed);
    free_pair->is_abandoned = false;
    free_pair->user = user_id;
    pair_ = free_pair;
    return;
  }
  if (device_pairs.size() == max_pairs) return;
  device_pairs.reserve(max_pairs);
  auto created = std::make_unique<auxiliary_streams>();
  created->first = create_stream(detail::stream_kind::non_blocking, 0);
  try {
    created->second = create_stream(detail::stream_kind::non_blocking, 0);
  } catch (...) {
    retire(created->first);
    throw;
  }
  created->user = user_id;
  device_pairs.push_back(std::move(created));
  pair_ = device_pairs.back().get();
}

progress_counters* progress_counters_of(auxiliary_streams& pair) {
  if (pair.counters != nullptr) return pair.counters;  // only the holder of the pair sets them
  int const device = current_device();
  std::lock_guard const lock(instance().mutex);
  pairs_of_device& of_device = instance().by_device[device];
  if (!of_device.supports_values) return nullptr;
  if (of_device.counters == nullptr) allocate_counters(of_device);
  std::size_t index = 0;
  while (of_device.pairs[index].get() != &pair) ++index;
  pair.device_counters = of_device.device_counters + index;
  of_device.supports_values = try_values(pair);
  if (of_device.supports_values) pair.counters = of_device.counters + index;
  return pair.counters;
}

}  // namespace roc::runtime
