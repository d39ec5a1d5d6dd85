// SPDX-License-Identifier: MIT
// The exchange of small values between all ranks, for roc/interop/collectives.hpp. Included by
// roc/interop/mpi.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

#include <roc/interop/mpi/connect.hpp>
#include <roc/interop/mpi/error.hpp>
#include <roc/interop/mpi/progress.hpp>

namespace roc::detail {

/// An exchange that is pending: MPI accesses its memory.
class mpi_all_gather_operation final : public mpi_operation {
 public:
  mpi_all_gather_operation(void const* record, std::size_t bytes, std::size_t ranks)
      : own_(bytes), all_(bytes * ranks) {
    std::memcpy(own_.data(), record, bytes);
  }
  /// Begins the exchange. The caller holds the state's lock. Throws mpi_error.
  void begin(mpi_state const& state) {
    int const bytes = static_cast<int>(own_.size());
    check_mpi(MPI_Iallgather(own_.data(), bytes, MPI_BYTE, all_.data(), bytes, MPI_BYTE,
                             state.messages, transfer_.begin(false)),
              "MPI_Iallgather");
  }
  bool advance(bool) override {
    is_done = transfer_.test();
    return is_done;
  }
  bool is_idle() noexcept override { return transfer_.is_idle(); }
  bool is_collective() const override { return true; }
  bool has_begun_collective() const override { return true; }
  /// The records of all ranks, after the exchange.
  std::vector<std::byte> const& all() const { return all_; }

 private:
  std::vector<std::byte> own_;
  std::vector<std::byte> all_;
  mpi_pending transfer_;
};

/// Exchanges small values between all ranks, by duplicates of a communicator that nothing else
/// uses.
class mpi_record_exchange {
 public:
  /// Duplicates the communicator. Collective. Throws as the constructor of mpi_communicator.
  mpi_record_exchange(mpi_state const& ranks, std::chrono::milliseconds time_limit)
      : state_(connect_mpi(ranks.messages, {.time_limit = time_limit})) {}

  /// Returns the records of all ranks, in their order. Collective. Blocks until all ranks have
  /// called it, and meanwhile calls `poll`, whose exceptions end the wait. Does not wait for work
  /// of any device. Throws lifetime_error, mpi_error and mpi_timeout_error.
  template <class Record>
    requires std::is_trivially_copyable_v<Record>
  std::vector<Record> all_gather(Record const& record, std::function<void()> const& poll) const {
    state_->check_usable();
    std::vector<Record> result(static_cast<std::size_t>(state_->size));
    auto const exchange =
        std::make_shared<mpi_all_gather_operation>(&record, sizeof(Record), result.size());
    {
      auto const held = state_->lock();
      state_->check_no_abandoned_collective();
      exchange->begin(*state_);
      state_->add_locked(exchange);
    }
    std::shared_ptr<mpi_operation> awaited = exchange;
    mpi_wait_timer timer(state_->time_limit);
    try {
      while (!state_->test(awaited)) {
        poll();
        if (state_->has_time_limit()) state_->check_time(awaited, timer);
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
    } catch (...) {
      if (awaited != nullptr) state_->give_up(awaited);
      throw;
    }
    std::memcpy(result.data(), exchange->all().data(), exchange->all().size());
    return result;
  }

 private:
  std::shared_ptr<mpi_state> state_;
};

}  // namespace roc::detail
