// SPDX-License-Identifier: MIT
// Arrays and views over MPI: messages between ranks and collective operations, for device and host
// memory of any layout.
//
// Needs MPI 3 or later (Open MPI, MPICH) and the definition of the platform, which CMake's target
// rocarray::rocarray provides. The library itself does not use MPI.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

#include <roc/detail/call_scope.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/misuse.hpp>
#include <roc/detail/throw.hpp>
#include <roc/error.hpp>
#include <roc/interop/mpi/collective_calls.hpp>
#include <roc/interop/mpi/connect.hpp>
#include <roc/interop/mpi/error.hpp>
#include <roc/interop/mpi/message.hpp>
#include <roc/interop/mpi/operand.hpp>
#include <roc/interop/mpi/options.hpp>
#include <roc/interop/mpi/progress.hpp>
#include <roc/interop/mpi/record_exchange.hpp>
#include <roc/interop/mpi/request.hpp>
#include <roc/interop/mpi/type.hpp>
#include <roc/stream.hpp>

namespace roc {

namespace detail {

/// The problem with arguments of operations of MPI that can outlive the call.
template <class... X>
using mpi_async_misuse = first_misuse<argument_misuse<X>..., temporary_misuse<X...>>;

}  // namespace detail

/// A group of ranks that exchange arrays. Created from a communicator of MPI, which it does not
/// change: it has duplicates of its own, so its messages never match those of the program's own
/// calls of MPI. Move-only.
///
/// **Operands.** Arrays, views and contiguous ranges in device or host memory, with any strides, of
/// rank 16 at most. Elements travel in C order. Element types must be equal in all ranks, and so
/// must shapes; in messages, an array of rank 1 matches any shape with as many elements. Host
/// memory, device memory and layouts can be mixed between the ranks. Structures travel as bytes.
///
/// **Order.** Without a stream, an operation comes after all work enqueued earlier on every device
/// of the process, and is complete on return. With a stream, it comes after the work enqueued
/// earlier on that stream, which must be on the device of the arrays, must not be a per-thread
/// stream, and must live until the operation is complete (`wait` of a request). The call blocks
/// until the data was sent, or has arrived and the copies from staging memory have run; data that
/// arrived is seen by work enqueued on that stream after the call, and by others once the stream
/// has been synchronized.
///
/// **Progress.** Pending messages proceed while any operation of the same communicator, `wait` or
/// `test` runs. A rank that blocks elsewhere, for example in MPI_Barrier, while another rank waits
/// for a message longer than mpi_options::inline_limit can block it for that time.
///
/// **Time limit.** With mpi_options::time_limit, a wait for other ranks that takes longer throws
/// mpi_timeout_error, and the arrays are not accessed afterwards; one that was to be written may
/// have been written in part. While an operation waits only for work of this rank's stream, the
/// time does not count; it begins again afterwards. A message whose sender gave up may still
/// arrive, completely or not. Ranks that gave up a collective operation throw mpi_error in all
/// later ones of this communicator. A rank without a limit may never return if another one gave up,
/// so pass the same limit in all ranks. Creating a communicator has no limit, nor has MPI_Finalize,
/// which may wait for messages that were given up: a program that cannot go on calls MPI_Abort.
///
/// **Errors.** Operations throw mpi_error (errors of MPI, disagreement of ranks), shape_error
/// (shapes that do not match), lifetime_error (after MPI_Finalize, moved-from objects),
/// roc::error with the code `std::errc::invalid_argument` (a per-thread stream, a stream of another
/// device than an array's), and what copies throw. Errors of MPI on this communicator are returned,
/// whatever the error handler of the program's communicator is: MPI_ERRORS_RETURN is set on the
/// duplicates. That handler is only called for errors of the duplication itself. A rank that throws
/// from HIP or MPI in the middle of a transfer does not tell the others, as with MPI itself.
///
/// **Threads.** As MPI's thread level allows: a call in a thread that must not call MPI throws, and
/// so does one that begins an operation while another thread executes one of this communicator,
/// unless the level is MPI_THREAD_MULTIPLE. Operations that were begun are always completed. With
/// MPI_THREAD_MULTIPLE, any threads can use it; collective operations one at a time.
class mpi_communicator {
 public:
  /// Duplicates a communicator of MPI. Collective: all its ranks must call it.
  ///
  /// @throws lifetime_error before MPI_Init and after MPI_Finalize
  /// @throws mpi_error if MPI cannot duplicate it, for an intercommunicator and MPI_COMM_NULL, and
  ///   if an option of any rank is out of range
  ///
  /// *Lifetime:* destroy it before MPI_Finalize. `communicator` may be freed at any time.
  explicit mpi_communicator(MPI_Comm communicator, mpi_options const& options = {},
                            detail::caller at = std::source_location::current()) {
    detail::call_scope const call("mpi_communicator", at);
    state_ = detail::connect_mpi(communicator, options);
  }
  /// Takes over the communicator; any further use of `other` throws lifetime_error.
  mpi_communicator(mpi_communicator&& other) noexcept = default;
  /// Frees the current communicator as the destructor does, and takes over that of `other`.
  mpi_communicator& operator=(mpi_communicator&& other) noexcept {
    if (this != &other) {
      free_quietly();
      state_ = std::move(other.state_);
    }
    return *this;
  }
  /// Frees the duplicates, after the last request was destroyed. They are leaked, which is reported
  /// to the log hook, if the communicator outlives MPI, or if the last owner is destroyed in a
  /// thread that must not call MPI.
  ~mpi_communicator() { free_quietly(); }

