// SPDX-License-Identifier: MIT
// Stream memory operations: waits for values in memory, and writes of values.
#include <cstddef>
#include <cstdint>

#include "platform/host/access_checker.hpp"
#include "platform/host/api_call.hpp"
#include "platform/host/located_memory.hpp"
#include "platform/host/scheduler.hpp"
#include "platform/host/settings.hpp"

namespace roc::host_hip {
namespace {

// Returns the address at which operations access a number that devices can access. Returns null if
// there is no such memory, or the number is not aligned.
std::uint64_t* number_at(void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(std::uint64_t) != 0) return nullptr;
  located_memory const memory = locate(static_cast<std::byte*>(address), sizeof(std::uint64_t));
  return memory.on_device() ? reinterpret_cast<std::uint64_t*>(memory.data) : nullptr;
}

// Returns the condition of a wait. CUDA compares in a cycle and has no masks.
awaited_value make_condition(std::uint64_t* number, std::uint64_t value, unsigned flags,
                             std::uint64_t mask) {
  awaited_value result;
  result.address = number;
  result.value = value;
  result.is_cyclic = !emulates_rocm();
  if (emulates_rocm()) result.mask = mask;
  switch (flags) {
    case hipStreamWaitValueGte:
      result.compares = awaited_value::comparison::greater_or_equal;
      break;
    case hipStreamWaitValueEq: result.compares = awaited_value::comparison::equal; break;
    case hipStreamWaitValueAnd: result.compares = awaited_value::comparison::has_common_bit; break;
    default: result.compares = awaited_value::comparison::lacks_bit; break;
  }
  return result;
}

}  // namespace
}  // namespace roc::host_hip

ROCARRAY_HOST_API_BEGIN

ROCARRAY_HOST_API hipError_t hipStreamWaitValue64(hipStream_t stream, void* address,
                                                  std::uint64_t value, unsigned flags,
                                                  std::uint64_t mask) {
  return api_call("hipStreamWaitValue64", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    std::uint64_t* const number = number_at(address);
    if (number == nullptr || flags > hipStreamWaitValueNor) return hipErrorInvalidValue;
    scheduler::instance().submit_wait(target, make_condition(number, value, flags, mask),
                                      track_work("wait for a value", stream));
    return hipSuccess;
  });
}

ROCARRAY_HOST_API hipError_t hipStreamWriteValue64(hipStream_t stream, void* address,
                                                   std::uint64_t value, unsigned) {
  return api_call("hipStreamWriteValue64", [=] {
    auto const target = scheduler::instance().find_stream(stream);
    if (target == nullptr) return hipErrorInvalidHandle;
    std::uint64_t* const number = number_at(address);
    if (number == nullptr) return hipErrorInvalidValue;
    scheduler::instance().submit_write(target, number, value,
                                       track_work("write of a value", stream));
    return hipSuccess;
  });
}

ROCARRAY_HOST_API_END
