// SPDX-License-Identifier: MIT
#include "copy/paths/between_devices.hpp"

#include <algorithm>
#include <optional>

#include <roc/event.hpp>

#include "base/options.hpp"
#include "copy/staging/staging_pool.hpp"
#include "kernels/strided_copy.hpp"
#include "platform/call.hpp"
#include "runtime/auxiliary_streams.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_handle.hpp"
#include "runtime/stream_id.hpp"

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
  runtime::stream_id const later_id = runtime::stream_id_of(later.stream, later.device);
  runtime::stream_id const earlier_id = runtime::stream_id_of(earlier.stream, earlier.device);
  runtime::order_after(later_id, earlier_id);
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
      // The source may be mapped host memory.
      if (!gathered && bytes <= runtime::max_small_upload) runtime::order_small_upload(from.stream);
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

// The stream on the other device for one copy on `user`. It is not shared with the copies of other
// streams, because work that waits for one user's stream must not delay another user's.
class second_stream {
 public:
  // Takes a kept stream on `device`; creates one if all of them are in use. Throws roc::error.
  second_stream(int device, stream_ref user) : second_stream(runtime::on_device(device), user) {}

  stream_ref get() const noexcept { return kept_ ? (*kept_).first : stream_ref(created_->stream); }
  // The event at the end of the copy, on this stream. After it, copies of other streams may use the
  // stream.
  event& done() noexcept { return kept_ ? (*kept_).done : created_->done; }

 private:
  struct created_stream {
    created_stream() : stream(non_blocking) {}
    roc::stream stream;
    event done;
  };

  second_stream(runtime::on_device const&, stream_ref user) : kept_(user) {
    if (!kept_) created_.emplace();
  }

  runtime::auxiliary_streams_guard kept_;
  std::optional<created_stream> created_;
};

}  // namespace

void copy_between_devices(layout::canonical_layout const& canonical, int from_device, int to_device,
                          stream_ref stream) {
  bool const is_on_source = stream.device_ordinal() == from_device;
  second_stream second(is_on_source ? to_device : from_device, stream);
  endpoint const from{from_device, is_on_source ? stream : second.get(),
                      canonical.is_dense(layout::side::source)};
  endpoint const to{to_device, is_on_source ? second.get() : stream,
                    canonical.is_dense(layout::side::destination)};
  std::size_t const total = canonical.bytes();
  std::size_t const chunk = std::min(total, base::options().chunk_bytes);
  try {
    for (std::size_t begin = 0; begin < total; begin += chunk) {
      copy_chunk(canonical, {begin, std::min(begin + chunk, total)}, from, to);
    }
    {
      runtime::on_device const guard(is_on_source ? to_device : from_device);
      second.done().record(second.get());
    }
    int const device = is_on_source ? from_device : to_device;
    runtime::wait(runtime::stream_id_of(stream, device), second.done());
  } catch (...) {
    runtime::synchronize_quietly(from.stream);
    runtime::synchronize_quietly(to.stream);
    throw;
  }
}

}  // namespace roc::transfer