  /// Frees the duplicates early. Further use throws lifetime_error. Collective. (MPI_Comm_free)
  /// @throws mpi_error with pending requests, which must be waited for first, and for errors of MPI
  /// @throws lifetime_error after MPI_Finalize
  void free(detail::caller at = std::source_location::current()) {
    detail::call_scope const call(__func__, at);
    detail::mpi_state& state = usable();
    if (auto const held = state.lock(); !state.pending.empty()) {
      throw mpi_error("messages are pending: " + std::to_string(state.pending.size()) +
                      "; wait for their requests first");
    }
    auto const owned = std::exchange(state_, nullptr);
    detail::check_mpi(owned->free(), "MPI_Comm_free");
  }

  /// Returns the number of this process in the group. (MPI_Comm_rank)
  [[nodiscard]] int rank() const { return held().rank; }
  /// Returns the number of processes. (MPI_Comm_size)
  [[nodiscard]] int size() const { return held().size; }
  /// Returns true if this rank passes device memory to MPI. False with a time limit.
  [[nodiscard]] bool takes_device_pointers() const { return held().device_pointers; }

  /// Sends an array. (MPI_Send; mpi4py: `Send`)
  /// @param destination a rank, or MPI_PROC_NULL: nothing is sent
  /// @param tag 0 to the communicator's MPI_TAG_UB
  ///
  /// *Synchronization:* blocks until `from` may be changed: see the class. A message longer than
  /// mpi_options::inline_limit waits for its receiver.
  ///@{
  template <detail::copy_argument X>
  void send(X&& from, int destination, int tag = 0,
            detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(begin_send(detail::mpi_operand_of(from), destination, tag, nullptr));
  }
  template <detail::copy_argument X>
  void send(X&& from, int destination, int tag, stream_ref stream,
            detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(begin_send(detail::mpi_operand_of(from), destination, tag, &stream));
  }
  ///@}

  /// Receives an array that was sent by send, isend or sendrecv. (MPI_Recv; mpi4py: `Recv`)
  /// @param source a rank; MPI_ANY_SOURCE; or MPI_PROC_NULL: nothing is received
  /// @param tag the sender's tag, or MPI_ANY_TAG
  /// @returns the source, tag and number of elements
  /// @throws shape_error if the sender's shape differs, before any element is written; the message
  ///   is then dropped, and the sender completes
  /// @throws mpi_error if the sender's element type differs, as for shapes
  ///
  /// *Synchronization:* see the class.
  ///@{
  template <detail::writable_argument X>
  mpi_status receive(X&& to, int source, int tag = MPI_ANY_TAG,
                     detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return complete(begin_receive(detail::mpi_operand_of(to), source, tag, nullptr));
  }
  template <detail::writable_argument X>
  mpi_status receive(X&& to, int source, int tag, stream_ref stream,
                     detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return complete(begin_receive(detail::mpi_operand_of(to), source, tag, &stream));
  }
  ///@}

  /// Begins to send an array; otherwise as send. Messages are sent in the order of the calls, so
  /// one whose stream is late delays those after it. (MPI_Isend; mpi4py: `Isend`)
  ///
  /// *Synchronization:* does not block on work of `stream`. Without a stream, waits for all work of
  /// every device.
  ///
  /// *Lifetime:* `from` must live and stay unchanged until wait() of the request has returned,
  /// and `stream` must live until then. Temporaries that own memory do not compile.
  ///@{
  template <detail::copy_argument X>
    requires detail::correct_use<detail::mpi_async_misuse<X>>
  mpi_request isend(X&& from, int destination, int tag = 0,
                    detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return begin_send(detail::mpi_operand_of(from), destination, tag, nullptr);
  }
  template <detail::copy_argument X>
    requires detail::correct_use<detail::mpi_async_misuse<X>>
  mpi_request isend(X&& from, int destination, int tag, stream_ref stream,
                    detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return begin_send(detail::mpi_operand_of(from), destination, tag, &stream);
  }
  ///@}

