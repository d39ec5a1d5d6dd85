// SPDX-License-Identifier: MIT
// Calls of collective operations and how a group of them is executed. Included by
// roc/interop/collectives.hpp.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <roc/copy.hpp>
#include <roc/detail/device_storage.hpp>
#include <roc/detail/enqueue_failure.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/error.hpp>
#include <roc/interop/collectives/agreement.hpp>
#include <roc/interop/collectives/communicator_state.hpp>
#include <roc/interop/collectives/error.hpp>
#include <roc/interop/collectives/operand.hpp>
#include <roc/native.hpp>
#include <roc/stream.hpp>

namespace roc::detail {

/// Returns true if a graph is recorded from the stream.
inline bool is_captured(stream_ref stream) {
  hipStreamCaptureStatus status{};
  bool const is_known = hipStreamIsCapturing(native(stream), &status) == hipSuccess;
  if (!is_known) static_cast<void>(hipGetLastError());
  return is_known && status != hipStreamCaptureStatusNone;
}

/// One call of an operation. Borrows the arrays.
struct collective_call {
  std::shared_ptr<collective_state> state;
  collective_kind kind{};
  std::optional<collective_operand> from{};
  std::optional<collective_operand> to{};
  ncclRedOp_t reduction = ncclSum;
  int root = 0;  // of a message: the other rank
  std::optional<stream_ref> stream{};
  std::size_t count = 0;  // elements that the ranks must agree about

  // Of the execution: contiguous memory of the operands.
  device_array<std::byte, 1> from_scratch{};
  device_array<std::byte, 1> to_scratch{};
  void const* from_data = nullptr;
  void* to_data = nullptr;

  stream_ref order() const { return stream ? *stream : stream_ref(); }
  bool is_reduction() const {
    return kind == collective_kind::all_reduce || kind == collective_kind::reduce ||
           kind == collective_kind::reduce_scatter;
  }
  bool is_message() const {
    return kind == collective_kind::send || kind == collective_kind::receive;
  }
  /// Returns the operand whose shape and type must be equal in all ranks.
  collective_operand const& compared_operand() const {
    return from && kind != collective_kind::reduce_scatter ? *from : *to;
  }
  std::size_t element_size() const { return compared_operand().element_size; }
  /// Returns what is compared with the calls of other ranks. Not of a message.
  collective_description description() const {
    collective_operand const& operand = compared_operand();
    return {.kind = kind,
            .rank = state->rank,
            .root = root,
            .reduction = is_reduction() ? static_cast<int>(reduction) : 0,
            .element = hash_of_name(*operand.element),
            .element_size = operand.element_size,
            .count = count,
            .axes = operand.rank,
            .shape = operand.shape};
  }
  /// Returns the count and the type for the library: structures are transferred as bytes.
  std::size_t library_count() const { return is_reduction() ? count : count * element_size(); }
  ncclDataType_t library_type() const {
    return is_reduction() ? compared_operand().type : ncclUint8;
  }
};

/// Throws collective_error if a number is not a rank.
inline void check_collective_rank(collective_state const& state, int rank, char const* name) {
  if (rank >= 0 && rank < state.size) return;
  throw collective_error("there is no rank " + std::to_string(rank) + " among " +
                         std::to_string(state.size) + "; pass 0 to " +
                         std::to_string(state.size - 1) + " as " + name);
}

/// Throws collective_error if an array or the stream is on another device than the communicator.
inline void check_collective_devices(collective_call const& call) {
  int const device = call.state->device.ordinal();
  for (auto const* const operand : {&call.from, &call.to}) {
    if (!*operand || (*operand)->count == 0 || (*operand)->device == device) continue;
    throw collective_error("the array is on device " + std::to_string((*operand)->device) +
                           ", but rank " + std::to_string(call.state->rank) +
                           " of the communicator is on device " + std::to_string(device) +
                           "; use an array of the communicator's device");
  }
  if (call.stream && call.stream->device_ordinal() >= 0 &&
      call.stream->device_ordinal() != device) {
    throw collective_error("the stream is on device " +
                           std::to_string(call.stream->device_ordinal()) + ", but rank " +
                           std::to_string(call.state->rank) + " of the communicator is on device " +
                           std::to_string(device) + "; use a stream of the communicator's device");
  }
}

/// Executes calls that belong together. A call without a stream is complete on return.
class collective_execution {
 public:
  explicit collective_execution(std::vector<collective_call> calls) : calls_(std::move(calls)) {}

