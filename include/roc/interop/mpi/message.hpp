// SPDX-License-Identifier: MIT
// Messages between two ranks. Included by roc/interop/mpi.hpp.
//
// The sender sends an envelope with type and shape, by which the receiver finds disagreement before
// data moves. A short message is inline: its elements follow the envelope in one MPI message. The
// elements of a longer one follow in chunks on a second communicator, with a tag that the sender
// chooses and the envelope names, so that no other message can be mistaken for one. Device memory
// that MPI cannot access is copied through pinned memory for a few chunks, and the copy of one
// chunk overlaps the transfer of others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <roc/error.hpp>
#include <roc/host_array.hpp>
#include <roc/interop/mpi/check.hpp>
#include <roc/interop/mpi/error.hpp>
#include <roc/interop/mpi/operand.hpp>
#include <roc/interop/mpi/progress.hpp>
#include <roc/interop/mpi/type.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// The first bytes of every message.
struct mpi_envelope {
  static constexpr std::uint64_t expected_magic = 0x7631'6961'636f'7261;

  std::uint64_t magic;
  std::uint64_t bytes;  // of all elements
  std::uint64_t element_size;
  std::int32_t chunk_tag;  // -1: the elements follow inline
  mpi_kind kind;
  std::uint8_t rank;
  std::array<std::uint8_t, 2> unused;
  std::array<std::uint64_t, array_operand::max_rank> shape;
};
static_assert(std::is_trivially_copyable_v<mpi_envelope>);

/// Where inline elements begin: aligned for vector loads.
inline constexpr std::size_t mpi_inline_offset = 192;
static_assert(sizeof(mpi_envelope) <= mpi_inline_offset);

/// Returns f(), which is called while the operand's device is current if MPI gets device memory:
/// MPI uses the device that is current.
template <class F>
bool with_mpi_device(mpi_state const& state, mpi_operand const& operand, mpi_order const& order,
                     F f) {
  return operand.is_on_device() && state.device_pointers ? order.on_device(f) : f();
}

/// How many chunks of a message are in flight.
inline constexpr std::size_t mpi_chunks_in_flight = 4;

/// The chunks of a message and the memory that they pass through.
class mpi_chunk_ring {
 public:
  struct slot {
    mpi_pending transfer;
    mpi_point copy;
  };

  mpi_chunk_ring(std::size_t bytes, std::size_t chunk_bytes)
      : bytes_(bytes), chunk_bytes_(chunk_bytes) {}

  std::size_t count() const { return (bytes_ + chunk_bytes_ - 1) / chunk_bytes_; }
  std::size_t offset(std::size_t chunk) const { return chunk * chunk_bytes_; }
  std::size_t length(std::size_t chunk) const {
    return std::min(chunk_bytes_, bytes_ - offset(chunk));
  }
  slot& at(std::size_t chunk) { return slots_[chunk % mpi_chunks_in_flight]; }
  /// Returns true if all copies that were recorded have finished. Does not block. Throws the error
  /// of a copy that has failed.
  bool are_copies_done() {
    for (slot& entry : slots_) {
      if (!entry.copy.is_reached()) return false;
    }
    return true;
  }
  /// Returns true if a copy that was recorded has not finished. Does not block. A copy that has
  /// failed counts as finished; are_copies_done throws its error.
  bool has_pending_copy() const noexcept {
    return std::any_of(slots_.begin(), slots_.end(),
                       [](slot const& entry) { return entry.copy.is_pending(); });
  }
  /// Cancels receives. Does not block.
  void cancel() noexcept {
    for (slot& entry : slots_) entry.transfer.cancel();
  }
  /// Blocks until all copies that were recorded have finished, and releases their events.
  void finish_copies() noexcept {
    for (slot& entry : slots_) entry.copy.finish();
  }
  /// Returns true if MPI does not access the memory. Does not block.
  bool is_idle() noexcept {
    return std::all_of(slots_.begin(), slots_.end(),
                       [](slot& entry) { return entry.transfer.is_idle(); });
  }