  /// Begins to receive an array; otherwise as receive, whose errors wait() of the request throws.
  /// Receives match in the order of the calls. (MPI_Irecv; mpi4py: `Irecv`)
  ///
  /// *Synchronization:* does not block on work of `stream`. Without a stream, waits for all work of
  /// every device, and wait() completes the copies. With one, the elements are written after the
  /// work that is on the stream now; they are seen by work enqueued after wait() has returned.
  ///
  /// *Lifetime:* `to` must live and must not be accessed until wait() of the request has returned,
  /// and `stream` must live until then. Temporaries that own memory do not compile.
  ///@{
  template <detail::writable_argument X>
    requires detail::correct_use<detail::mpi_async_misuse<X>>
  mpi_request ireceive(X&& to, int source, int tag = MPI_ANY_TAG,
                       detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return begin_receive(detail::mpi_operand_of(to), source, tag, nullptr);
  }
  template <detail::writable_argument X>
    requires detail::correct_use<detail::mpi_async_misuse<X>>
  mpi_request ireceive(X&& to, int source, int tag, stream_ref stream,
                       detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return begin_receive(detail::mpi_operand_of(to), source, tag, &stream);
  }
  ///@}

  /// Sends one array and receives another one at the same time, without deadlock. Otherwise as send
  /// and receive; one time limit applies to both. (MPI_Sendrecv; mpi4py: `Sendrecv`)
  /// @throws overlap_error if the arrays share memory, before anything is sent
  ///@{
  template <detail::copy_argument X, detail::writable_argument Y>
  mpi_status sendrecv(X&& from, int destination, Y&& to, int source, int tag = 0,
                      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return exchange(detail::mpi_operand_of(from), destination, detail::mpi_operand_of(to), source,
                    tag, nullptr);
  }
  template <detail::copy_argument X, detail::writable_argument Y>
  mpi_status sendrecv(X&& from, int destination, Y&& to, int source, int tag, stream_ref stream,
                      detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    return exchange(detail::mpi_operand_of(from), destination, detail::mpi_operand_of(to), source,
                    tag, &stream);
  }
  ///@}

  // Collective operations: all ranks call them in the same order. Before data moves, the ranks
  // compare operation, root, element type and shape with one small reduction.