  /// Throws before anything is enqueued if a communicator cannot be used or if ranks in this group
  /// disagree. If an error occurs later, the communicators of the group are aborted.
  void run() {
    find_states();
    compare_ranks_of_group();
    compare_processes();
    set_empty_calls_aside();
    if (calls_.empty()) return count_calls();
    find_states();  // without the communicators that have nothing to do
    check_time_limits();
    for (collective_state* const state : states_) static_cast<void>(state->poll());
    synchronize_devices();
    std::size_t packed = 0;
    bool has_called_library = false;
    try {
      {
        // A copy that fails here waits for earlier operations on its stream.
        enqueue_failure_scope const failure(&end_unfinished, this);
        for (; packed != calls_.size(); ++packed) pack(calls_[packed]);
      }
      has_called_library = true;
      enqueue();
      for (collective_state* const state : states_) state->settle("the start of an operation");
      {
        // A copy that fails here waits for the operation before it, which other ranks may never
        // call.
        enqueue_failure_scope const failure(&abort_all, this);
        for (collective_call& call : calls_) unpack(call);
      }
      wait();
    } catch (std::exception const& problem) {
      fail(problem.what(), packed, has_called_library);
      throw;
    } catch (...) {  // an exception of a host function of the program
      fail("an exception", packed, has_called_library);
      throw;
    }
  }

 private:
  /// Blocks until the calls without a stream are complete.
  void wait() const {
    for (collective_call const& call : calls_) {
      if (call.stream) continue;
      device_guard const current(call.state->device);
      call.state->wait_until([&] { return stream_ref().query(); });
      // Later errors of the communicator are none of the default stream.
      static_cast<void>(call.state->forget_finished(identity_of(stream_ref())));
    }
  }
  /// Aborts the communicators, unless the library has not been called: the other ranks are not
  /// affected then. Blocks until nothing that the calls up to `packed` have enqueued uses their
  /// arrays, but no longer than the longest limit of the communicators, because the streams may
  /// wait for other work; without limit if one of them has none.
  void fail(std::string_view problem, std::size_t packed, bool has_called_library) const {
    for (collective_state* const state : states_) {
      if (has_called_library) state->abort("an operation of its group failed: ", problem);
    }
    timed_wait const wait(longest_wait_limit());
    for (std::size_t i = 0; i < std::min(packed + 1, calls_.size()); ++i) {
      collective_call const& call = calls_[i];
      bool const has_scratch = call.from_scratch.size() != 0 || call.to_scratch.size() != 0;
      if (!has_called_library && !has_scratch) continue;
      try {
        device_guard const current(call.state->device);
        if (is_captured(call.order())) continue;
        if (has_called_library) record_uses_quietly(call);
        if (!wait.until([&] { return call.order().query(); })) {
          log_late_error(
              "work of a failed collective operation is still pending after the time limit and may "
              "use its arrays; synchronize the streams before you use them");
          return;
        }
      } catch (...) {  // the call reports its own error
        log_late_error(
            "work of a failed collective operation may still be pending and use its arrays, "
            "because HIP cannot wait for it; synchronize the streams before you use the arrays");
      }
    }
  }
  /// Returns the longest limit of the communicators, or 0 if one of them has none.
  std::chrono::milliseconds longest_wait_limit() const {
    std::chrono::milliseconds longest{0};
    for (collective_state* const state : states_) {
      std::chrono::milliseconds const limit = state->wait_limit();
      if (limit.count() == 0) return limit;
      longest = std::max(longest, limit);
    }
    return longest;
  }
  /// Waits for the earlier operations of the communicators, but no longer than their limits; then
  /// aborts them.
  static void end_unfinished(void* execution) noexcept {
    for (collective_state* const state : static_cast<collective_execution*>(execution)->states_) {
      try {
        timed_wait const wait(state->wait_limit());
        if (!wait.until([&] { return state->has_finished(); })) {
          state->abort("a call failed, and an earlier operation was pending");
        }
      } catch (...) {
        state->abort("a call failed, and an earlier operation cannot be queried");
      }
    }
  }
  static void abort_all(void* execution) noexcept {
    for (collective_state* const state : static_cast<collective_execution*>(execution)->states_) {
      state->abort("an operation of its group failed");
    }
  }
  static void record_uses_quietly(collective_call const& call) {
    try {
      record_uses(call);
    } catch (...) {  // the call reports its own error
    }
  }

