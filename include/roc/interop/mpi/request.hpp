// SPDX-License-Identifier: MIT
// Pending messages of the program. Included by roc/interop/mpi.hpp.
#pragma once

#include <cstdio>
#include <exception>
#include <memory>
#include <source_location>
#include <utility>

#include <roc/detail/call_scope.hpp>
#include <roc/detail/throw.hpp>
#include <roc/interop/mpi/progress.hpp>

namespace roc {

/// A pending message, which completes while the program calls MPI through its communicator.
/// Returned by mpi_communicator::isend and ireceive. Move-only.
///
/// The destructor blocks until the message has been sent or received, or until the time limit is
/// exceeded. It never throws: errors go to the log hook. `wait` does the same early and can throw;
/// the destructor then does nothing. All requests must be destroyed before MPI_Finalize.
///
/// Destroy a pending request in a thread that may call MPI. In another one the destructor cannot
/// complete the message, which would access memory that the program may free next, so it terminates
/// the process with the reason on the standard error stream.
class [[nodiscard]] mpi_request {
 public:
  /// Takes over the message; the moved-from request is empty.
  mpi_request(mpi_request&& other) noexcept = default;
  /// Waits for the current message, as the destructor does, and takes over that of `other`.
  mpi_request& operator=(mpi_request&& other) noexcept {
    if (this != &other) {
      wait_quietly();
      state_ = std::move(other.state_);
      operation_ = std::move(other.operation_);
    }
    return *this;
  }
  ~mpi_request() { wait_quietly(); }

  /// Blocks until the message has been sent, so that its memory may be changed, or received (see
  /// mpi_communicator::ireceive). The request is then empty. (MPI_Wait)
  ///
  /// @returns the source, tag and number of elements of a received message
  /// @throws shape_error, mpi_error, roc::error as receive does; lifetime_error if the request is
  ///   empty, or after MPI_Finalize; mpi_error if this thread must not call MPI, and the message is
  ///   then still pending; mpi_timeout_error after mpi_options::time_limit
  mpi_status wait(detail::caller at = std::source_location::current()) {
    detail::call_scope const call(__func__, at);
    check_not_empty();
    detail::mpi_wait_timer timer(state_->time_limit);
    return wait(timer);
  }
  /// Returns true if wait() would not block. Does not block itself. Throws as wait(); the request
  /// is then empty. (MPI_Test)
  [[nodiscard]] bool test(detail::caller at = std::source_location::current()) {
    detail::call_scope const call(__func__, at);
    check_not_empty();
    return complete([&] { return state_->test(operation_); });
  }

 private:
  friend class mpi_communicator;
  mpi_request(std::shared_ptr<detail::mpi_state> state,
              std::shared_ptr<detail::mpi_operation> operation)
      : state_(std::move(state)), operation_(std::move(operation)) {}

  void check_not_empty() const {
    if (operation_ == nullptr) {
      detail::throw_lifetime_error("the request is empty: it was moved from or waited for");
    }
  }
  /// Waits as the public function does, with a timer that requests can share. The request must not
  /// be empty.
  mpi_status wait(detail::mpi_wait_timer& timer) {
    complete([&] {
      state_->wait(operation_, timer);
      return true;
    });
    auto const operation = std::exchange(operation_, nullptr);
    state_ = nullptr;
    return operation->status;
  }
  /// Returns f(). If it throws the message's error, the request becomes empty; otherwise the
  /// message is still pending.
  template <class F>
  bool complete(F f) {
    try {
      return f();
    } catch (...) {
      if (operation_ == nullptr) state_ = nullptr;
      throw;
    }
  }
  void wait_quietly() noexcept {
    if (operation_ == nullptr) return;
    detail::mpi_wait_timer timer(state_->time_limit);
    wait_quietly(timer);
  }
  void wait_quietly(detail::mpi_wait_timer& timer) noexcept {
    detail::call_scope const call("wait", std::source_location::current());
    try {
      wait(timer);
    } catch (std::exception const& error) {
      log_or_terminate(error.what());
    } catch (...) {
      log_or_terminate("a host function of the stream threw an exception of another type");
    }
  }
  /// Logs the error of a message that is complete, or that MPI_Finalize has ended. Terminates the
  /// process if the message is still pending.
  void log_or_terminate(char const* problem) const noexcept {
    if (operation_ == nullptr || !detail::is_mpi_running()) {
      return detail::log_late_error(problem);
    }
    std::fprintf(stderr,
                 "rocarray: a pending request of MPI was destroyed and cannot be completed: %s; "
                 "wait for requests in a thread that may call MPI\n",
                 problem);
    std::terminate();
  }

  std::shared_ptr<detail::mpi_state> state_;
  std::shared_ptr<detail::mpi_operation> operation_;  // null if empty
};

}  // namespace roc