  /// Allocates the staging memory for chunks of the operand. Throws out_of_memory and roc::error.
  void allocate(mpi_operand const& operand, mpi_order const& order) {
    // A message shorter than a chunk needs no more memory than it has bytes.
    staging_ = mpi_buffer(std::min(bytes_, mpi_chunks_in_flight * chunk_bytes_), order,
                          operand.is_on_device());
    memory_ = staging_.data();
  }
  bool is_staged() const { return memory_ != nullptr; }
  /// Returns the memory of a chunk that MPI accesses; `data` is the first element.
  std::byte* memory(std::size_t chunk, std::byte* data) const {
    return is_staged() ? memory_ + (chunk % mpi_chunks_in_flight) * chunk_bytes_
                       : data + offset(chunk);
  }

 private:
  std::size_t bytes_;
  std::size_t chunk_bytes_;
  host_array<std::byte, 1> staging_;  // destroyed after the requests that use it
  std::byte* memory_ = nullptr;
  std::array<slot, mpi_chunks_in_flight> slots_;
};

/// A message to another rank.
class mpi_send_operation final : public mpi_operation {
 public:
  /// Enqueues the copies that the first MPI message needs. The caller holds the state's lock.
  mpi_send_operation(mpi_state& state, mpi_operand const& operand, int destination, int tag,
                     mpi_order const& order)
      : state_(state),
        operand_(operand),
        order_(order),
        destination_(destination),
        tag_(tag),
        is_inline_(operand.bytes() <= state.inline_bytes),
        ring_(operand.bytes(), state.chunk_bytes) {
    std::size_t const inline_bytes = is_inline_ ? operand.bytes() : 0;
    message_ = mpi_buffer(mpi_inline_offset + inline_bytes, order,
                          operand.is_on_device() && inline_bytes != 0);
    std::byte* const message = message_.data();
    mpi_envelope envelope{};
    envelope.magic = mpi_envelope::expected_magic;
    envelope.bytes = operand.bytes();
    envelope.element_size = operand.element_size;
    envelope.kind = operand.kind;
    envelope.rank = static_cast<std::uint8_t>(operand.rank);
    std::copy(operand.shape.begin(), operand.shape.end(), envelope.shape.begin());
    envelope.chunk_tag = -1;
    if (!is_inline_) {
      envelope.chunk_tag = state.next_chunk_tag;
      state.next_chunk_tag = state.next_chunk_tag == state.largest_tag ? 0 : envelope.chunk_tag + 1;
      packed_.emplace(operand, order);
      if (needs_mpi_staging(state, operand)) ring_.allocate(operand, order);
    }
    chunk_tag_ = envelope.chunk_tag;
    std::memcpy(message, &envelope, sizeof(envelope));  // before work on this memory is pending
    if (packed_) {
      packed_->pack(order);
    } else if (inline_bytes != 0) {
      order.copy_operand(operand_.region(),
                         operand_.compact_region(message + mpi_inline_offset, memory_space::host));
    }
    ready_.record(order);
    status = {destination, tag, operand.count};
  }

  bool is_unsent() const override { return !is_sent_; }
  bool is_waiting_for_device() noexcept override {
    // The earlier message that must be sent before this one waits for the device too.
    if (!is_sent_) return true;
    return !is_inline_ && completed_ == sent_ && (ready_.is_pending() || ring_.has_pending_copy());
  }
  void finish_copies() noexcept override {
    ready_.finish();
    ring_.finish_copies();
    if (packed_) packed_->finish();
  }
  bool is_idle() noexcept override { return envelope_.is_idle() && ring_.is_idle(); }

  bool advance(bool may_start) override {
    return with_mpi_device(state_, operand_, order_, [&] { return advance_now(may_start); });
  }

 private:
  bool advance_now(bool may_start) {
    bool has_advanced = false;
    if (!is_sent_) {
      if (!may_start || (is_inline_ && !ready_.is_reached())) return false;
      int const length = static_cast<int>(mpi_inline_offset + (is_inline_ ? operand_.bytes() : 0));
      check_mpi(MPI_Isend(std::as_const(message_).data(), length, MPI_BYTE, destination_, tag_,
                          state_.messages, envelope_.begin(false)),
                "MPI_Isend");
      is_sent_ = has_advanced = true;
    }
    if (!is_inline_) has_advanced = advance_chunks() || has_advanced;
    is_done = (is_inline_ || completed_ == ring_.count()) && envelope_.test();
    return has_advanced || is_done;
  }

