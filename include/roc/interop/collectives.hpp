// SPDX-License-Identifier: MIT
// Collective operations on device arrays and views of any layout, over RCCL (amd) and NCCL
// (nvidia), between the devices of one process or of several.
//
// Needs the header and the library of RCCL or NCCL 2.14 or later, and the definition of the
// platform, which CMake's target rocarray::collectives provides. The host platform has an
// implementation of its own, for tests. The library itself uses neither.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/throw.hpp>
#include <roc/device.hpp>
#include <roc/error.hpp>
#include <roc/interop/collectives/agreement.hpp>
#include <roc/interop/collectives/call.hpp>
#include <roc/interop/collectives/communicator_state.hpp>
#include <roc/interop/collectives/create.hpp>
#include <roc/interop/collectives/error.hpp>
#include <roc/interop/collectives/library.hpp>
#include <roc/interop/collectives/operand.hpp>
#include <roc/interop/collectives/options.hpp>
#include <roc/stream.hpp>

namespace roc {

class mpi_communicator;  // roc/interop/mpi.hpp

namespace detail {

/// Returns the library's operation.
inline ncclRedOp_t library_reduction(reduction operation) {
  switch (operation) {
    case reduction::sum: return ncclSum;
    case reduction::product: return ncclProd;
    case reduction::min: return ncclMin;
    case reduction::max: return ncclMax;
    case reduction::average: return ncclAvg;
  }
  throw collective_error("there is no reduction " + std::to_string(static_cast<int>(operation)) +
                         "; pass a value of roc::reduction");
}

}  // namespace detail

/// Operations of one thread that begin together, at the end of the group. A thread that calls
/// operations for several ranks of one communicator must call them in a group. The same holds for
/// sends and receives that would otherwise wait for each other. A guard: not copied, not moved,
/// used by the thread that created it. Groups can be nested: the outermost one counts. Operations
/// of a group may run at the same time, so none may access what another one writes.
/// (ncclGroupStart, ncclGroupEnd)
///
/// *Synchronization:* the operations are enqueued at the end of the group, in the order of the
/// calls. Those without a stream are complete then.
///
/// *Lifetime:* the arrays and streams must live until the end of the group. A temporary array is a
/// lifetime_error.
class [[nodiscard]] collective_group {
 public:
  /// Begins a group.
  collective_group() : exceptions_(std::uncaught_exceptions()) {
    ++detail::collective_group_state::instance().depth;
  }
  collective_group(collective_group const&) = delete;
  collective_group& operator=(collective_group const&) = delete;
  /// Ends the group, unless end() was called. Errors are passed to the log hook. If the scope is
  /// left by an exception, nothing of the group is enqueued.
  ~collective_group() {
    if (has_ended_) return;
    if (std::uncaught_exceptions() > exceptions_) {
      cancel();
      return;
    }
    try {
      end();
    } catch (std::exception const& problem) {
      detail::log_late_error(problem.what());
    } catch (...) {
      detail::log_late_error("a host function has thrown before the operations of a group");
    }
  }

  /// Ends the group early, and begins the operations if it is the outermost one.
  /// @throws lifetime_error if the group has ended, or in another thread than that which created it
  /// @throws collective_error and shape_error if ranks in the group disagree, before anything is
  ///   enqueued; errors of RCCL and NCCL, after which the communicators of the group are aborted
  void end(detail::caller at = std::source_location::current()) {
    detail::call_scope const call("collective_group::end", at);
    if (has_ended_) {
      detail::throw_lifetime_error("the group has ended already; call end() once");
    }
    if (thread_ != std::this_thread::get_id()) {
      detail::throw_lifetime_error(
          "the group was created by another thread; each thread needs a group of its own");
    }
    has_ended_ = true;
    detail::collective_group_state& group = detail::collective_group_state::instance();
    if (--group.depth != 0) return;
    detail::collective_execution(std::exchange(group.calls, {})).run();
  }

