// SPDX-License-Identifier: MIT
#include "copy/paths/between_devices.hpp"

#include <algorithm>

#include <roc/event.hpp>

#include "base/options.hpp"
#include "copy/staging/staging_pool.hpp"
#include "kernels/strided_copy.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "runtime/stream_handle.hpp"

namespace roc::transfer {
namespace {

// One of the two devices, and the stream on which its work is enqueued.
struct endpoint {
  int device;
  stream_ref stream;
  bool is_dense;  // this side is contiguous in the linear order, so it needs no scratch memory

  // Returns scratch memory on the device, or null if this side needs none. Blocks until some is
  // free.
  staging_buffer_ptr acquire_scratch(std::size_t bytes) const {
    if (is_dense) return nullptr;
    runtime::on_device const guard(device);
    return staging_pool::device_scratch(staging_pool::client::user_stream)
        .acquire(bytes, stream, staging_pool::access::stream_ordered);
  }
};

// Makes work enqueued on `later` from now on wait for the work enqueued on `earlier` so far.
void order(endpoint const& earlier, endpoint const& later) {
  event const reached = [&] {
    runtime::on_device const guard(earlier.device);
    event recorded;
    recorded.record(earlier.stream);
    return recorded;
  }();
  runtime::on_device const guard(later.device);
  later.stream.wait(reached);
}

// Enqueues the bytes `range` of the copy. Blocks until scratch memory is free. If it throws, some
// of its work may be pending on either stream.
void copy_chunk(layout::canonical_layout const& canonical, layout::packed_range range,
                endpoint const& from, endpoint const& to) {
  std::size_t const bytes = range.end - range.begin;
  // Scratch memory is acquired on the lower device first, so that copies in opposite directions
  // cannot wait for each other's scratch memory.
  bool const from_first = from.device < to.device;
  staging_buffer_ptr gathered = from_first ? from.acquire_scratch(bytes) : nullptr;
  staging_buffer_ptr received = to.acquire_scratch(bytes);
  if (!from_first) gathered = from.acquire_scratch(bytes);
  try {
    order(to, from);  // earlier work on the destination's stream is done with the memory sent to
    {
      runtime::on_device const guard(from.device);
      hipStream_t const native = runtime::handle(from.stream);
      if (gathered) kernels::gather(canonical, range, gathered->data(), native);
      ROCARRAY_HIP(hipMemcpyAsync,
                   received ? received->data() : canonical.destination + range.begin,
                   gathered ? gathered->data() : canonical.source + range.begin, bytes,
                   hipMemcpyDefault, native);
    }
    order(from, to);
    if (received) {
      runtime::on_device const guard(to.device);
      kernels::scatter(canonical, range, received->data(), runtime::handle(to.stream));
    }
  } catch (...) {
    // No pending work may still use the scratch memory when it is released.
    bool const is_from_idle = runtime::synchronize_quietly(from.stream);
    if (!runtime::synchronize_quietly(to.stream) || !is_from_idle) {
      if (gathered) gathered->abandon();
      if (received) received->abandon();
    }
    throw;
  }
}

// Creates a non-blocking stream on `device`.
stream make_stream(int device) {
  runtime::on_device const guard(device);
  return stream(non_blocking);
}

}  // namespace

void copy_between_devices(layout::canonical_layout const& canonical, int from_device, int to_device,
                          stream_ref stream) {
  bool const is_on_source = stream.device_ordinal() == from_device;
  // Each copy creates its second stream, because work that waits for one user's stream must not
  // delay the copies of another.
  roc::stream const second = make_stream(is_on_source ? to_device : from_device);
  endpoint const from{from_device, is_on_source ? stream : stream_ref(second),
                      canonical.is_dense(layout::side::source)};
  endpoint const to{to_device, is_on_source ? stream_ref(second) : stream,
                    canonical.is_dense(layout::side::destination)};
  std::size_t const total = canonical.bytes();
  std::size_t const chunk = std::min(total, base::options().chunk_bytes);
  try {
    for (std::size_t begin = 0; begin < total; begin += chunk) {
      copy_chunk(canonical, {begin, std::min(begin + chunk, total)}, from, to);
    }
    if (is_on_source) order(to, from);
  } catch (...) {
    runtime::synchronize_quietly(from.stream);
    runtime::synchronize_quietly(to.stream);
    throw;
  }
}

}  // namespace roc::transfer
