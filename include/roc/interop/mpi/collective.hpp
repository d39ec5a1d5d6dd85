// SPDX-License-Identifier: MIT
// Collective operations. Included by roc/interop/mpi.hpp.
//
// First all ranks compare their arguments by one small reduction, so that disagreement is an error
// in every rank before data moves. If then MPI can access the device memory of all ranks, one
// blocking call for each chunk does the rest: some MPIs take no device memory in non-blocking
// reductions. Otherwise the calls are non-blocking, and those of host memory and of pinned memory
// match: the copies of a chunk overlap the transfer of others.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <roc/error.hpp>
#include <roc/host_array.hpp>
#include <roc/interop/mpi/error.hpp>
#include <roc/interop/mpi/operand.hpp>
#include <roc/interop/mpi/progress.hpp>
#include <roc/interop/mpi/type.hpp>

namespace roc::detail {

enum class mpi_collective_kind : std::uint8_t {
  broadcast,
  gather,
  scatter,
  all_reduce,
  all_to_all
};

/// Returns a number that is equal in all ranks for MPI's predefined operations; 0 for others.
inline std::uint64_t mpi_operation_number(MPI_Op operation) {
  MPI_Op const predefined[] = {MPI_SUM, MPI_PROD, MPI_MAX,  MPI_MIN, MPI_LAND,
                               MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  for (std::size_t i = 0; i < std::size(predefined); ++i) {
    if (operation == predefined[i]) return i + 1;
  }
  return 0;
}

/// What all ranks of a collective operation must agree on.
struct mpi_agreement {
  mpi_collective_kind collective;
  int root;
  mpi_operand block;  // what each rank contributes or gets; only type and shape are compared
  std::uint64_t operation;
};

/// How many chunks of a collective operation are in flight.
inline constexpr std::size_t mpi_collective_in_flight = 2;

/// Memory of a collective operation: equal blocks, one for each rank or a single one.
struct mpi_collective_side {
  mpi_order order;  // of the copies of this memory
  mpi_packed packed;
  std::size_t blocks;
  bool is_mpi_input;  // false also for a source that was copied to the destination
  bool is_written;
  host_array<std::byte, 1> staging{};
  std::byte* memory = nullptr;  // the staging memory, if there is any
  mpi_point ready{};            // the packed elements, and the work before the operation
  std::array<mpi_point, mpi_collective_in_flight> copies{};  // of chunks to or from staging memory

  /// @param side_order order of the operand
  mpi_collective_side(mpi_operand const& operand, std::size_t block_count, bool reads, bool writes,
                      mpi_order const& side_order)
      : order(side_order),
        packed(operand, side_order),
        blocks(block_count),
        is_mpi_input(reads),
        is_written(writes) {}

  std::size_t block_bytes() const { return packed.operand().bytes() / blocks; }
  bool is_on_device() const { return packed.operand().is_on_device(); }
  void allocate(std::size_t bytes) {
    staging = mpi_buffer(bytes, order, is_on_device());
    memory = staging.data();
  }
  /// Returns true if copies, or the work before the operation, have not finished. Does not block.
  bool has_pending_work() const noexcept {
    return ready.is_pending() || std::any_of(copies.begin(), copies.end(),
                                             [](auto const& copy) { return copy.is_pending(); });
  }
  /// Blocks until all copies have finished, and releases the device memory and the events.
  void finish_copies() noexcept {
    ready.finish();
    for (mpi_point& copy : copies) copy.finish();
    packed.finish();
  }
};

/// The memory of one chunk in one call of MPI: `count` elements of `type` for each block.
struct mpi_chunk_memory {
  std::byte* data = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

/// A datatype of the given bytes of each block, which are `stride` bytes apart. Freed at the end of
/// the scope; MPI keeps it until the operations that use it have finished.
class mpi_block_type {
 public:
  mpi_block_type(int length, std::size_t stride) {
    MPI_Datatype row = MPI_DATATYPE_NULL;
    check_mpi(MPI_Type_contiguous(length, MPI_BYTE, &row), "MPI_Type_contiguous");
    int const code = MPI_Type_create_resized(row, 0, static_cast<MPI_Aint>(stride), &type_);
    MPI_Type_free(&row);
    check_mpi(code, "MPI_Type_create_resized");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  mpi_block_type(mpi_block_type const&) = delete;
  mpi_block_type& operator=(mpi_block_type const&) = delete;
  ~mpi_block_type() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// A collective operation in chunks of each block.
class mpi_collective_operation final : public mpi_operation {
 public:
  /// Calls MPI for one chunk: a blocking function if `request` is null. Returns MPI's code.
  using call = std::function<int(mpi_chunk_memory const& from, mpi_chunk_memory const& to,
                                 MPI_Request* request)>;

  /// @param reduced datatype of a reduction, of which chunks are whole elements; else null
  mpi_collective_operation(mpi_state& state, mpi_agreement const& agreement, mpi_order const& order,
                           MPI_Datatype reduced, call function, char const* call_name)
      : state_(state),
        order_(order),
        agreement_(agreement),
        reduced_(reduced),
        function_(std::move(function)),
        call_name_(call_name),
        block_bytes_(agreement.block.bytes()) {
    auto const ranks =
        static_cast<std::size_t>(agreement.collective == mpi_collective_kind::broadcast ||
                                         agreement.collective == mpi_collective_kind::all_reduce
                                     ? 1
                                     : state.size);
    std::size_t const unit = reduced == MPI_DATATYPE_NULL ? 1 : agreement.block.element_size;
    chunk_bytes_ = std::max(state.chunk_bytes / ranks / unit, std::size_t{1}) * unit;
  }

  /// Adds memory of this rank. Throws out_of_memory and roc::error.
  void add(std::optional<mpi_collective_side>& side, mpi_operand const& operand, std::size_t blocks,
           bool is_read, bool is_written) {
    mpi_order const order = order_.of(operand);
    if (operand.count == 0) return;
    side.emplace(operand, blocks, is_read, is_written, order);
    if (needs_mpi_staging(state_, operand)) allocate(*side);
  }
  void add_source(mpi_operand const& operand, std::size_t blocks) {
    add(from_, operand, blocks, true, false);
  }
  void add_destination(mpi_operand const& operand, std::size_t blocks, bool is_read = false,
                       bool is_written = true) {
    add(to_, operand, blocks, is_read, is_written);
  }
  /// Enqueues the copies to scratch memory, after add_source and add_destination. Throws as copies
  /// do.
  void pack() {
    for (auto* const side : {&from_, &to_}) {
      if (!*side) continue;
      if ((*side)->is_mpi_input) (*side)->packed.pack((*side)->order);
      (*side)->ready.record((*side)->order);
    }
  }
  /// Begins to compare the ranks' arguments. The caller holds the state's lock.
  /// @param invalid the error of this rank's arguments, which the other ranks are told of, or null
  void begin(std::exception_ptr invalid) {
    invalid_ = std::move(invalid);
    mpi_operand const& block = agreement_.block;
    std::array<std::uint64_t, compared> words{};
    words[0] = static_cast<std::uint64_t>(agreement_.collective);
    words[1] = static_cast<std::uint64_t>(agreement_.root);
    words[2] = agreement_.operation;
    words[3] = static_cast<std::uint64_t>(block.kind);
    words[4] = block.element_size;
    words[5] = block.rank;
    std::copy(block.shape.begin(), block.shape.end(), words.begin() + 6);
    bool const can_be_direct = state_.device_pointers && is_all_on_one_device();
    bool const is_reduction = agreement_.collective == mpi_collective_kind::all_reduce;
    for (std::size_t i = 0; i < compared; ++i) {
      // Ranks with invalid arguments have nothing to compare.
      sent_[i] = invalid_ ? 0 : words[i];
      sent_[compared + i] = invalid_ ? 0 : ~words[i];
    }
    sent_[2 * compared] = invalid_ ? 1 : 0;
    sent_[2 * compared + 1] = can_be_direct ? 0 : 1;
    sent_[2 * compared + 2] = is_reduction && from_ ? 1 : 0;
    sent_[2 * compared + 3] = is_reduction && to_ && !from_ ? 1 : 0;
    check_mpi(MPI_Iallreduce(sent_.data(), agreed_.data(), static_cast<int>(sent_.size()),
                             MPI_UINT64_T, MPI_MAX, state_.messages, comparison_.begin(false)),
              "MPI_Iallreduce");
  }

  bool advance(bool) override {
    if (!has_agreed_) {
      if (!comparison_.test()) return false;
      check_agreement();
      has_agreed_ = true;
      is_direct_ = agreed_[2 * compared + 1] == 0;
      for (auto* const side : {&from_, &to_}) {
        // Another rank cannot access the device, so this one must not use a blocking call.
        if (!is_direct_ && *side && (*side)->is_on_device() && (*side)->memory == nullptr) {
          allocate(**side);
        }
      }
      // MPI_IN_PLACE must be passed in all ranks or in none.
      is_mixed_ = agreed_[2 * compared + 2] != 0 && agreed_[2 * compared + 3] != 0;
      if (is_mixed_ && from_) copy_source_to_destination();
      return true;
    }
    std::size_t const chunks = (block_bytes_ + chunk_bytes_ - 1) / chunk_bytes_;
    bool const has_advanced = is_direct_ ? call_direct(chunks) : advance_chunks(chunks);
    if (freed_ < chunks) return has_advanced;
    if (!is_unpacked_ && to_ && to_->is_written) to_->packed.unpack(to_->order);
    is_unpacked_ = true;
    return is_done = !to_ || to_->packed.is_unpacked();
  }
  bool is_collective() const override { return true; }
  bool has_begun_collective() const override { return has_agreed_; }
  bool is_waiting_for_device() noexcept override {
    if (!has_agreed_ || begun_ != arrived_) return false;
    return is_unpacked_ || (from_ && from_->has_pending_work()) || (to_ && to_->has_pending_work());
  }
  void finish_copies() noexcept override {
    for (auto* const side : {&from_, &to_}) {
      if (*side) (*side)->finish_copies();
    }
  }
  bool is_idle() noexcept override {
    return comparison_.is_idle() && std::all_of(transfers_.begin(), transfers_.end(),
                                                [](auto& entry) { return entry.is_idle(); });
  }

 private:
  // Words that must be equal: six numbers and the extents.
  static constexpr std::size_t compared = 6 + array_operand::max_rank;
  static constexpr std::size_t in_flight = mpi_collective_in_flight;

  bool is_all_on_one_device() const {
    if ((from_ && !from_->is_on_device()) || (to_ && !to_->is_on_device())) return false;
    return !from_ || !to_ || from_->order.device() == to_->order.device();
  }
  /// Copies the source to the destination, so that this rank reduces in place as some other rank
  /// does. The source stays allocated, because its scratch memory may still be written.
  void copy_source_to_destination() {
    mpi_operand const& source = from_->packed.operand();
    mpi_operand const& destination = to_->packed.operand();
    mpi_order const& order = destination.is_on_device() ? to_->order : from_->order;
    order.copy_operand(source.region(),
                       destination.compact_region(to_->packed.data(), destination.space));
    to_->ready.reset();  // its event belongs to the device of the destination's order
    to_->ready.record(order);
    to_->is_mpi_input = true;
    from_->is_mpi_input = false;
  }
  void allocate(mpi_collective_side& side) {
    side.allocate(in_flight * side.blocks * std::min(chunk_bytes_, block_bytes_));
  }
  std::size_t length(std::size_t chunk) const {
    return std::min(chunk_bytes_, block_bytes_ - chunk * chunk_bytes_);
  }

  /// Throws this rank's error, or mpi_error or shape_error if ranks disagree.
  void check_agreement() const {
    if (invalid_) std::rethrow_exception(invalid_);
    if (agreed_[2 * compared] != 0) {
      throw mpi_error(
          "another rank called this operation with invalid arguments; its error has the reason");
    }
    auto const differs = [&](std::size_t word) {
      return agreed_[word] != ~agreed_[compared + word];
    };
    if (differs(0)) {
      throw mpi_error(
          "ranks called different collective operations; call them in the same order in all ranks");
    }
    if (differs(1))
      throw mpi_error("ranks passed different roots; pass the same root in all ranks");
    if (differs(2)) {
      throw mpi_error("ranks passed different MPI_Op; pass the same operation in all ranks");
    }
    if (differs(3) || differs(4)) {
      throw mpi_error("ranks passed different element types, this rank " +
                      mpi_type_name(agreement_.block.kind, agreement_.block.element_size) +
                      "; pass the same type in all ranks");
    }
    for (std::size_t word = 5; word < compared; ++word) {
      if (!differs(word)) continue;
      throw shape_error("incompatible shape: ranks passed different shapes, this rank " +
                        agreement_.block.shape_text() + "; pass the same shape in all ranks");
    }
  }

  /// Calls `f` with the memory of a chunk on both sides. A side without staging memory has its
  /// blocks at a distance.
  template <class F>
  void with_memory(std::size_t chunk, F f) const {
    std::optional<mpi_block_type> types[2];
    mpi_chunk_memory memory[2];
    bool const has_source = from_ && from_->is_mpi_input;
    mpi_collective_side const* const sides[2] = {has_source ? &*from_ : nullptr,
                                                 to_ ? &*to_ : nullptr};
    int const bytes = static_cast<int>(length(chunk));
    for (int i = 0; i < 2; ++i) {
      if (sides[i] == nullptr) continue;
      mpi_collective_side const& side = *sides[i];
      bool const is_staged = side.memory != nullptr && !is_direct_;
      memory[i].data = is_staged ? staged(side, chunk) : side.packed.data() + chunk * chunk_bytes_;
      memory[i].count = bytes;
      if (reduced_ != MPI_DATATYPE_NULL) {
        memory[i].type = reduced_;
        memory[i].count = bytes / static_cast<int>(agreement_.block.element_size);
      } else if (!is_staged && side.blocks > 1 && length(chunk) != block_bytes_) {
        types[i].emplace(bytes, block_bytes_);
        memory[i].type = types[i]->get();
        memory[i].count = 1;
      }
    }
    f(memory[0], memory[1]);
  }
  std::byte* staged(mpi_collective_side const& side, std::size_t chunk) const {
    return side.memory + (chunk % in_flight) * side.blocks * std::min(chunk_bytes_, block_bytes_);
  }

  /// Returns true if the packed elements, and the work before the operation, are there.
  bool is_ready() {
    return (!from_ || from_->ready.is_reached()) && (!to_ || to_->ready.is_reached());
  }
  /// Returns true if the copies of a chunk have finished.
  bool is_copied(std::size_t chunk) {
    std::size_t const slot = chunk % in_flight;
    return (!from_ || from_->copies[slot].is_reached()) && (!to_ || to_->copies[slot].is_reached());
  }

  bool call_direct(std::size_t chunks) {
    if (!is_ready()) return false;
    mpi_order const& order = to_ ? to_->order : from_ ? from_->order : order_;
    // MPI uses the device that is current.
    return order.on_device([&] {
      for (; freed_ < chunks; ++freed_) {
        with_memory(freed_, [&](mpi_chunk_memory const& from, mpi_chunk_memory const& to) {
          check_mpi(function_(from, to, nullptr), call_name_);
        });
      }
      return true;
    });
  }

  bool advance_chunks(std::size_t chunks) {
    std::size_t const before = copied_ + begun_ + arrived_ + freed_;
    bool const uses_program_memory =
        (from_ && from_->memory == nullptr) || (to_ && to_->memory == nullptr);
    // The copy to the destination may be on another stream than those of its chunks.
    if ((uses_program_memory || is_mixed_) && !is_ready()) return false;
    while (freed_ < arrived_ && is_copied(freed_)) ++freed_;
    for (; copied_ < std::min(chunks, freed_ + in_flight); ++copied_) copy_chunk(copied_, true);
    for (; begun_ < copied_ && is_copied(begun_); ++begun_) {
      with_memory(begun_, [&](mpi_chunk_memory const& from, mpi_chunk_memory const& to) {
        check_mpi(function_(from, to, transfers_[begun_ % in_flight].begin(false)), call_name_);
      });
    }
    for (; arrived_ < begun_ && transfers_[arrived_ % in_flight].test(); ++arrived_) {
      copy_chunk(arrived_, false);
    }
    return copied_ + begun_ + arrived_ + freed_ != before;
  }

  /// Enqueues the copies of a chunk to or from staging memory, if there are any.
  void copy_chunk(std::size_t chunk, bool to_host) {
    for (auto* const side : {&from_, &to_}) {
      if (!*side || (*side)->memory == nullptr) continue;
      if (to_host ? !(*side)->is_mpi_input : !(*side)->is_written) continue;
      (*side)->packed.copy_part((*side)->blocks, chunk * chunk_bytes_, length(chunk),
                                staged(**side, chunk), to_host, (*side)->order);
      (*side)->copies[chunk % in_flight].record((*side)->order);
    }
  }

  mpi_state& state_;
  mpi_order order_;
  mpi_agreement agreement_;
  MPI_Datatype reduced_;
  call function_;
  char const* call_name_;
  std::exception_ptr invalid_;
  std::size_t block_bytes_;
  std::size_t chunk_bytes_ = 1;  // of each block
  std::optional<mpi_collective_side> from_;
  std::optional<mpi_collective_side> to_;
  // Each word is sent with its complement: the maximum of both tells whether all ranks agree.
  // Then, whether any rank has invalid arguments, cannot pass device memory to MPI, reduces from
  // another array, and reduces in place.
  std::array<std::uint64_t, 2 * compared + 4> sent_{};
  std::array<std::uint64_t, 2 * compared + 4> agreed_{};
  mpi_pending comparison_;
  bool has_agreed_ = false;
  bool is_direct_ = false;
  bool is_unpacked_ = false;
  bool is_mixed_ = false;  // a reduction in place in some ranks only
  std::array<mpi_pending, in_flight> transfers_;
  // The numbers of chunks that were copied to staging memory, passed to MPI, that MPI has
  // completed, and whose staging memory is free again.
  std::size_t copied_ = 0;
  std::size_t begun_ = 0;
  std::size_t arrived_ = 0;
  std::size_t freed_ = 0;
};

}  // namespace roc::detail
