// SPDX-License-Identifier: MIT
#include "copy/paths/between_devices.hpp"

#include <algorithm>
#include <exception>
#include <memory>

#include <roc/event.hpp>

#include "kernels/strided_copy.hpp"
#include "copy/staging/staging_pool.hpp"
#include "platform/call.hpp"
#include "runtime/current_device.hpp"
#include "base/error.hpp"
#include "base/options.hpp"
#include "runtime/stream.hpp"
#include "copy/staging/pack.hpp"

namespace roc::transfer {
namespace {

using memory::staging_pool;
using lease_ptr = std::unique_ptr<staging_pool::lease>;

// One of the two devices, and the stream on it.
struct end {
  int device;
  stream_ref stream;
  bool dense;  // its memory is contiguous, and needs no scratch

  lease_ptr take(std::size_t bytes) const {
    if (dense) return nullptr;
    runtime::on_device const guard(device);
    return staging_pool::scratch(staging_pool::holder::behind_work)
        .acquire(bytes, stream, staging_pool::access::stream_order);
  }
};

// Work enqueued on `later` from now on comes after that of `earlier` so far.
void order(end const& earlier, end const& later) {
  event reached = [&] {
    runtime::on_device const guard(earlier.device);
    event made;
    made.record(earlier.stream);
    return made;
  }();
  runtime::on_device const guard(later.device);
  later.stream.wait(reached);
}

void synchronize_quietly(end const& of) noexcept {
  try {
    runtime::on_device const guard(of.device);
    runtime::synchronize_quietly(of.stream);
  } catch (std::exception const& late) {
    base::log(late.what());
  }
}

void copy_piece(layout::canonical_layout const& form, layout::packed_range part, end const& from, end const& to) {
  std::size_t const bytes = part.end - part.begin;
  // In one order, so that copies in opposite directions do not wait for each other's scratch
  // memory.
  bool const from_first = from.device < to.device;
  lease_ptr packed = from_first ? from.take(bytes) : nullptr;
  lease_ptr const arrived = to.take(bytes);
  if (!from_first) packed = from.take(bytes);
  try {
    order(to, from);  // what the bytes are sent to is free
    {
      runtime::on_device const guard(from.device);
      hipStream_t const native = runtime::handle(from.stream);
      if (packed) kernels::gather(form, part, packed->data(), native);
      ROCARRAY_HIP(hipMemcpyAsync, arrived ? arrived->data() : form.destination + part.begin,
              packed ? packed->data() : form.source + part.begin, bytes, hipMemcpyDefault, native);
    }
    order(from, to);
    if (arrived) {
      runtime::on_device const guard(to.device);
      kernels::scatter(form, part, arrived->data(), runtime::handle(to.stream));
    }
  } catch (...) {
    // Scratch memory that goes back now is not to be written any more.
    synchronize_quietly(from);
    synchronize_quietly(to);
    throw;
  }
}

stream make_stream(int device) {
  runtime::on_device const guard(device);
  return stream(non_blocking);
}

}  // namespace

void copy_between_devices(layout::canonical_layout const& form, int from_device, int to_device,
                          stream_ref stream) {
  bool const starts_there = stream.device_ordinal() == from_device;
  // Not one for all copies: what waits for one user's stream must not hold up another's.
  roc::stream const second = make_stream(starts_there ? to_device : from_device);
  end const from{from_device, starts_there ? stream : stream_ref(second),
                 form.is_dense(layout::side::source)};
  end const to{to_device, starts_there ? stream_ref(second) : stream,
               form.is_dense(layout::side::destination)};
  std::size_t const total = form.bytes();
  std::size_t const most = std::min(total, base::options().chunk);
  try {
    for (std::size_t done = 0; done < total; done += most) {
      copy_piece(form, {done, std::min(done + most, total)}, from, to);
    }
    if (starts_there) order(to, from);
  } catch (...) {
    synchronize_quietly(from);
    synchronize_quietly(to);
    throw;
  }
}

}  // namespace roc::transfer