  bool advance_chunks() {
    std::size_t const before = completed_ + copied_ + sent_;
    while (completed_ < sent_ && ring_.at(completed_).transfer.test()) ++completed_;
    std::size_t const limit = std::min(ring_.count(), completed_ + mpi_chunks_in_flight);
    if (!ring_.is_staged()) {
      if (ready_.is_reached()) copied_ = limit;
    }
    for (; ring_.is_staged() && copied_ < limit; ++copied_) {
      packed_->copy_part(1, ring_.offset(copied_), ring_.length(copied_),
                         ring_.memory(copied_, packed_->data()), true, order_);
      ring_.at(copied_).copy.record(order_);
    }
    for (; sent_ < copied_ && ring_.at(sent_).copy.is_reached(); ++sent_) {
      check_mpi(MPI_Isend(ring_.memory(sent_, packed_->data()),
                          static_cast<int>(ring_.length(sent_)), MPI_BYTE, destination_, chunk_tag_,
                          state_.chunks, ring_.at(sent_).transfer.begin(false)),
                "MPI_Isend");
    }
    return completed_ + copied_ + sent_ != before;
  }

  mpi_state& state_;
  mpi_operand operand_;
  mpi_order order_;
  int destination_;
  int tag_;
  int chunk_tag_ = -1;
  bool is_inline_;
  bool is_sent_ = false;
  host_array<std::byte, 1> message_;
  mpi_pending envelope_;
  mpi_point ready_;  // the copies of the constructor, and the work before them
  std::optional<mpi_packed> packed_;
  mpi_chunk_ring ring_;
  // The numbers of chunks whose copies are enqueued, that were passed to MPI, and that MPI has
  // sent.
  std::size_t copied_ = 0;
  std::size_t sent_ = 0;
  std::size_t completed_ = 0;
};

/// A message from another rank.
class mpi_receive_operation final : public mpi_operation {
 public:
  /// Allocates all memory and begins to receive the envelope. The caller holds the state's lock.
  mpi_receive_operation(mpi_state& state, mpi_operand const& operand, int source, int tag,
                        mpi_order const& order)
      : state_(state), operand_(operand), order_(order), ring_(operand.bytes(), state.chunk_bytes) {
    if (operand.bytes() > state.inline_bytes) {
      packed_.emplace(operand, order);
      if (needs_mpi_staging(state, operand)) ring_.allocate(operand, order);
    }
    std::size_t const length = mpi_inline_offset + state.inline_bytes;
    message_ = mpi_buffer(length, order, operand.is_on_device() && !packed_);
    ready_.record(order);
    check_mpi(MPI_Irecv(message_.data(), static_cast<int>(length), MPI_BYTE, source, tag,
                        state.messages, envelope_.begin(true)),
              "MPI_Irecv");
  }

  bool advance(bool) override {
    return with_mpi_device(state_, operand_, order_, [&] { return advance_now(); });
  }
  bool is_waiting_for_device() noexcept override {
    if (has_enqueued_all_) return true;
    return has_envelope_ && discarded_bytes_ == 0 && begun_ == arrived_ &&
           (ring_.is_staged() ? ring_.has_pending_copy() : ready_.is_pending());
  }
  void cancel() noexcept override {
    envelope_.cancel();
    discarded_transfer_.cancel();
    ring_.cancel();
  }
  void finish_copies() noexcept override {
    ready_.reset();  // work that the program has enqueued before
    ring_.finish_copies();
    if (packed_) packed_->finish();
  }
  bool is_idle() noexcept override {
    return envelope_.is_idle() && discarded_transfer_.is_idle() && ring_.is_idle();
  }

 private:
  bool advance_now() {
    if (has_enqueued_all_) return is_done = are_copies_done();
    if (!has_envelope_) {
      MPI_Status received;
      if (!envelope_.test(&received)) return false;
      has_envelope_ = true;
      open(received);
      return true;
    }
    return discarded_bytes_ != 0 ? advance_discarded() : advance_chunks();
  }

