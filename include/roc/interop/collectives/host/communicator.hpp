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
  // Cliques without local ranks whose operations are pending or unread. A multimap, because a
  // process can open a board again and abandon it twice.
  std::multimap<std::uint64_t, std::unique_ptr<clique>> abandoned;
  std::vector<shared_memory> boards;  // of destroyed cliques: they stay pinned, as payloads do

  /// Never destroyed: streams may still use the memory when static objects are destroyed.
  static registry& instance() {
    static registry& instance = *new registry;
    return instance;
  }
  /// Adds a clique, and reserves what remove() needs for it. Returns null if there is no pinned
  /// memory. The caller holds the lock.
  clique* add(std::uint64_t nonce, shared_memory board, int size) {
    std::size_t const needed = boards.size() + cliques.size() + abandoned.size() + 1;
    if (boards.capacity() < needed) boards.reserve(2 * needed);
    // The entry first, because nothing may throw after the board has been pinned.
    auto const entry = cliques.try_emplace(nonce).first;
    try {
      entry->second = std::make_unique<clique>(std::move(board), size);
    } catch (...) {
      cliques.erase(entry);
      throw;
    }
    if (entry->second->is_valid()) return entry->second.get();
    cliques.erase(entry);
    return nullptr;
  }
  /// Removes a rank of this process. Allocates no memory: it also ends ranks after a failed
  /// allocation. The caller does not hold the lock.
  void remove(communicator* removed) noexcept {
    std::unique_ptr<communicator> const owned(removed);
    std::multimap<std::uint64_t, std::unique_ptr<clique>> destroyed;
    std::scoped_lock const lock(mutex);
    clique* const group = owned->group;
    if (--group->local_ranks == 0) {
      created.erase(group->nonce());
      abandoned.insert(cliques.extract(group->nonce()));
    }
    for (auto next = abandoned.begin(); next != abandoned.end();) {
      auto const entry = next++;
      if (entry->second->reap()) continue;
      boards.push_back(entry->second->take_board());
      boards.back().close_file();  // the number of descriptors is limited
      destroyed.insert(abandoned.extract(entry));
    }
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
    operation* begun = nullptr;
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

/// Begins the operation of a call.
inline ncclResult_t begin(group_state::call& call) {
  communicator& owner = *call.owner;
  if (owner.group->result() != ncclSuccess) return fail(ncclRemoteError, owner.group->text());
  operation& started = *call.started;
  auto const other = static_cast<std::size_t>(started.root);
  started.generation = started.what == kind::send      ? ++owner.sent[other]
                       : started.what == kind::receive ? ++owner.received[other]
                                                       : ++owner.operations;
  return owner.group->begin(std::move(call.started), call.from, call.stream, call.begun);
}

/// A part of a call of a group.
struct group_step {
  group_state::call* call;
  bool begins;  // else it finishes the operation; a receive does both in one step
  std::size_t round;
};

/// Returns the parts of the calls in the order in which they are enqueued: a stream must not wait
/// before it has enqueued what another rank waits for. The beginnings wait for nothing but earlier
/// operations with the same flags, of which there are a limited number. So the calls are divided
/// into rounds of as many operations as have flags. A round enqueues the beginnings of its sends
/// and collective operations first, then receives and the ends of collective operations in the
/// order of the calls. The ends of sends come last.
inline std::vector<group_step> steps_of(std::vector<group_state::call>& calls) {
  // The operations so far, by communicator, kind of the call, and other rank.
  std::map<std::tuple<communicator*, kind, int>, std::size_t> counts;
  std::size_t last_round = 0;   // of the receives and collective operations so far
  std::size_t first_round = 0;  // of those after the last collective operation
  std::vector<group_step> steps;
  for (group_state::call& entry : calls) {
    kind const what = entry.started->what;
    bool const is_message = entry.started->is_message();
    std::size_t& count = is_message ? counts[{entry.owner, what, entry.started->root}]
                                    : counts[{entry.owner, kind::all_reduce, 0}];
    std::size_t const round = count++ / (is_message ? messages_in_flight : operations_in_flight);
    if (what != kind::receive) steps.push_back({&entry, true, round});
    if (what == kind::send) {
      steps.push_back({&entry, false, calls.size()});
      continue;
    }
    std::size_t const end = std::max(is_message ? first_round : last_round, round);
    last_round = std::max(last_round, end);
    if (!is_message) first_round = end;
    steps.push_back({&entry, false, end});
  }
  std::stable_sort(steps.begin(), steps.end(), [](group_step const& a, group_step const& b) {
    return std::pair(a.round, !a.begins) < std::pair(b.round, !b.begins);
  });
  return steps;
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
  auto const steps = steps_of(calls);
  for (communicator* const owner : connecting) {
    ncclResult_t code = owner->connect();
    while (owner->is_blocking && code == ncclInProgress) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      code = owner->connect();
    }
    if (result == ncclSuccess || (result == ncclInProgress && code != ncclSuccess)) result = code;
  }
  for (group_step const& step : steps) {
    group_state::call& call = *step.call;
    clique& group = *call.owner->group;
    ncclResult_t code = without_exceptions([&] {
      auto const current = check_hip(hipSetDevice(call.owner->device), "hipSetDevice");
      bool const has_begun = call.started == nullptr;
      return has_begun || current != ncclSuccess ? current : begin(call);
    });
    // The end is enqueued also after an error: it frees the operation.
    if (!step.begins && call.begun != nullptr) {
      ncclResult_t const end =
          without_exceptions([&] { return group.finish(*call.begun, call.to, call.stream); });
      if (code == ncclSuccess) code = end;
    }
    if (code != ncclSuccess) {
      // The other ranks wait for the operation.
      group.stop(call.owner->rank, code, last_error().c_str());
    } else if (!call.owner->is_blocking) {
      code = ncclInProgress;  // as NCCL does
    }
    if (result == ncclSuccess || (result == ncclInProgress && code != ncclSuccess)) result = code;
  }
  return result;
}

/// Adds a call to the group, or runs it. May throw.
inline ncclResult_t submit_call(communicator* owner, kind what, void const* from, void* to,
                                std::size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                                int root, std::size_t input_count, std::size_t output_count,
                                hipStream_t stream) {
  group_state& state = group_state::instance();
  if (owner == nullptr) {
    return state.keep_error(fail(ncclInvalidArgument, "the communicator is null"));
  }
  std::size_t const element_bytes = size_of(type);
  bool const is_valid = element_bytes != 0 && root >= 0 && root < owner->group->size() &&
                        reduction >= ncclSum && reduction <= ncclAvg;
  if (!is_valid) {
    return state.keep_error(
        fail(ncclInvalidArgument, std::string(name_of(what)) + ": invalid argument"));
  }
  if (count == 0) return ncclSuccess;
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
  state.calls.push_back({owner, std::move(started), from, to, stream});
  return state.depth == 0 ? end_group() : ncclSuccess;
}

/// As submit_call. An exception makes the group fail.
template <class... Arguments>
ncclResult_t submit(Arguments const&... arguments) {
  ncclResult_t const result = without_exceptions([&] { return submit_call(arguments...); });
  return result == ncclSystemError ? group_state::instance().keep_error(result) : result;
}

}  // namespace roc::host_ccl::impl