  void set_empty_calls_aside() {
    auto const has_elements = [](collective_call const& call) { return call.count != 0; };
    auto const empty = std::stable_partition(calls_.begin(), calls_.end(), has_elements);
    std::move(empty, calls_.end(), std::back_inserter(empty_calls_));
    calls_.erase(empty, calls_.end());
  }

  void find_states() {
    states_.clear();
    for (collective_call const& call : calls_) states_.push_back(call.state.get());
    std::sort(states_.begin(), states_.end(), std::less<>());
    states_.erase(std::unique(states_.begin(), states_.end()), states_.end());
  }

  /// Throws collective_error if only some communicators have a time limit: NCCL calls some without
  /// blocking then, waits for all as for the last one, and does not return.
  void check_time_limits() const {
    for (collective_state* const state : states_) {
      if (state->has_time_limit() == states_.front()->has_time_limit()) continue;
      throw collective_error(
          "communicators with and without a time limit are used in one group; create all of them "
          "with a time limit or all without, or use them in groups of their own");
    }
  }

  /// Compares the calls of ranks that belong to one communicator of this process.
  void compare_ranks_of_group() const {
    for (collective_state* const first : states_) {
      for (collective_state* const second : states_) {
        if (first->group_number == 0 || first->group_number != second->group_number) continue;
        if (first->rank < second->rank) compare_operations(*first, *second);
        compare_messages(*first, *second);
      }
    }
  }
  std::vector<collective_call const*> operations_of(collective_state const& state) const {
    std::vector<collective_call const*> result;
    for (collective_call const& call : calls_) {
      if (call.state.get() == &state && !call.is_message()) result.push_back(&call);
    }
    return result;
  }
  std::vector<collective_call const*> messages_of(collective_state const& state,
                                                  collective_kind kind, int other_rank) const {
    std::vector<collective_call const*> result;
    for (collective_call const& call : calls_) {
      bool const is_wanted = call.state.get() == &state && call.kind == kind &&
                             call.root == other_rank &&
                             call.count != 0;  // nothing is sent otherwise
      if (is_wanted) result.push_back(&call);
    }
    return result;
  }
  /// Compares messages whose send and receive are both in this group.
  void compare_messages(collective_state& sender, collective_state& receiver) const {
    auto const sent = messages_of(sender, collective_kind::send, receiver.rank);
    auto const received = messages_of(receiver, collective_kind::receive, sender.rank);
    if (sent.empty() || received.empty()) return;
    std::uint64_t const first_sent = sender.messages_to(receiver.rank);
    std::uint64_t const first_received = receiver.messages_from(sender.rank);
    for (std::size_t i = 0; i < sent.size(); ++i) {
      std::uint64_t const number = first_sent + i;
      if (number < first_received || number - first_received >= received.size()) continue;
      collective_call const& from = *sent[i];
      collective_call const& to = *received[number - first_received];
      std::string const sender_text =
          "rank " + std::to_string(from.state->rank) + " of the communicator sends ";
      std::string const receiver_text = "rank " + std::to_string(from.root);
      if (*from.compared_operand().element != *to.compared_operand().element) {
        throw collective_error(sender_text + "elements of another type than " + receiver_text +
                               " receives; use the same");
      }
      if (from.count != to.count) {
        throw shape_error("incompatible shape: " + sender_text + std::to_string(from.count) +
                          " elements to " + receiver_text + ", which receives " +
                          std::to_string(to.count) + "; use equal shapes");
      }
    }
  }
  /// Compares operations with the same number. The ranks may differ in the number of their first
  /// one: one rank may have called some before this group.
  void compare_operations(collective_state const& first, collective_state const& second) const {
    auto const of_first = operations_of(first);
    auto const of_second = operations_of(second);
    for (std::size_t i = 0; i < of_first.size(); ++i) {
      std::uint64_t const number = first.operations + i;
      if (number < second.operations || number - second.operations >= of_second.size()) continue;
      collective_call const& a = *of_first[i];
      collective_call const& b = *of_second[number - second.operations];
      detail::check_agreement(a.description(), b.description());
    }
  }
  /// Compares the calls of all processes, if collective_options::check_agreement asks for it.
  void compare_processes() const {
    for (collective_call const& call : calls_) {
      if (call.is_message() || !call.state->exchange) continue;
      auto const all = call.state->exchange_descriptions(call.description());
      for (collective_description const& other : all) detail::check_agreement(all.front(), other);
    }
  }

