// SPDX-License-Identifier: MIT
// The creation of communicators. Included by roc/interop/collectives.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <roc/device.hpp>
#include <roc/host_view.hpp>
#include <roc/interop/collectives/agreement.hpp>
#include <roc/interop/collectives/communicator_state.hpp>
#include <roc/interop/collectives/error.hpp>
#include <roc/interop/collectives/options.hpp>

namespace roc::detail {

/// Throws collective_error if the options are out of range.
inline void check_collective_options(collective_options const& options) {
  if (options.time_limit.count() >= 0 && options.destruction_limit.count() >= 0) return;
  throw collective_error("a time limit is negative: time_limit " +
                         std::to_string(options.time_limit.count()) + " ms, destruction_limit " +
                         std::to_string(options.destruction_limit.count()) + " ms; pass 0 or more");
}

/// Begins the creation of a rank on its device. Throws collective_error.
inline void begin_collective_rank(collective_state& state, collective_id const& id) {
  ncclUniqueId library_id{};
  std::memcpy(&library_id, id.bytes().data(), collective_id::byte_count);
  ncclConfig_t config = library_config(!state.has_time_limit());
  device_guard const current(state.device);
  ncclResult_t const result =
      ncclCommInitRankConfig(&state.handle, state.size, library_id, state.rank, &config);
  if (result == ncclSuccess || result == ncclInProgress) return;
  std::scoped_lock const lock(state.mutex);
  state.fail_locked(result, "ncclCommInitRankConfig");
}

/// Throws collective_error for collective_options::check_agreement, which needs MPI.
inline void refuse_check_agreement(collective_options const& options) {
  if (!options.check_agreement) return;
  throw collective_error(
      "check_agreement needs a communicator that is created from an mpi_communicator; create it "
      "so, or do not set the option");
}

/// Creates one rank; the other ones are created by other threads or processes. Blocks until all
/// are there. Throws collective_error and collective_timeout_error.
inline std::shared_ptr<collective_state> connect_collective_rank(
    collective_id const& id, int rank, int size, device own_device,
    collective_options const& options) {
  auto state = std::make_shared<collective_state>(rank, size, own_device, options);
  begin_collective_rank(*state, id);
  state->settle("the creation of the communicator");
  return state;
}
inline std::shared_ptr<collective_state> create_collective_rank(collective_id const& id, int rank,
                                                                int size, device own_device,
                                                                collective_options const& options) {
  check_collective_options(options);
  refuse_check_agreement(options);
  if (size < 1 || rank < 0 || rank >= size) {
    throw collective_error("there is no rank " + std::to_string(rank) + " among " +
                           std::to_string(size) + "; pass a rank of 0 to size - 1");
  }
  return connect_collective_rank(id, rank, size, own_device, options);
}

/// Creates all ranks, one on each device. Throws collective_error.
inline std::vector<std::shared_ptr<collective_state>> create_collective_ranks(
    std::span<device const> devices, collective_options const& options) {
  check_collective_options(options);
  refuse_check_agreement(options);
  if (devices.empty()) {
    throw collective_error("there are no devices; pass at least one");
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (devices[i] != devices[j]) continue;
      throw collective_error("device " + std::to_string(devices[i].ordinal()) +
                             " is passed twice; pass each device once");
    }
  }
  static std::atomic<std::uint64_t> last_number = 0;
  std::uint64_t const number = ++last_number;
  std::vector<std::shared_ptr<collective_state>> states;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    states.push_back(std::make_shared<collective_state>(
        static_cast<int>(i), static_cast<int>(devices.size()), devices[i], options));
    states.back()->group_number = number;
  }
  // Finds devices that cannot be used, for whose ranks the others would wait in the library.
  for (device const& item : devices) device_guard const usable{item};
  // Created last, because an identifier that no rank uses keeps resources of RCCL and NCCL.
  new_collective_id own_id;
  collective_id const id(own_id.bytes());
  ncclResult_t result = ncclGroupStart();
  if (result != ncclSuccess) throw make_collective_error(result, "ncclGroupStart", nullptr);
  std::exception_ptr problem;
  try {
    for (auto const& state : states) begin_collective_rank(*state, id);
  } catch (...) {
    problem = std::current_exception();
    cancel_library_group();
  }
  result = ncclGroupEnd();
  if (!problem && result != ncclSuccess && result != ncclInProgress) {
    try {
      throw make_collective_error(result, "ncclGroupEnd", nullptr);
    } catch (...) {  // also if there is no memory for the error
      problem = std::current_exception();
    }
  }
  if (problem) {
    for (auto const& state : states) state->abort("its creation failed");
    std::rethrow_exception(problem);
  }
  try {
    for (auto const& state : states) state->settle("the creation of the communicator");
  } catch (...) {
    for (auto const& state : states) state->abort("the creation of another rank failed");
    throw;
  }
  own_id.keep();
  return states;
}