  /// Forgets the operations called since the outermost group began, which are not enqueued, and
  /// ends this group. Does nothing unless the calling thread created the group.
  void cancel() noexcept {
    // The operations of a group of another thread cannot be reached.
    if (has_ended_ || thread_ != std::this_thread::get_id()) return;
    has_ended_ = true;
    detail::collective_group_state& group = detail::collective_group_state::instance();
    group.calls.clear();
    --group.depth;
  }

 private:
  int const exceptions_;
  std::thread::id const thread_ = std::this_thread::get_id();
  bool has_ended_ = false;
};

/// One rank of a group of devices that exchange arrays. The ranks may belong to one process or to
/// several; each has a device of its own. Move-only.
///
/// **Operands.** Device arrays and views with any strides, of rank 16 at most, on the device of the
/// rank. Arrays with gaps are packed into, and unpacked from, scratch memory by copies on the
/// stream. Elements travel in C order. Host memory does not compile: use roc/interop/mpi.hpp.
/// Reductions accept integers of 8, 32 and 64 bits, half, float and double; other operations accept
/// elements of all types, as bytes. Operations on arrays without elements do nothing.
///
/// **Order.** Without a stream, an operation comes after all work enqueued earlier on the device,
/// and is complete on return. With a stream, it is enqueued. All ranks must call the same
/// operations in the same order; a thread with several ranks calls them in a collective_group.
///
/// **Agreement.** Ranks in one group of one thread, of a communicator from for_devices, are
/// compared before anything is enqueued: operation, root, reduction, element type and shape; of
/// messages, element type and number of elements. RCCL and NCCL do not compare other ranks:
/// different counts or operations are undefined behaviour there, usually a deadlock. The host
/// platform finds them after the data of all ranks has arrived. With
/// collective_options::check_agreement, processes are compared too.
///
/// **Errors.** Errors of the communicator that occur later (asynchronous errors) are thrown by the
/// next operation, check() or synchronize(). The next synchronization of a stream (stream_ref,
/// synchronize_guard) that has operations of the communicator throws or logs them as well, once for
/// each stream; but not in the thread that got the error from the communicator or called abort().
/// If several communicators have failed on a stream, one error is thrown. Operations in a graph,
/// and streams that only wait for such a stream, are not polled. After such an error, after the
/// time limit and after abort(), the communicator is aborted: pending operations end without
/// result, and further calls throw collective_abort_error. Other ranks learn of it if the library
/// tells them (the host platform always does; RCCL and NCCL if they notice that a peer has gone),
/// else by their own time limit. Arrays that were to be written have unspecified elements then.
///
/// **Time limit.** See collective_options::time_limit. Waits for devices and events have no limit
/// and report no errors of communicators: if another rank never comes, they do not return.
/// Synchronize the stream first. A per-thread stream must be synchronized before its thread ends.
///
/// **Threads.** Each rank can be used by one thread at a time; abort() by any thread at any time.
/// NCCL's first operation blocks until all ranks have called it, and abort() waits for that.
class collective_communicator {
 public:
  /// Creates all ranks of a communicator in this process, one on each device.
  /// (ncclCommInitAll)
  /// @param devices different devices; rank i is on devices[i]
  /// @returns the ranks in this order
  /// @throws collective_error if a device is passed twice, for check_agreement, and for errors of
  ///   RCCL and NCCL
  [[nodiscard]] static std::vector<collective_communicator> for_devices(
      std::span<device const> devices, collective_options const& options = {},
      detail::caller at = std::source_location::current()) {
    detail::call_scope const call("for_devices", at);
    std::vector<collective_communicator> result;
    result.reserve(devices.size());
    for (auto& state : detail::create_collective_ranks(devices, options)) {
      result.push_back(collective_communicator(std::move(state)));
    }
    return result;
  }