  /// Orders calls without a stream after all earlier work of their devices. Operations of the
  /// communicator among that work have its time limit.
  void synchronize_devices() const {
    for (collective_call const& call : calls_) {
      if (call.stream) continue;
      if (call.state->has_time_limit()) {
        call.state->wait_until([&] { return call.state->has_finished(); });
      }
      call.state->device.synchronize();
    }
  }

  /// Enqueues copies of operands with gaps to scratch memory.
  static void pack(collective_call& call) {
    device_guard const current(call.state->device);
    stream_ref const stream = call.order();
    // The library does not know which earlier work still uses the memory.
    bool const is_in_graph = is_captured(stream);
    for (auto const* const operand : {&call.from, &call.to}) {
      if (is_in_graph || !*operand || !(*operand)->is_contiguous) continue;
      record_stream((*operand)->data, call.state->device.ordinal(), stream);
    }
    auto const scratch_of = [&](collective_operand const& operand) {
      return device_array<std::byte, 1>(shape<1>{operand.bytes()}, order::c, stream);
    };
    bool const is_in_place = call.from && call.to && call.from->is_same(*call.to);
    if (call.to) {
      call.to_data = call.to->data;
      if (!call.to->is_contiguous) {
        call.to_scratch = scratch_of(*call.to);
        call.to_data = call.to_scratch.data();
      }
    }
    if (!call.from) return;
    call.from_data = call.from->data;
    if (call.from->is_contiguous) return;
    void* target = call.to_data;
    if (!is_in_place) {
      call.from_scratch = scratch_of(*call.from);
      target = call.from_scratch.data();
    }
    detail::copy(call.from->region(), call.from->compact_region(target), &stream);
    call.from_data = target;
  }

  /// Enqueues copies of results to operands with gaps, and frees the scratch memory in the order of
  /// the stream.
  static void unpack(collective_call& call) {
    device_guard const current(call.state->device);
    stream_ref const stream = call.order();
    if (call.to && !call.to->is_contiguous && is_written(call)) {
      detail::copy(call.to->compact_region(call.to_data), call.to->region(), &stream);
    }
    record_uses(call);
    call.from_scratch = {};
    call.to_scratch = {};
  }
  /// Records the work that the library has enqueued for a call. The device must be current. Nothing
  /// can be recorded on a stream that is captured; the graph's arrays must outlive it.
  static void record_uses(collective_call const& call) {
    stream_ref const stream = call.order();
    if (is_captured(stream)) return;
    for (auto const* const operand : {&call.from, &call.to}) {
      if (!*operand || !(*operand)->is_contiguous) continue;
      record_stream((*operand)->data, call.state->device.ordinal(), stream);
    }
    record_work(stream);
    call.state->record(stream);
  }
  static bool is_written(collective_call const& call) {
    bool const has_root =
        call.kind == collective_kind::broadcast || call.kind == collective_kind::reduce;
    if (!has_root) return true;
    return (call.state->rank == call.root) == (call.kind == collective_kind::reduce);
  }

  /// Marks communicators whose mutexes are held during calls that may wait for other ranks.
  class enqueuing_scope {
   public:
    explicit enqueuing_scope(std::vector<collective_state*> const& states) : states_(states) {
      for (collective_state* const state : states_) state->is_enqueuing = true;
    }
    enqueuing_scope(enqueuing_scope const&) = delete;
    enqueuing_scope& operator=(enqueuing_scope const&) = delete;
    ~enqueuing_scope() {
      for (collective_state* const state : states_) state->is_enqueuing = false;
    }

   private:
    std::vector<collective_state*> const& states_;
  };