/// Tells whether one rank, or all of them together, can be created.
enum class collective_readiness : unsigned char {
  invalid,               // an error was found
  ready,                 // without collective_options::check_agreement
  ready_with_agreement,  // with it
  different_options,     // only some ranks have set it
};

/// What rank 0 of an mpi_communicator tells the others.
struct collective_invitation {
  std::array<std::byte, collective_id::byte_count> id;
  collective_readiness readiness;
};

/// Returns whether all ranks can be created.
inline collective_readiness readiness_of_all(std::span<unsigned char const> all) {
  constexpr auto invalid = static_cast<unsigned char>(collective_readiness::invalid);
  if (std::ranges::find(all, invalid) != all.end()) return collective_readiness::invalid;
  for (unsigned char const one : all) {
    if (one != all.front()) return collective_readiness::different_options;
  }
  return collective_readiness{all.front()};
}

/// Creates one rank for each rank of an mpi_communicator. Collective. If a rank finds its arguments
/// invalid, all ranks throw.
template <class Mpi>
std::shared_ptr<collective_state> create_collective_rank(Mpi const& mpi, device own_device,
                                                         collective_options const& options) {
  std::exception_ptr problem;
  collective_invitation invitation{};
  std::optional<new_collective_id> own_id;  // of rank 0
  try {
    check_collective_options(options);
    device_guard const usable{own_device};
    if (mpi.rank() == 0) invitation.id = own_id.emplace().bytes();
    invitation.readiness = options.check_agreement ? collective_readiness::ready_with_agreement
                                                   : collective_readiness::ready;
  } catch (...) {
    problem = std::current_exception();
  }
  std::array<unsigned char, 1> const own{static_cast<unsigned char>(invitation.readiness)};
  std::vector<unsigned char> all(static_cast<std::size_t>(mpi.size()));
  mpi.gather(own, all, 0);
  if (mpi.rank() == 0) invitation.readiness = readiness_of_all(all);
  std::array<collective_invitation, 1> sent{invitation};
  mpi.broadcast(sent, 0);
  if (problem) std::rethrow_exception(problem);
  if (sent[0].readiness == collective_readiness::invalid) {
    throw collective_error(
        "another rank could not create the communicator; its error has the reason");
  }
  if (sent[0].readiness == collective_readiness::different_options) {
    throw collective_error(
        "ranks pass different check_agreement; pass the same option in all ranks");
  }
  collective_exchange exchange;
  if (options.check_agreement) {
    exchange = [records = connect_record_exchange(mpi, options.time_limit)](
                   collective_description const& description, std::function<void()> const& poll) {
      return records.all_gather(description, poll);
    };
  }
  auto state = connect_collective_rank(collective_id(sent[0].id), mpi.rank(), mpi.size(),
                                       own_device, options);
  if (own_id) own_id->keep();
  state->exchange = std::move(exchange);
  return state;
}

}  // namespace roc::detail