  /// Creates the rank of this process in a communicator with the ranks of an mpi_communicator.
  /// Collective: all its ranks must call it. Needs roc/interop/mpi.hpp.
  /// @param own_device the device of this rank; different in all ranks of a machine
  /// @throws collective_error in all ranks if the options of one are invalid; for errors of RCCL
  /// and
  ///   NCCL, for example ranks on the same device; after the time limit
  template <std::same_as<mpi_communicator> Mpi>
  explicit collective_communicator(Mpi const& mpi, device own_device,
                                   collective_options const& options = {},
                                   detail::caller at = std::source_location::current()) {
    detail::call_scope const call("collective_communicator", at);
    state_ = detail::create_collective_rank(mpi, own_device, options);
  }

  /// Creates one rank of a communicator. Blocks until all ranks are created, by other processes or
  /// other threads. (ncclCommInitRankConfig)
  /// @param id the identifier that one rank has created and passed to the others
  /// @throws collective_error for invalid arguments and errors of RCCL and NCCL, and after the time
  ///   limit
  collective_communicator(collective_id const& id, int rank, int size, device own_device,
                          collective_options const& options = {},
                          detail::caller at = std::source_location::current()) {
    detail::call_scope const call("collective_communicator", at);
    state_ = detail::create_collective_rank(id, rank, size, own_device, options);
  }

  /// Takes over the rank; any further use of `other` throws lifetime_error.
  collective_communicator(collective_communicator&& other) noexcept = default;
  /// Destroys the current rank as the destructor does, and takes over that of `other`.
  collective_communicator& operator=(collective_communicator&& other) noexcept = default;
  /// Waits for the pending operations of this rank, at most for the time limit
  /// (collective_options::destruction_limit if there is none), then aborts them and reports that to
  /// the log hook. Operations of a group that has not ended keep the rank alive until then.
  /// (ncclCommDestroy)
  ~collective_communicator() = default;

  /// Returns the number of this rank. (ncclCommUserRank)
  [[nodiscard]] int rank() const { return held().rank; }
  /// Returns the number of ranks. (ncclCommCount)
  [[nodiscard]] int size() const { return held().size; }
  /// Returns the ordinal of the device of this rank. (ncclCommCuDevice)
  [[nodiscard]] int device_ordinal() const { return held().device.ordinal(); }

  /// Throws the communicator's error, if one has occurred. Does not block.
  /// (ncclCommGetAsyncError)
  /// @throws collective_error the first time; collective_abort_error later
  void check(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    static_cast<void>(held().poll());
  }
  /// Blocks until the work enqueued on a stream has finished, but ends with an error if the
  /// communicator fails or the time limit is over. stream_ref::synchronize does the same for all
  /// communicators with operations on the stream, and waits after an error until the stream is
  /// idle; this function does not.
  /// @throws collective_error, collective_timeout_error, collective_abort_error
  void synchronize(stream_ref stream, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    detail::collective_state& state = held();
    device_guard const current(state.device);
    state.wait_until([&] { return stream.query(); });
    stream.synchronize();
  }
  /// Ends all pending operations of this rank without result. Further calls throw
  /// collective_abort_error. Any thread may call it, also while another one uses the rank.
  /// (ncclCommAbort)
  void abort(detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    held().abort("abort() was called");
  }

