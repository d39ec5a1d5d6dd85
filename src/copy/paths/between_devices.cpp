// SPDX-License-Identifier: MIT
#include "copy/paths/between_devices.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <roc/event.hpp>

#include "base/options.hpp"
#include "copy/staging/staging_pool.hpp"
#include "copy/stream_on_device.hpp"
#include "kernels/strided_copy.hpp"
#include "platform/call.hpp"
#include "runtime/auxiliary_streams.hpp"
#include "runtime/current_device.hpp"
#include "runtime/default_stream_sync.hpp"

namespace roc::transfer {
namespace {

// Chunks alternate between the slots of the scratch memory of a device: one is sent while the next
// is gathered and the previous one is scattered.
constexpr std::size_t slot_count = 2;

// Internal streams and events of one device, for one copy on `user`. They are not shared with the
// copies of other streams, because work that waits for one user's stream must not delay another
// user's.
class device_streams {
 public:
  // Takes kept streams of `device`; creates streams and events if all of them are in use. Throws
  // roc::error.
  device_streams(int device, stream_ref user) : device_streams(runtime::on_device(device), user) {}

  stream_ref first() const noexcept { return kept_ ? (*kept_).first : stream_ref(created_->first); }
  stream_ref second() const noexcept {
    return kept_ ? (*kept_).second : stream_ref(created_->second);
  }
  event& input_ready() noexcept { return kept_ ? (*kept_).input_ready : created_->input_ready; }
  event& step_done() noexcept { return kept_ ? (*kept_).step_done : created_->step_done; }
  event& slot_free(std::size_t slot) noexcept {
    return kept_ ? (*kept_).slot_free[slot] : created_->slot_free[slot];
  }
  // The event at the end of the copy's work on these streams. After it, copies of other streams may
  // use them.
  event& done() noexcept { return kept_ ? (*kept_).done : created_->done; }
  // Keeps other copies from using kept streams until their work is known to be done. The streams
  // and events must not be used after that.
  void abandon() noexcept { kept_.abandon(); }

 private:
  struct created_streams {
    created_streams() : first(non_blocking), second(non_blocking) {}
    roc::stream first;
    roc::stream second;
    event input_ready;
    event step_done;
    event done;
    std::array<event, slot_count> slot_free;
  };
  static_assert(slot_count <= runtime::auxiliary_streams::max_slots);

  device_streams(runtime::on_device const&, stream_ref user) : kept_(user) {
    if (!kept_) created_.emplace();
  }

  runtime::auxiliary_streams_guard kept_;
  std::optional<created_streams> created_;
};

// One copy. Each chunk is gathered, sent and scattered by work on three streams. A side that is
// contiguous in the linear order needs no scratch memory and no such step.
class chunked_copy {
 public:
  chunked_copy(layout::canonical_layout const& canonical, int from_device, int to_device,
               stream_ref user)
      : canonical_(canonical),
        is_on_source_(user.device_ordinal() == from_device),
        gathers_(!canonical.is_dense(layout::side::source)),
        scatters_(!canonical.is_dense(layout::side::destination)),
        from_(from_device, user),
        to_(to_device, user),
        // The user's stream replaces one internal stream on its own device.
        gathering_{is_on_source_ ? user : from_.first(), from_device},
        sending_{gathers_ ? from_.second() : gathering_.stream, from_device},
        scattering_{is_on_source_ ? to_.first() : user, to_device},
        slot_bytes_(slot_size()) {}

  // Enqueues the copy. If it throws, some of its work may be pending; see synchronize_quietly.
  void enqueue() {
    // Scratch memory is acquired on the lower device first, so that copies in opposite directions
    // cannot wait for each other's.
    bool const from_first = gathering_.device < scattering_.device;
    if (from_first && gathers_) gathered_ = acquire(gathering_);
    if (scatters_) received_ = acquire(scattering_);
    if (!from_first && gathers_) gathered_ = acquire(gathering_);
    begin();
    std::size_t const total = canonical_.bytes();
    std::size_t index = 0;
    for (std::size_t first = 0; first < total; first += slot_bytes_) {
      copy_chunk({first, std::min(first + slot_bytes_, total)}, index++);
    }
    end();
  }

  // Waits for the work of a copy that has failed. Abandons scratch memory and internal streams if
  // their work cannot be awaited.
  void synchronize_quietly() noexcept {
    bool is_idle = true;
    for (stream_on_device const* const used : {&gathering_, &sending_, &scattering_}) {
      is_idle = runtime::synchronize_quietly(used->stream) && is_idle;
    }
    if (is_idle) return;
    for (staging_buffer_ptr* const buffer : {&gathered_, &received_}) {
      if (*buffer) (*buffer)->abandon();
      buffer->reset();  // records an event on streams that others may use after the next lines
    }
    from_.abandon();
    to_.abandon();
  }