  /// Reads the envelope. Enqueues the copy of inline elements.
  void open(MPI_Status const& received) {
    int length = 0;
    check_mpi(MPI_Get_count(&received, MPI_BYTE, &length), "MPI_Get_count");
    std::byte const* const message = std::as_const(message_).data();
    if (static_cast<std::size_t>(length) >= mpi_inline_offset) {
      std::memcpy(&sent_, message, sizeof(sent_));
    }
    if (sent_.magic != mpi_envelope::expected_magic) {
      throw mpi_error("a message of " + std::to_string(length) +
                      " bytes has no envelope of this library; send it by roc::mpi_communicator");
    }
    status = {received.MPI_SOURCE, received.MPI_TAG,
              static_cast<std::size_t>(sent_.bytes / sent_.element_size)};
    try {
      check();
    } catch (...) {
      if (sent_.chunk_tag < 0) throw;
      // The sender completes even if nobody wants its chunks.
      mismatch_ = std::current_exception();
      discarded_bytes_ = sent_.bytes;
      discarded_ = std::make_unique_for_overwrite<std::byte[]>(
          std::min<std::size_t>(sent_.bytes, state_.chunk_bytes));
      return;
    }
    if (sent_.chunk_tag >= 0) return;
    if (operand_.count != 0) {
      order_.copy(operand_.compact_region(const_cast<std::byte*>(message) + mpi_inline_offset,
                                          memory_space::host),
                  operand_.region());
      ring_.at(0).copy.record(order_);
    }
    has_enqueued_all_ = true;
    is_done = are_copies_done();
  }

  /// Returns true if the copies from the message, the staging memory and the scratch memory have
  /// finished.
  bool are_copies_done() { return ring_.are_copies_done() && (!packed_ || packed_->is_unpacked()); }

  /// Throws mpi_error if the element types differ, and shape_error if the shapes do. An array of
  /// rank 1 matches one of any rank.
  void check() const {
    if (sent_.element_size != operand_.element_size || sent_.kind != operand_.kind) {
      throw mpi_error("rank " + std::to_string(status.source) + " sent elements of type " +
                      mpi_type_name(sent_.kind, sent_.element_size) + ", requested " +
                      mpi_type_name(operand_.kind, operand_.element_size) +
                      "; receive the type that is sent");
    }
    bool const is_flat = sent_.rank == 1 || operand_.rank == 1;
    if (is_flat ? sent_.bytes == operand_.bytes()
                : sent_.rank == operand_.rank &&
                      std::equal(sent_.shape.begin(), sent_.shape.end(), operand_.shape.begin())) {
      return;
    }
    std::array<std::size_t, array_operand::max_rank> shape{};
    std::copy(sent_.shape.begin(), sent_.shape.end(), shape.begin());
    throw shape_error("incompatible shape: rank " + std::to_string(status.source) + " sent " +
                      mpi_operand::text_of(shape, sent_.rank) + ", receiving array " +
                      operand_.shape_text() + "; receive the shape that is sent");
  }

  bool advance_chunks() {
    std::size_t const before = begun_ + arrived_ + free_;
    if (!ring_.is_staged() && !ready_.is_reached()) return false;
    std::byte* const data = packed_->data();
    while (free_ < arrived_ && ring_.at(free_).copy.is_reached()) ++free_;
    std::size_t const limit = std::min(ring_.count(), free_ + mpi_chunks_in_flight);
    for (; begun_ < limit; ++begun_) {
      receive_chunk(ring_.memory(begun_, data), ring_.length(begun_), ring_.at(begun_).transfer);
    }
    for (; arrived_ < begun_ && ring_.at(arrived_).transfer.test(); ++arrived_) {
      if (!ring_.is_staged()) continue;
      packed_->copy_part(1, ring_.offset(arrived_), ring_.length(arrived_),
                         ring_.memory(arrived_, data), false, order_);
      ring_.at(arrived_).copy.record(order_);
    }
    if (arrived_ == ring_.count()) {
      packed_->unpack(order_);
      has_enqueued_all_ = true;
      is_done = are_copies_done();
    }
    return is_done || begun_ + arrived_ + free_ != before;
  }

  /// Receives and drops the chunks of a message that does not fit.
  bool advance_discarded() {
    if (!discarded_transfer_.test()) return false;
    if (begun_ * state_.chunk_bytes >= discarded_bytes_) std::rethrow_exception(mismatch_);
    std::size_t const length =
        std::min(state_.chunk_bytes, discarded_bytes_ - begun_ * state_.chunk_bytes);
    receive_chunk(discarded_.get(), length, discarded_transfer_);
    ++begun_;
    return true;
  }

  void receive_chunk(std::byte* memory, std::size_t length, mpi_pending& transfer) {
    check_mpi(MPI_Irecv(memory, static_cast<int>(length), MPI_BYTE, status.source, sent_.chunk_tag,
                        state_.chunks, transfer.begin(true)),
              "MPI_Irecv");
  }