  /// Combines the arrays of all ranks element by element, in all ranks. Collective.
  /// (ncclAllReduce; torch: `all_reduce`)
  /// @param to an array of the same shape: either `from` itself, or without common memory
  /// @throws shape_error if the shapes differ, overlap_error if the arrays overlap
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::reducible_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y>
  void all_reduce(X&& from, Y&& to, reduction operation,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    reduce_all(detail::collective_operand_of(std::forward<X>(from)),
               detail::collective_operand_of(std::forward<Y>(to)), operation, {});
  }
  template <detail::reducible_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y> && detail::correct_use<detail::temporary_misuse<X, Y>>
  void all_reduce(X&& from, Y&& to, reduction operation, stream_ref stream,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    reduce_all(detail::collective_operand_of(std::forward<X>(from)),
               detail::collective_operand_of(std::forward<Y>(to)), operation, stream);
  }
  ///@}
  /// Replaces the array of every rank by the combination of all. Otherwise as above.
  ///@{
  template <detail::reducible_argument X>
    requires detail::writable_device_argument<X>
  void all_reduce(X&& array, reduction operation,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    auto const in_place = detail::collective_operand_of(std::forward<X>(array));
    reduce_all(in_place, in_place, operation, {});
  }
  template <detail::reducible_argument X>
    requires detail::writable_device_argument<X> && detail::correct_use<detail::temporary_misuse<X>>
  void all_reduce(X&& array, reduction operation, stream_ref stream,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    auto const in_place = detail::collective_operand_of(std::forward<X>(array));
    reduce_all(in_place, in_place, operation, stream);
  }
  ///@}

  /// Copies the array of rank `root` to that of every other rank. Collective. (ncclBroadcast;
  /// torch: `broadcast`)
  /// @throws collective_error if there is no rank `root`
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::writable_device_argument X>
  void broadcast(X&& array, int root, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    broadcast_from(detail::collective_operand_of(std::forward<X>(array)), root, {});
  }
  template <detail::writable_device_argument X>
    requires detail::correct_use<detail::temporary_misuse<X>>
  void broadcast(X&& array, int root, stream_ref stream,
                 detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    broadcast_from(detail::collective_operand_of(std::forward<X>(array)), root, stream);
  }
  ///@}

  /// Combines the arrays of all ranks element by element, in rank `root`. Collective. (ncclReduce;
  /// torch: `reduce`)
  /// @param to gets the result in rank `root`, and is not accessed in other ranks: either `from`
  ///   itself, or an array of the same shape without common memory
  /// @throws shape_error if the shapes differ, overlap_error if the arrays overlap,
  ///   collective_error if there is no rank `root`
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::reducible_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y>
  void reduce(X&& from, Y&& to, int root, reduction operation,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    reduce_at(detail::collective_operand_of(std::forward<X>(from)),
              detail::collective_operand_of(std::forward<Y>(to)), root, operation, {});
  }
  template <detail::reducible_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y> && detail::correct_use<detail::temporary_misuse<X, Y>>
  void reduce(X&& from, Y&& to, int root, reduction operation, stream_ref stream,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    reduce_at(detail::collective_operand_of(std::forward<X>(from)),
              detail::collective_operand_of(std::forward<Y>(to)), root, operation, stream);
  }
  ///@}
  /// Replaces the array of rank `root` by the combination of all; those of other ranks keep their
  /// elements. Otherwise as above.
  ///@{
  template <detail::reducible_argument X>
    requires detail::writable_device_argument<X>
  void reduce(X&& array, int root, reduction operation,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    auto const in_place = detail::collective_operand_of(std::forward<X>(array));
    reduce_at(in_place, in_place, root, operation, {});
  }
  template <detail::reducible_argument X>
    requires detail::writable_device_argument<X> && detail::correct_use<detail::temporary_misuse<X>>
  void reduce(X&& array, int root, reduction operation, stream_ref stream,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    auto const in_place = detail::collective_operand_of(std::forward<X>(array));
    reduce_at(in_place, in_place, root, operation, stream);
  }
  ///@}

  /// Collects the arrays of all ranks, in all ranks. Collective. (ncclAllGather; torch:
  /// `all_gather_into_tensor`)
  ///
  /// `to` is either an array with one more axis, the first, of extent size(); or one of the same
  /// rank, in which the arrays follow each other along the first axis.
  /// @param from an array without common memory with `to`, or exactly this rank's block of it
  /// @throws shape_error if the shapes do not fit, overlap_error if the arrays overlap
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::device_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y>
  void all_gather(X&& from, Y&& to, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    gather_all(detail::collective_operand_of(std::forward<X>(from)),
               detail::collective_operand_of(std::forward<Y>(to)), {});
  }
  template <detail::device_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y> && detail::correct_use<detail::temporary_misuse<X, Y>>
  void all_gather(X&& from, Y&& to, stream_ref stream,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    gather_all(detail::collective_operand_of(std::forward<X>(from)),
               detail::collective_operand_of(std::forward<Y>(to)), stream);
  }
  ///@}

