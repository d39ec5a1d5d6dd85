// SPDX-License-Identifier: MIT
// The ranks of this process, and the calls of a group.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <roc/interop/collectives/host/board.hpp>
#include <roc/interop/collectives/host/clique.hpp>
#include <roc/interop/collectives/host/reduction.hpp>
#include <roc/interop/collectives/host/shared_memory.hpp>
#include <roc/interop/collectives/host/types.hpp>
#include <roc/native/hip.hpp>

namespace roc::host_ccl::impl {

/// One rank of a communicator.
class communicator {
 public:
  clique* group = nullptr;
  int rank = 0;
  int device = 0;
  bool is_blocking = true;
  bool is_connected = false;
  std::uint64_t operations = 0;
  std::vector<std::uint64_t> sent;
  std::vector<std::uint64_t> received;
  std::string text;  // of ncclGetLastError

  /// Returns ncclSuccess if all ranks are there, ncclInProgress if not yet, or the error.
  ncclResult_t connect() {
    if (is_connected) return ncclSuccess;
    if (group->result() != ncclSuccess) return fail(group->result(), group->text());
    if (!group->have_all_joined()) return ncclInProgress;
    if (auto const code = group->check_devices(); code != ncclSuccess) return code;
    group->watch_processes(rank);
    is_connected = true;
    return ncclSuccess;
  }
};

/// The cliques of this process, and the boards that it has created.
struct registry {
  std::mutex mutex;
  std::map<std::uint64_t, std::unique_ptr<clique>> cliques;  // by nonce
  std::map<std::uint64_t, shared_memory> created;
  std::vector<std::unique_ptr<clique>> abandoned;  // with operations that are pending or unread
  std::vector<shared_memory> boards;  // of destroyed cliques: they stay pinned, as payloads do

  /// Never destroyed: streams may still use the memory when static objects are destroyed.
  static registry& instance() {
    static registry& instance = *new registry;
    return instance;
  }
  /// Removes a rank of this process. The caller does not hold the lock.
  void remove(communicator* removed) {
    std::unique_ptr<communicator> const owned(removed);
    std::vector<std::unique_ptr<clique>> destroyed;
    std::scoped_lock const lock(mutex);
    clique* const group = owned->group;
    if (--group->local_ranks == 0) {
      created.erase(group->nonce());
      auto const entry = cliques.find(group->nonce());
      abandoned.push_back(std::move(entry->second));
      cliques.erase(entry);
    }
    std::erase_if(abandoned, [&](std::unique_ptr<clique>& entry) {
      if (entry->reap()) return false;
      boards.push_back(entry->take_board());
      destroyed.push_back(std::move(entry));
      return true;
    });
  }
};

/// The calls that a thread has made since ncclGroupStart.
struct group_state {
  struct call {
    communicator* owner;
    std::unique_ptr<operation> started;
    void const* from;
    void* to;
    hipStream_t stream;
    std::size_t round = 0;      // see sort_into_rounds
    operation* sent = nullptr;  // a send that has been started
  };

  int depth = 0;
  ncclResult_t error = ncclSuccess;  // of the first call of the group that has failed
  std::vector<call> calls;
  std::vector<communicator*> connecting;

  /// Makes the end of the group fail with the error of a call. Returns `result`.
  ncclResult_t keep_error(ncclResult_t result) {
    if (depth != 0 && error == ncclSuccess) error = result;
    return result;
  }
  static group_state& instance() {
    static thread_local group_state state;
    return state;
  }
};

/// Restores the current device.
class current_device_scope {
 public:
  current_device_scope() { static_cast<void>(hipGetDevice(&previous_)); }
  ~current_device_scope() { static_cast<void>(hipSetDevice(previous_)); }
  current_device_scope(current_device_scope const&) = delete;
  current_device_scope& operator=(current_device_scope const&) = delete;