 private:
  std::size_t slot_size() const {
    if (!gathers_ && !scatters_) return canonical_.bytes();
    constexpr std::size_t widest_access = 256;
    std::size_t const slot = base::options().chunk_bytes / slot_count;
    return std::max(slot / widest_access, std::size_t{1}) * widest_access;
  }

  // Acquires scratch memory for all slots. Blocks until some is free.
  staging_buffer_ptr acquire(stream_on_device const& user) const {
    runtime::on_device const guard(user.device);
    return staging_pool::device_scratch(staging_pool::device_work)
        .acquire(std::min(slot_count * slot_bytes_, canonical_.bytes()), user.stream,
                 staging_pool::access::stream_ordered);
  }

  // Orders the internal streams after the earlier work of the user's stream. The sends come also
  // after the earlier work of the stream that scatters, which may use the same scratch memory.
  void begin() {
    stream_on_device const& user = is_on_source_ ? gathering_ : scattering_;
    event& ready = is_on_source_ ? from_.input_ready() : to_.input_ready();
    user.record(ready);
    if (is_on_source_) {
      scattering_.wait(ready);
      if (scatters_) {
        scattering_.record(to_.input_ready());
        sending_.wait(to_.input_ready());
      }
    } else {
      gathering_.wait(ready);
    }
    if (gathers_) sending_.wait(ready);
  }

  void copy_chunk(layout::packed_range range, std::size_t index) {
    std::size_t const slot = index % slot_count;
    bool const reuses_slot = index >= slot_count;
    std::size_t const bytes = range.end - range.begin;
    std::byte const* source = canonical_.source + range.begin;
    std::byte* destination = canonical_.destination + range.begin;
    if (gathers_) {
      std::byte* const gathered = gathered_->data() + slot * slot_bytes_;
      if (reuses_slot) gathering_.wait(from_.slot_free(slot));  // the earlier chunk was sent
      {
        runtime::on_device const guard(gathering_.device);
        kernels::gather(canonical_, range, gathered, gathering_.native());
      }
      gathering_.record(from_.step_done());
      sending_.wait(from_.step_done());
      source = gathered;
    }
    if (scatters_) {
      destination = received_->data() + slot * slot_bytes_;
      if (reuses_slot) sending_.wait(to_.slot_free(slot));  // the earlier chunk was scattered
    }
    {
      runtime::on_device const guard(sending_.device);
      // The source may be mapped host memory.
      if (!gathers_ && bytes <= runtime::max_small_upload) {
        runtime::order_small_upload(sending_.stream);
      }
      ROCARRAY_HIP(hipMemcpyAsync, destination, source, bytes, hipMemcpyDefault, sending_.native());
    }
    sending_.record(from_.slot_free(slot));
    if (!scatters_) return;
    scattering_.wait(from_.slot_free(slot));
    {
      runtime::on_device const guard(scattering_.device);
      kernels::scatter(canonical_, range, destination, scattering_.native());
    }
    scattering_.record(to_.slot_free(slot));
  }

  // Orders the user's stream after the copy, and each stream that has scratch memory after the uses
  // of it. Records the events after which other copies may use the internal streams: when the
  // user's stream has reached the end of the copy, they have been reached.
  void end() {
    sending_.record(from_.done());
    scattering_.wait(from_.done());
    scattering_.record(to_.done());
    if (is_on_source_) {
      gathering_.wait(to_.done());
    } else if (gathers_) {
      gathering_.wait(from_.done());
    }
  }

  layout::canonical_layout const& canonical_;
  bool const is_on_source_;  // the user's stream
  bool const gathers_;
  bool const scatters_;
  device_streams from_;
  device_streams to_;
  stream_on_device const gathering_;
  stream_on_device const sending_;     // the same stream if nothing is gathered
  stream_on_device const scattering_;  // waits for the sends if nothing is scattered
  std::size_t const slot_bytes_;
  staging_buffer_ptr gathered_;
  staging_buffer_ptr received_;
};

}  // namespace

void copy_between_devices(layout::canonical_layout const& canonical, int from_device, int to_device,
                          stream_ref stream) {
  chunked_copy copy(canonical, from_device, to_device, stream);
  try {
    copy.enqueue();
  } catch (...) {
    copy.synchronize_quietly();
    throw;
  }
}

}  // namespace roc::transfer