  /// Combines the arrays of all ranks element by element; rank i gets block i of the result.
  /// Collective. (ncclReduceScatter; torch: `reduce_scatter_tensor`)
  ///
  /// `from` has the blocks as `to` of all_gather has.
  /// @param to an array without common memory with `from`, or exactly this rank's block of it
  /// @throws shape_error if the shapes do not fit, overlap_error if the arrays overlap
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::reducible_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y>
  void reduce_scatter(X&& from, Y&& to, reduction operation,
                      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    scatter_sum(detail::collective_operand_of(std::forward<X>(from)),
                detail::collective_operand_of(std::forward<Y>(to)), operation, {});
  }
  template <detail::reducible_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y> && detail::correct_use<detail::temporary_misuse<X, Y>>
  void reduce_scatter(X&& from, Y&& to, reduction operation, stream_ref stream,
                      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    scatter_sum(detail::collective_operand_of(std::forward<X>(from)),
                detail::collective_operand_of(std::forward<Y>(to)), operation, stream);
  }
  ///@}

  /// Sends block i of `from` to rank i, and receives block i of `to` from rank i. Collective.
  /// (sends and receives in a group; torch: `all_to_all_single`)
  /// @param from an array whose first axis consists of size() equal blocks
  /// @param to an array of the same shape, which must not share memory with `from`
  /// @throws shape_error if the shapes differ or the first extent is not a multiple of size(),
  ///   overlap_error if the arrays overlap
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::device_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y>
  void all_to_all(X&& from, Y&& to, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    exchange_all(detail::collective_operand_of(std::forward<X>(from)),
                 detail::collective_operand_of(std::forward<Y>(to)), {});
  }
  template <detail::device_argument X, detail::writable_device_argument Y>
    requires detail::same_elements<X, Y> && detail::correct_use<detail::temporary_misuse<X, Y>>
  void all_to_all(X&& from, Y&& to, stream_ref stream,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    exchange_all(detail::collective_operand_of(std::forward<X>(from)),
                 detail::collective_operand_of(std::forward<Y>(to)), stream);
  }
  ///@}

  /// Sends an array to a rank, which receives one with as many bytes. Messages from one rank to
  /// another are received in their order. (ncclSend; torch: `send`)
  /// @throws collective_error if there is no rank `destination`
  ///
  /// *Synchronization:* see the class. May wait for the receiver: pairs of ranks that send to each
  /// other call send and receive in a collective_group.
  ///@{
  template <detail::device_argument X>
  void send(X&& from, int destination, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    send_to(detail::collective_operand_of(std::forward<X>(from)), destination, {});
  }
  template <detail::device_argument X>
    requires detail::correct_use<detail::temporary_misuse<X>>
  void send(X&& from, int destination, stream_ref stream,
            detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    send_to(detail::collective_operand_of(std::forward<X>(from)), destination, stream);
  }
  ///@}