 private:
  int previous_ = 0;
};

/// Starts the operation of a call.
inline ncclResult_t run(group_state::call& call) {
  communicator& owner = *call.owner;
  if (owner.group->result() != ncclSuccess) return fail(ncclRemoteError, owner.group->text());
  if (auto const code = check_hip(hipSetDevice(owner.device), "hipSetDevice");
      code != ncclSuccess) {
    return code;
  }
  operation& started = *call.started;
  auto const other = static_cast<std::size_t>(started.root);
  started.generation = started.what == kind::send      ? ++owner.sent[other]
                       : started.what == kind::receive ? ++owner.received[other]
                                                       : ++owner.operations;
  return owner.group->enqueue(std::move(call.started), call.from, call.to, call.stream, call.sent);
}

/// Sorts the calls of a group into the order in which they are started. A stream that waits must
/// not wait for what comes later in the group of any rank. So the messages between two ranks are
/// divided into rounds of as many as can be in flight. A round begins with its sends, so that a
/// rank's receives never delay its sends; the other calls keep their order relative to collective
/// operations.
inline void sort_into_rounds(std::vector<group_state::call>& calls) {
  // The messages so far, by communicator, kind of the call, and other rank.
  std::map<std::tuple<communicator*, kind, int>, std::size_t> counts;
  std::size_t last_round = 0;   // of the calls so far, without sends
  std::size_t first_round = 0;  // of receives after the last collective operation
  for (group_state::call& entry : calls) {
    operation const& started = *entry.started;
    if (started.is_message()) {
      std::size_t& count = counts[{entry.owner, started.what, started.root}];
      entry.round = count++ / messages_in_flight;
      if (started.what == kind::send) continue;
      entry.round = std::max(entry.round, first_round);
      last_round = std::max(last_round, entry.round);
    } else {
      entry.round = first_round = last_round;
    }
  }
  std::stable_sort(calls.begin(), calls.end(), [](auto const& a, auto const& b) {
    auto const key_of = [](group_state::call const& entry) {
      return std::pair(entry.round, entry.started->what != kind::send);
    };
    return key_of(a) < key_of(b);
  });
}

/// Runs the calls of the outermost group. Starts nothing if one of its calls has failed, as NCCL.
inline ncclResult_t end_group() {
  group_state& state = group_state::instance();
  auto calls = std::exchange(state.calls, {});
  auto const connecting = std::exchange(state.connecting, {});
  if (auto const error = std::exchange(state.error, ncclSuccess); error != ncclSuccess) {
    return error;
  }
  current_device_scope const device;
  ncclResult_t result = ncclSuccess;
  for (communicator* const owner : connecting) {
    ncclResult_t code = owner->connect();
    while (owner->is_blocking && code == ncclInProgress) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      code = owner->connect();
    }
    if (result == ncclSuccess || (result == ncclInProgress && code != ncclSuccess)) result = code;
  }
  sort_into_rounds(calls);
  auto const add = [&](group_state::call const& call, ncclResult_t code) {
    if (code != ncclSuccess) {
      // The other ranks wait for the operation.
      call.owner->group->stop(call.owner->rank, code, last_error());
    } else if (!call.owner->is_blocking) {
      code = ncclInProgress;  // as NCCL does
    }
    if (result == ncclSuccess || (result == ncclInProgress && code != ncclSuccess)) result = code;
  };
  for (group_state::call& call : calls) add(call, run(call));
  // A rank that sends and receives in one group must not wait for its receivers before it receives.
  for (group_state::call& call : calls) {
    if (call.sent == nullptr) continue;
    static_cast<void>(hipSetDevice(call.owner->device));
    add(call, call.owner->group->finish_send(*call.sent, call.stream));
  }
  return result;
}

/// Returns the operation of a call, or null if its arguments are invalid (last_error() says why).
inline std::unique_ptr<operation> make_operation(communicator* owner, kind what, std::size_t count,
                                                 ncclDataType_t type, ncclRedOp_t reduction,
                                                 int root, std::size_t input_count,
                                                 std::size_t output_count) {
  if (owner == nullptr) {
    fail(ncclInvalidArgument, "the communicator is null");
    return nullptr;
  }
  std::size_t const element_bytes = size_of(type);
  bool const is_valid = element_bytes != 0 && root >= 0 && root < owner->group->size() &&
                        reduction >= ncclSum && reduction <= ncclAvg;
  if (!is_valid) {
    fail(ncclInvalidArgument, std::string(name_of(what)) + ": invalid argument");
    return nullptr;
  }
  auto started = std::make_unique<operation>();
  started->group = owner->group;
  started->rank = owner->rank;
  started->device = owner->device;
  started->what = what;
  started->type = type;
  started->reduction = reduction;
  started->root = root;
  started->count = count;
  started->input_bytes = input_count * element_bytes;
  started->output_bytes = output_count * element_bytes;
  return started;
}

/// Adds a call to the group, or runs it.
inline ncclResult_t submit(communicator* owner, kind what, void const* from, void* to,
                           std::size_t count, ncclDataType_t type, ncclRedOp_t reduction, int root,
                           std::size_t input_count, std::size_t output_count, hipStream_t stream) {
  group_state& state = group_state::instance();
  auto started =
      make_operation(owner, what, count, type, reduction, root, input_count, output_count);
  if (started == nullptr) return state.keep_error(ncclInvalidArgument);
  if (count == 0) return ncclSuccess;
  state.calls.push_back({owner, std::move(started), from, to, stream});
  return state.depth == 0 ? end_group() : ncclSuccess;
}

}  // namespace roc::host_ccl::impl