  /// Calls the library once for each call of the group, and more often for all_to_all.
  void enqueue() {
    std::vector<std::unique_lock<std::mutex>> locks;  // in the order of the addresses
    for (collective_state* const state : states_) locks.emplace_back(state->mutex);
    for (collective_state* const state : states_) state->check_usable_locked();
    enqueuing_scope const enqueuing(states_);
    check(ncclGroupStart(), "ncclGroupStart");
    std::exception_ptr problem;
    try {
      for (collective_call const& call : calls_) {
        device_guard const current(call.state->device);
        enqueue(call);
      }
    } catch (...) {
      problem = std::current_exception();
      cancel_library_group();
    }
    ncclResult_t const ended = ncclGroupEnd();
    if (problem) std::rethrow_exception(problem);
    count_calls();
    check(ended, "ncclGroupEnd");
  }
  /// Counts the calls of the group. The caller holds the mutexes of the communicators in states_,
  /// or there are no calls with elements.
  void count_calls() const {
    for (collective_call const& call : calls_) {
      if (call.is_message()) {
        call.state->count_message_locked(call.root, call.kind == collective_kind::send);
      } else {
        ++call.state->operations;
      }
    }
    for (collective_call const& call : empty_calls_) {
      if (!call.is_message()) ++call.state->operations;
    }
  }
  void enqueue(collective_call const& call) const {
    ncclComm_t const communicator = call.state->handle;
    hipStream_t const stream = native(call.order());
    std::size_t const count = call.library_count();
    ncclDataType_t const type = call.library_type();
    switch (call.kind) {
      case collective_kind::all_reduce:
        return check(ncclAllReduce(call.from_data, call.to_data, count, type, call.reduction,
                                   communicator, stream),
                     "ncclAllReduce");
      case collective_kind::broadcast:
        return check(ncclBroadcast(call.from_data, call.to_data, count, type, call.root,
                                   communicator, stream),
                     "ncclBroadcast");
      case collective_kind::reduce:
        return check(ncclReduce(call.from_data, call.to_data, count, type, call.reduction,
                                call.root, communicator, stream),
                     "ncclReduce");
      case collective_kind::all_gather:
        return check(ncclAllGather(call.from_data, call.to_data, count, type, communicator, stream),
                     "ncclAllGather");
      case collective_kind::reduce_scatter:
        return check(ncclReduceScatter(call.from_data, call.to_data, count, type, call.reduction,
                                       communicator, stream),
                     "ncclReduceScatter");
      case collective_kind::all_to_all:
        for (int peer = 0; peer < call.state->size; ++peer) {
          auto const offset = static_cast<std::size_t>(peer) * count;
          check(ncclSend(static_cast<std::byte const*>(call.from_data) + offset, count, type, peer,
                         communicator, stream),
                "ncclSend");
          check(ncclRecv(static_cast<std::byte*>(call.to_data) + offset, count, type, peer,
                         communicator, stream),
                "ncclRecv");
        }
        return;
      case collective_kind::send:
        return check(ncclSend(call.from_data, count, type, call.root, communicator, stream),
                     "ncclSend");
      case collective_kind::receive:
        return check(ncclRecv(call.to_data, count, type, call.root, communicator, stream),
                     "ncclRecv");
    }
  }
  /// Throws collective_error if a call of the library failed. `call` must be a string literal.
  void check(ncclResult_t result, char const* call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    throw make_collective_error(result, call, states_.front()->handle);
  }

  std::vector<collective_call> calls_;
  std::vector<collective_call> empty_calls_;  // of arrays without elements: compared, not enqueued
  std::vector<collective_state*> states_;     // in the order of their addresses, each once
};

/// The calls of the calling thread's group.
struct collective_group_state {
  int depth = 0;
  std::vector<collective_call> calls;

  static collective_group_state& instance() {
    static thread_local collective_group_state state;
    return state;
  }
};

/// Checks the arguments, and executes the call or adds it to the group of the thread.
inline void submit(collective_call call) {
  check_collective_devices(call);
  if (call.to) check_collective_destination(*call.to);
  {
    std::scoped_lock const lock(call.state->mutex);
    call.state->check_usable_locked();
  }
  collective_group_state& group = collective_group_state::instance();
  if (group.depth != 0) {
    if ((call.from && call.from->is_temporary) || (call.to && call.to->is_temporary)) {
      throw_lifetime_error(
          "a temporary array would be destroyed before the end of the group; keep it in a variable "
          "until then");
    }
    group.calls.push_back(std::move(call));
    return;
  }
  std::vector<collective_call> calls;
  calls.push_back(std::move(call));
  collective_execution(std::move(calls)).run();
}

}  // namespace roc::detail