  /// Receives an array that rank `source` sends. (ncclRecv; torch: `recv`)
  /// @throws collective_error if there is no rank `source`
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::writable_device_argument X>
  void receive(X&& to, int source, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    receive_from(detail::collective_operand_of(std::forward<X>(to)), source, {});
  }
  template <detail::writable_device_argument X>
    requires detail::correct_use<detail::temporary_misuse<X>>
  void receive(X&& to, int source, stream_ref stream,
               detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    receive_from(detail::collective_operand_of(std::forward<X>(to)), source, stream);
  }
  ///@}

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <class X, detail::incorrect_use Reason = detail::collective_reduced_misuse<X>>
  void all_reduce(X&& array, reduction operation) const = delete;
  template <class X, detail::incorrect_use Reason = detail::first_misuse<
                         detail::collective_reduced_misuse<X>, detail::temporary_misuse<X>>>
  void all_reduce(X&& array, reduction operation, stream_ref stream) const = delete;
  template <class X, detail::incorrect_use Reason = detail::collective_destination_misuse<X>>
  void broadcast(X&& array, int root) const = delete;
  template <class X, detail::incorrect_use Reason = detail::first_misuse<
                         detail::collective_destination_misuse<X>, detail::temporary_misuse<X>>>
  void broadcast(X&& array, int root, stream_ref stream) const = delete;
  template <class X, detail::incorrect_use Reason = detail::collective_reduced_misuse<X>>
  void reduce(X&& array, int root, reduction operation) const = delete;
  template <class X, detail::incorrect_use Reason = detail::first_misuse<
                         detail::collective_reduced_misuse<X>, detail::temporary_misuse<X>>>
  void reduce(X&& array, int root, reduction operation, stream_ref stream) const = delete;
  template <class X, detail::incorrect_use Reason = detail::device_misuse<X>>
  void send(X&& from, int destination) const = delete;
  template <class X, detail::incorrect_use Reason = detail::first_misuse<
                         detail::device_misuse<X>, detail::temporary_misuse<X>>>
  void send(X&& from, int destination, stream_ref stream) const = delete;
  template <class X, detail::incorrect_use Reason = detail::collective_destination_misuse<X>>
  void receive(X&& to, int source) const = delete;
  template <class X, detail::incorrect_use Reason = detail::first_misuse<
                         detail::collective_destination_misuse<X>, detail::temporary_misuse<X>>>
  void receive(X&& to, int source, stream_ref stream) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::collective_reduction_misuse<X, Y>>
  void all_reduce(X&& from, Y&& to, reduction operation) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::collective_reduction_misuse<X, Y>, detail::temporary_misuse<X, Y>>>
  void all_reduce(X&& from, Y&& to, reduction operation, stream_ref stream) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::collective_reduction_misuse<X, Y>>
  void reduce(X&& from, Y&& to, int root, reduction operation) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::collective_reduction_misuse<X, Y>, detail::temporary_misuse<X, Y>>>
  void reduce(X&& from, Y&& to, int root, reduction operation, stream_ref stream) const = delete;
  template <class X, class Y, detail::incorrect_use Reason = detail::collective_pair_misuse<X, Y>>
  void all_gather(X&& from, Y&& to) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::collective_pair_misuse<X, Y>, detail::temporary_misuse<X, Y>>>
  void all_gather(X&& from, Y&& to, stream_ref stream) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::collective_reduction_misuse<X, Y>>
  void reduce_scatter(X&& from, Y&& to, reduction operation) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::collective_reduction_misuse<X, Y>, detail::temporary_misuse<X, Y>>>
  void reduce_scatter(X&& from, Y&& to, reduction operation, stream_ref stream) const = delete;
  template <class X, class Y, detail::incorrect_use Reason = detail::collective_pair_misuse<X, Y>>
  void all_to_all(X&& from, Y&& to) const = delete;
  template <class X, class Y,
            detail::incorrect_use Reason = detail::first_misuse<
                detail::collective_pair_misuse<X, Y>, detail::temporary_misuse<X, Y>>>
  void all_to_all(X&& from, Y&& to, stream_ref stream) const = delete;
  ///@}

 private:
  using operand = detail::collective_operand;
  using optional_stream = std::optional<stream_ref>;

  explicit collective_communicator(std::shared_ptr<detail::collective_state> state) noexcept
      : state_(std::move(state)) {}

  /// Throws lifetime_error if this was moved from.
  detail::collective_state& held() const {
    if (state_ == nullptr) detail::throw_lifetime_error("the communicator was moved from");
    return *state_;
  }

