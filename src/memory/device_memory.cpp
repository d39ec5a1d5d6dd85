// SPDX-License-Identifier: MIT
#include <roc/detail/device_memory.hpp>

#include <roc/error.hpp>

#include "memory/leaks.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/error.hpp"

namespace roc::detail {

device_memory::device_memory(std::size_t bytes, int device)
    : device_(device >= 0 ? device : runtime::current_device()) {
  if (bytes == 0) return;
  runtime::on_device const guard(device_);
  ROC_HIP(hipMalloc, &data_, bytes);
  memory::note_allocation(data_, bytes, "device memory", device_);
}

device_memory::~device_memory() {
  if (data_ == nullptr) return;
  memory::note_free(data_);
  try {
    runtime::on_device const guard(device_);
    // hipFree waits for all work on the device: that is what keeps the memory from being used
    // again too early.
    ROC_HIP(hipFree, data_);
  } catch (error const& late) {
    // At the process's end the runtime may be gone, and the memory with it.
    bool const gone = late.code().value() == static_cast<int>(hipErrorDeinitialized);
    if (!gone) runtime::log(late.what());
  }
}

}  // namespace roc::detail