  mpi_state& state_;
  mpi_operand operand_;
  mpi_order order_;
  std::optional<mpi_packed> packed_;  // of a message in chunks
  host_array<std::byte, 1> message_;
  mpi_pending envelope_;
  bool has_envelope_ = false;
  bool has_enqueued_all_ = false;  // the copies of all elements
  mpi_envelope sent_{};
  mpi_point ready_;  // the work before the call, which may still use the memory
  mpi_chunk_ring ring_;
  // The numbers of chunks passed to MPI, that have arrived, and whose staging memory is free again.
  std::size_t begun_ = 0;
  std::size_t arrived_ = 0;
  std::size_t free_ = 0;
  std::exception_ptr mismatch_;
  std::size_t discarded_bytes_ = 0;
  std::unique_ptr<std::byte[]> discarded_;
  mpi_pending discarded_transfer_;
};

/// A message to or from MPI_PROC_NULL.
class mpi_no_operation final : public mpi_operation {
 public:
  bool advance(bool) override { return is_done = true; }
};

/// Allocates the memory of a message to another rank, and enqueues its first copies. The caller
/// holds the state's lock, and adds the operation. Throws as copies do.
inline std::shared_ptr<mpi_operation> make_mpi_send_locked(mpi_state& state,
                                                           mpi_operand const& from, int destination,
                                                           int tag, mpi_order const& order) {
  if (destination == MPI_PROC_NULL) return std::make_shared<mpi_no_operation>();
  return std::make_shared<mpi_send_operation>(state, from, destination, tag, order);
}
/// Allocates the memory of a message from another rank, and begins to receive its envelope. The
/// caller holds the state's lock, and adds the operation. Throws mpi_error, and as copies do.
inline std::shared_ptr<mpi_operation> make_mpi_receive_locked(mpi_state& state,
                                                              mpi_operand const& to, int source,
                                                              int tag, mpi_order const& order) {
  if (source == MPI_PROC_NULL) return std::make_shared<mpi_no_operation>();
  return std::make_shared<mpi_receive_operation>(state, to, source, tag, order);
}

/// Begins to send. Throws as mpi_communicator::isend.
inline std::shared_ptr<mpi_operation> begin_mpi_send(mpi_state& state, mpi_operand const& from,
                                                     int destination, int tag,
                                                     stream_ref const* stream) {
  check_mpi_peer(state, destination, false, tag);
  mpi_order const order = mpi_order(stream).of(from);
  auto const held = state.lock();
  auto operation = make_mpi_send_locked(state, from, destination, tag, order);
  state.add_locked(operation);
  return operation;
}
/// Begins to receive. Throws as mpi_communicator::ireceive.
inline std::shared_ptr<mpi_operation> begin_mpi_receive(mpi_state& state, mpi_operand const& to,
                                                        int source, int tag,
                                                        stream_ref const* stream) {
  check_mpi_peer(state, source, true, tag);
  mpi_order const order = mpi_order(stream).of(to);
  auto const held = state.lock();
  auto operation = make_mpi_receive_locked(state, to, source, tag, order);
  state.add_locked(operation);
  return operation;
}

/// A message in each direction.
struct mpi_exchange {
  std::shared_ptr<mpi_operation> received;
  std::shared_ptr<mpi_operation> sent;
};

/// Begins to send and to receive. Throws as mpi_communicator::sendrecv; nothing is pending then.
inline mpi_exchange begin_mpi_exchange(mpi_state& state, mpi_operand const& from, int destination,
                                       mpi_operand const& to, int source, int tag,
                                       stream_ref const* stream) {
  check_mpi_peer(state, destination, false, tag);
  check_mpi_peer(state, source, true, tag);
  check_disjoint(from, to);
  mpi_order const order(stream);
  mpi_order const from_order = order.of(from);
  mpi_order const to_order = order.of(to);
  auto const held = state.lock();
  state.pending.reserve(state.pending.size() + 2);
  mpi_exchange result;
  // The one that receives is made last: it is the one that MPI accesses from here on.
  result.sent = make_mpi_send_locked(state, from, destination, tag, from_order);
  result.received = make_mpi_receive_locked(state, to, source, tag, to_order);
  state.add_locked(result.received);
  state.add_locked(result.sent);
  return result;
}

}  // namespace roc::detail