  /// Copies the array of rank `root` to that of every other rank. Collective. (MPI_Bcast; mpi4py:
  /// `Bcast`)
  /// @throws shape_error, mpi_error in all ranks if shapes, element types or roots differ
  ///@{
  template <detail::writable_argument X>
  void broadcast(X&& array, int root, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_broadcast(usable(), detail::mpi_collective_operand_of(array), root,
                                         nullptr));
  }
  template <detail::writable_argument X>
  void broadcast(X&& array, int root, stream_ref stream,
                 detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_broadcast(usable(), detail::mpi_collective_operand_of(array), root,
                                         &stream));
  }
  ///@}

  /// Collects one array of each rank in the array `to` of rank `root`. Collective. (MPI_Gather;
  /// mpi4py: `Gather`)
  ///
  /// `to` is either an array with one more axis, the first, of extent size(); or one of the same
  /// rank, in which the arrays follow each other along the first axis. It is not accessed in other
  /// ranks, which can leave it out.
  /// @param from the array of this rank, of the same shape in all ranks
  /// @throws shape_error, mpi_error in all ranks if ranks disagree or the root's array does not fit
  /// @throws overlap_error in a rank whose arrays share memory; the other ranks throw mpi_error
  ///@{
  template <detail::copy_argument X, detail::writable_argument Y>
  void gather(X const& from, Y&& to, int root,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_gather(usable(), detail::mpi_collective_operand_of(from),
                                      operand_at(to, root), root, nullptr));
  }
  template <detail::copy_argument X, detail::writable_argument Y>
  void gather(X const& from, Y&& to, int root, stream_ref stream,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_gather(usable(), detail::mpi_collective_operand_of(from),
                                      operand_at(to, root), root, &stream));
  }
  template <detail::copy_argument X>
  void gather(X const& from, int root, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_gather(usable(), detail::mpi_collective_operand_of(from),
                                      std::nullopt, root, nullptr));
  }
  template <detail::copy_argument X>
  void gather(X const& from, int root, stream_ref stream,
              detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_gather(usable(), detail::mpi_collective_operand_of(from),
                                      std::nullopt, root, &stream));
  }
  ///@}

  /// Distributes the array `from` of rank `root` to all ranks: the inverse of gather. Collective.
  /// (MPI_Scatter; mpi4py: `Scatter`)
  ///
  /// `from` has a shape as `to` of gather. It is not accessed in other ranks, which can leave it
  /// out.
  /// @param to the array of this rank, of the same shape in all ranks
  /// @throws shape_error, mpi_error in all ranks if ranks disagree or the root's array does not fit
  /// @throws overlap_error in a rank whose arrays share memory; the other ranks throw mpi_error
  ///@{
  template <detail::copy_argument X, detail::writable_argument Y>
  void scatter(X const& from, Y&& to, int root,
               detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_scatter(usable(), operand_at(from, root),
                                       detail::mpi_collective_operand_of(to), root, nullptr));
  }
  template <detail::copy_argument X, detail::writable_argument Y>
  void scatter(X const& from, Y&& to, int root, stream_ref stream,
               detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_scatter(usable(), operand_at(from, root),
                                       detail::mpi_collective_operand_of(to), root, &stream));
  }
  template <detail::writable_argument Y>
  void scatter(Y&& to, int root, detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_scatter(usable(), std::nullopt,
                                       detail::mpi_collective_operand_of(to), root, nullptr));
  }
  template <detail::writable_argument Y>
  void scatter(Y&& to, int root, stream_ref stream,
               detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_scatter(usable(), std::nullopt,
                                       detail::mpi_collective_operand_of(to), root, &stream));
  }
  ///@}

  /// Reduces the arrays of all ranks element by element, in all ranks. Collective. (MPI_Allreduce;
  /// mpi4py: `Allreduce`)
  ///
  /// `to` gets the result and must not share memory with `from`; a single array is replaced by it.
  /// Some ranks may pass one array and others two.
  /// @param operation such as MPI_SUM, MPI_MAX; or one of the program for its mpi_type
  /// @throws shape_error, mpi_error in all ranks if ranks disagree
  /// @throws overlap_error in a rank whose arrays share memory; the other ranks throw mpi_error
  ///@{
  template <detail::writable_argument X>
    requires detail::mpi_reducible<detail::argument_value_type<X>>
  void all_reduce(X&& array, MPI_Op operation,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_all_reduce(usable(), mpi_type<detail::argument_value_type<X>>::get(),
                                          std::nullopt, detail::mpi_collective_operand_of(array),
                                          operation, nullptr));
  }
  template <detail::writable_argument X>
    requires detail::mpi_reducible<detail::argument_value_type<X>>
  void all_reduce(X&& array, MPI_Op operation, stream_ref stream,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_all_reduce(usable(), mpi_type<detail::argument_value_type<X>>::get(),
                                          std::nullopt, detail::mpi_collective_operand_of(array),
                                          operation, &stream));
  }
  template <detail::copy_argument X, detail::writable_argument Y>
    requires detail::mpi_reducible<detail::argument_value_type<Y>> &&
             std::same_as<detail::argument_value_type<X const>, detail::argument_value_type<Y>>
  void all_reduce(X const& from, Y&& to, MPI_Op operation,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_all_reduce(usable(), mpi_type<detail::argument_value_type<Y>>::get(),
                                          detail::mpi_collective_operand_of(from),
                                          detail::mpi_collective_operand_of(to), operation,
                                          nullptr));
  }
  template <detail::copy_argument X, detail::writable_argument Y>
    requires detail::mpi_reducible<detail::argument_value_type<Y>> &&
             std::same_as<detail::argument_value_type<X const>, detail::argument_value_type<Y>>
  void all_reduce(X const& from, Y&& to, MPI_Op operation, stream_ref stream,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_all_reduce(usable(), mpi_type<detail::argument_value_type<Y>>::get(),
                                          detail::mpi_collective_operand_of(from),
                                          detail::mpi_collective_operand_of(to), operation,
                                          &stream));
  }
  ///@}

  /// Sends block i of `from` to rank i, and receives block i of `to` from rank i. Collective.
  /// (MPI_Alltoall; mpi4py: `Alltoall`)
  /// @param from an array whose first axis consists of size() equal blocks
  /// @param to an array of the same shape, which must not share memory with `from`
  /// @throws shape_error, mpi_error in all ranks if ranks disagree, or if the first extent in any
  ///   rank is not a multiple of size()
  /// @throws overlap_error in a rank whose arrays share memory; the other ranks throw mpi_error
  ///@{
  template <detail::copy_argument X, detail::writable_argument Y>
  void all_to_all(X const& from, Y&& to,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_all_to_all(usable(), detail::mpi_collective_operand_of(from),
                                          detail::mpi_collective_operand_of(to), nullptr));
  }
  template <detail::copy_argument X, detail::writable_argument Y>
  void all_to_all(X const& from, Y&& to, stream_ref stream,
                  detail::caller at = std::source_location::current()) const {
    detail::call_scope const call(__func__, at);
    complete(detail::begin_mpi_all_to_all(usable(), detail::mpi_collective_operand_of(from),
                                          detail::mpi_collective_operand_of(to), &stream));
  }
  ///@}

  /// Deleted: the reason is in the compiler's message.
  ///@{
  template <class X, detail::incorrect_use Reason = detail::mpi_async_misuse<X>>
  mpi_request isend(X&& from, int destination, int tag = 0) const = delete;
  template <class X, detail::incorrect_use Reason = detail::mpi_async_misuse<X>>
  mpi_request isend(X&& from, int destination, int tag, stream_ref stream) const = delete;
  template <class X, detail::incorrect_use Reason = detail::first_misuse<
                         detail::mpi_async_misuse<X>, detail::destination_misuse<X>>>
  mpi_request ireceive(X&& to, int source, int tag = MPI_ANY_TAG) const = delete;
  template <class X, detail::incorrect_use Reason = detail::first_misuse<
                         detail::mpi_async_misuse<X>, detail::destination_misuse<X>>>
  mpi_request ireceive(X&& to, int source, int tag, stream_ref stream) const = delete;
  template <class X, detail::incorrect_use Reason = detail::argument_misuse<X>>
  void send(X&& from, int destination, int tag = 0) const = delete;
  template <class X, detail::incorrect_use Reason = detail::destination_misuse<X>>
  mpi_status receive(X&& to, int source, int tag = MPI_ANY_TAG) const = delete;
  ///@}

 private:
  using operand = detail::mpi_operand;

  /// Throws lifetime_error if this was moved from or freed.
  detail::mpi_state& held() const {
    if (state_ == nullptr) {
      detail::throw_lifetime_error("the communicator was moved from or freed");
    }
    return *state_;
  }
  detail::mpi_state& usable() const {
    held().check_usable();
    return *state_;
  }

  void free_quietly() noexcept {
    if (state_ == nullptr) return;
    if (!detail::is_mpi_running()) {
      detail::log_late_error(
          "a communicator was destroyed after MPI_Finalize; destroy it, or call free(), before it");
    }
    state_ = nullptr;
  }

  mpi_request begin_send(operand const& from, int destination, int tag,
                         stream_ref const* stream) const {
    return request(detail::begin_mpi_send(usable(), from, destination, tag, stream));
  }
  mpi_request begin_receive(operand const& to, int source, int tag,
                            stream_ref const* stream) const {
    return request(detail::begin_mpi_receive(usable(), to, source, tag, stream));
  }
  mpi_request request(std::shared_ptr<detail::mpi_operation> operation) const {
    return {state_, std::move(operation)};
  }
  mpi_status complete(std::shared_ptr<detail::mpi_operation> operation) const {
    return request(std::move(operation)).wait();
  }
  static mpi_status complete(mpi_request request) { return request.wait(); }

  mpi_status exchange(operand const& from, int destination, operand const& to, int source, int tag,
                      stream_ref const* stream) const {
    auto [received, sent] =
        detail::begin_mpi_exchange(usable(), from, destination, to, source, tag, stream);
    mpi_request receiving = request(std::move(received));
    mpi_request sending = request(std::move(sent));
    detail::mpi_wait_timer timer(state_->time_limit);
    try {
      sending.wait(timer);
    } catch (...) {
      receiving.wait_quietly(timer);
      throw;
    }
    return receiving.wait(timer);
  }

  /// Returns the operand of an array that only the root accesses.
  template <class X>
  std::optional<operand> operand_at(X& array, int root) const {
    if (rank() != root) return std::nullopt;
    return detail::mpi_collective_operand_of(array);
  }

  /// Returns an exchange between the ranks of a communicator. Collective. Called by
  /// roc/interop/collectives.hpp, which does not include this header.
  friend detail::mpi_record_exchange connect_record_exchange(mpi_communicator const& ranks,
                                                             std::chrono::milliseconds time_limit) {
    return {ranks.usable(), time_limit};
  }

  std::shared_ptr<detail::mpi_state> state_;
};

}  // namespace roc