  void reduce_all(operand const& from, operand const& to, reduction operation,
                  optional_stream stream) const {
    static_cast<void>(held());
    detail::check_equal_shapes(from, to);
    if (!from.is_same(to)) detail::check_disjoint(from, to);
    submit({.state = state_,
            .kind = detail::collective_kind::all_reduce,
            .from = from,
            .to = to,
            .reduction = detail::library_reduction(operation),
            .stream = stream,
            .count = from.count});
  }
  void broadcast_from(operand const& array, int root, optional_stream stream) const {
    detail::check_collective_rank(held(), root, "root");
    submit({.state = state_,
            .kind = detail::collective_kind::broadcast,
            .from = array,
            .to = array,
            .root = root,
            .stream = stream,
            .count = array.count});
  }
  void reduce_at(operand const& from, operand const& to, int root, reduction operation,
                 optional_stream stream) const {
    detail::check_collective_rank(held(), root, "root");
    bool const is_root = held().rank == root;
    if (is_root) {
      detail::check_equal_shapes(from, to);
      if (!from.is_same(to)) detail::check_disjoint(from, to);
    }
    submit({.state = state_,
            .kind = detail::collective_kind::reduce,
            .from = from,
            .to = is_root ? std::optional(to) : std::nullopt,
            .reduction = detail::library_reduction(operation),
            .root = root,
            .stream = stream,
            .count = from.count});
  }
  void gather_all(operand const& from, operand const& to, optional_stream stream) const {
    check_blocks(to, from);
    submit({.state = state_,
            .kind = detail::collective_kind::all_gather,
            .from = from,
            .to = to,
            .stream = stream,
            .count = from.count});
  }
  void scatter_sum(operand const& from, operand const& to, reduction operation,
                   optional_stream stream) const {
    check_blocks(from, to);
    submit({.state = state_,
            .kind = detail::collective_kind::reduce_scatter,
            .from = from,
            .to = to,
            .reduction = detail::library_reduction(operation),
            .stream = stream,
            .count = to.count});
  }
  void exchange_all(operand const& from, operand const& to, optional_stream stream) const {
    auto const ranks = static_cast<std::size_t>(held().size);
    if (from.rank == 0 || from.shape[0] % ranks != 0) {
      throw shape_error("incompatible shape: array " + from.shape_text() + " for " +
                        std::to_string(ranks) +
                        " ranks; its first extent must be a multiple of their number");
    }
    detail::check_equal_shapes(from, to);
    detail::check_disjoint(from, to);
    submit({.state = state_,
            .kind = detail::collective_kind::all_to_all,
            .from = from,
            .to = to,
            .stream = stream,
            .count = from.count / ranks});
  }
  void send_to(operand const& from, int destination, optional_stream stream) const {
    detail::check_collective_rank(held(), destination, "destination");
    submit({.state = state_,
            .kind = detail::collective_kind::send,
            .from = from,
            .root = destination,
            .stream = stream,
            .count = from.count});
  }
  void receive_from(operand const& to, int source, optional_stream stream) const {
    detail::check_collective_rank(held(), source, "source");
    submit({.state = state_,
            .kind = detail::collective_kind::receive,
            .to = to,
            .root = source,
            .stream = stream,
            .count = to.count});
  }
  /// Throws shape_error if `whole` has not one `block` for each rank, and overlap_error if they
  /// share memory, unless `block` is that of this rank.
  void check_blocks(operand const& whole, operand const& block) const {
    auto const ranks = static_cast<std::size_t>(held().size);
    bool const is_stacked = detail::check_collective_blocks(whole, block, ranks);
    if (whole.count == 0) return;
    auto const own = whole.block(static_cast<std::size_t>(held().rank), ranks, is_stacked);
    if (!block.is_same(own)) detail::check_disjoint(whole, block);
  }
  static void submit(detail::collective_call call) { detail::submit(std::move(call)); }

  std::shared_ptr<detail::collective_state> state_;
};

}  // namespace roc
