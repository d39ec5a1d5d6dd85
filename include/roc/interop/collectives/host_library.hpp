// SPDX-License-Identifier: MIT
// The collective library of the host platform: the calls of RCCL and NCCL that rocarray uses, among
// the devices of one or several processes of one machine. Written with calls of HIP only, so the
// same code also serves as RCCL in tests on the fake HIP runtime. Included by
// roc/interop/collectives/library.hpp.
//
// All processes of a communicator map one anonymous shared file, the board. An operation of a rank
// is work of its stream: a copy of its elements to the rank's payload (pinned memory that other
// processes can map), a write of the rank's ready flag on the board, waits for those of the other
// ranks, a host function that computes the result from all payloads, a write of the rank's done
// flag, after which it reads no payload, and a copy of the result to the device. A send waits for
// the receiver's done flag, as NCCL's does. Calls never wait, only streams do, and HIP's waits for
// values occupy no thread: one thread may enqueue the operations of all ranks, one after the other.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include <roc/interop/collectives/host/board.hpp>
#include <roc/interop/collectives/host/communicator.hpp>
#include <roc/interop/collectives/host/types.hpp>
#include <roc/native/hip.hpp>

namespace roc::host_ccl {

inline char const* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled HIP error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    case ncclRemoteError: return "remote process exited or there was an error of another rank";
    case ncclInProgress: return "operation in progress";
  }
  return "unknown result code";
}

inline char const* ncclGetLastError(ncclComm_t communicator) {
  if (communicator != nullptr) {
    std::string text = communicator->group->text();
    if (!text.empty()) {
      communicator->text = std::move(text);
      return communicator->text.c_str();
    }
  }
  return impl::last_error().c_str();
}

namespace impl {

/// Creates an identifier, and its board.
inline ncclResult_t create_id(ncclUniqueId* id) {
  shared_memory board = shared_memory::create(page_bytes);
  if (board.data() == nullptr) {
    return fail(ncclSystemError, "no shared memory (memfd_create)");
  }
  std::random_device random;
  auto& header = *reinterpret_cast<board_header*>(board.data());
  header.nonce = (std::uint64_t{random()} << 32) ^ random();
  header.magic = board_header::expected_magic;
  id_content const content{header.magic, header.nonce, ::getpid(), board.file()};
  std::memset(id->internal, 0, sizeof(id->internal));
  std::memcpy(id->internal, &content, sizeof content);
  registry& all = registry::instance();
  std::scoped_lock const lock(all.mutex);
  all.created.emplace(header.nonce, std::move(board));
  return ncclSuccess;
}

/// Maps the whole board of a new clique, and adds the clique to the registry, whose lock the caller
/// holds. Throws std::bad_alloc.
inline ncclResult_t add_clique(registry& registry, shared_memory const& first_page, int size,
                               clique*& added) {
  std::size_t const bytes = clique::board_bytes(size);
  if (::ftruncate(first_page.file(), static_cast<off_t>(bytes)) != 0) {
    return fail(ncclSystemError, "the shared memory cannot grow (ftruncate)");
  }
  // Not opened again: the process that created it may have closed it meanwhile.
  shared_memory board(::fcntl(first_page.file(), F_DUPFD_CLOEXEC, 0), bytes);
  if (board.data() == nullptr) return fail(ncclSystemError, "no shared memory (mmap)");
  auto const nonce = reinterpret_cast<board_header const*>(first_page.data())->nonce;
  added = registry.add(nonce, std::move(board), size);
  return added == nullptr ? fail(ncclSystemError, "no pinned memory") : ncclSuccess;
}

/// Adds a rank of this process to the communicator of an identifier.
inline ncclResult_t create_rank(ncclComm_t* result, int size, ncclUniqueId const& id, int rank,
                                ncclConfig_t const* config) {
  *result = nullptr;
  id_content content;
  std::memcpy(&content, id.internal, sizeof content);
  if (content.magic != board_header::expected_magic) {
    return fail(ncclInvalidArgument, "the bytes are not an identifier of a communicator");
  }
  if (size < 1 || rank < 0 || rank >= size) {
    return fail(ncclInvalidArgument,
                "rank " + std::to_string(rank) + " of " + std::to_string(size) + " is invalid");
  }
  auto created = std::make_unique<communicator>();
  created->rank = rank;
  created->is_blocking = config == nullptr || config->blocking != 0;
  created->sent.resize(static_cast<std::size_t>(size));
  created->received.resize(static_cast<std::size_t>(size));
  if (auto const code = check_hip(hipGetDevice(&created->device), "hipGetDevice");
      code != ncclSuccess) {
    return code;
  }
  {
    registry& registry = registry::instance();
    std::scoped_lock const lock(registry.mutex);
    auto const found = registry.cliques.find(content.nonce);
    clique* known = found == registry.cliques.end() ? nullptr : found->second.get();
    if (known == nullptr) {
      auto const first_page = shared_memory::open(content.pid, content.file, page_bytes);
      auto* const header = reinterpret_cast<board_header*>(first_page.data());
      if (header == nullptr || header->nonce != content.nonce) {
        return fail(ncclRemoteError,
                    "the process that created the identifier has ended or has destroyed its "
                    "communicator, or its memory cannot be opened");
      }
      std::int32_t unset = 0;
      if (!header->size.compare_exchange_strong(unset, size) && unset != size) {
        return fail(ncclInvalidArgument,
                    "ranks disagree about the number of ranks: " + std::to_string(unset) + " and " +
                        std::to_string(size));
      }
      auto const code =
          without_exceptions([&] { return add_clique(registry, first_page, size, known); });
      if (code != ncclSuccess) {
        stop_creation(*header, rank, code, last_error().c_str());
        return code;
      }
    }
    clique& group = *known;
    if (group.size() != size) {
      return fail(ncclInvalidArgument,
                  "ranks disagree about the number of ranks: " + std::to_string(group.size()) +
                      " and " + std::to_string(size));
    }
    std::int64_t free_rank = 0;
    if (!group.member_of(rank).pid.compare_exchange_strong(free_rank, ::getpid())) {
      return fail(ncclInvalidArgument,
                  "rank " + std::to_string(rank) + " exists already in this communicator");
    }
    group.member_of(rank).device = created->device;
    group.header().joined.fetch_add(1, std::memory_order_acq_rel);
    ++group.local_ranks;
    created->group = &group;
  }
  *result = created.release();
  return ncclSuccess;
}

}  // namespace impl

inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  return impl::without_exceptions([&] { return impl::create_id(id); });
}

/// Frees the board of an identifier that this process has created. Other processes can create no
/// rank with it any more; ranks that exist are not affected. RCCL and NCCL have no such call.
inline void discard_unique_id(ncclUniqueId const& id) noexcept {
  impl::id_content content;
  std::memcpy(&content, id.internal, sizeof content);
  impl::registry& all = impl::registry::instance();
  std::scoped_lock const lock(all.mutex);
  all.created.erase(content.nonce);
}

inline ncclResult_t ncclCommInitRankConfig(ncclComm_t* result, int size, ncclUniqueId id, int rank,
                                           ncclConfig_t* config) {
  impl::group_state& state = impl::group_state::instance();
  auto const code = impl::without_exceptions([&] {
    auto const created = impl::create_rank(result, size, id, rank, config);
    if (created == ncclSuccess) state.connecting.push_back(*result);
    return created;
  });
  if (code != ncclSuccess) return state.keep_error(code);
  return state.depth == 0 ? impl::without_exceptions(impl::end_group) : ncclSuccess;
}

inline ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* result) {
  if (communicator == nullptr) return impl::fail(ncclInvalidArgument, "the communicator is null");
  *result = impl::without_exceptions([&] { return communicator->connect(); });
  if (*result == ncclSuccess) *result = communicator->group->result();
  return ncclSuccess;
}

inline ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  if (communicator == nullptr) return impl::fail(ncclInvalidArgument, "the communicator is null");
  char text[64];  // a std::string could throw, and memory may be exhausted
  std::snprintf(text, sizeof text, "rank %d aborted the communicator", communicator->rank);
  communicator->group->stop(communicator->rank, ncclRemoteError, text);
  impl::registry::instance().remove(communicator);
  return ncclSuccess;
}

/// Blocks while other processes have to read what this rank has sent, ten seconds at most.
inline ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (communicator == nullptr) return impl::fail(ncclInvalidArgument, "the communicator is null");
  auto const begin = std::chrono::steady_clock::now();
  while (communicator->group->has_unread(communicator->rank) &&
         std::chrono::steady_clock::now() - begin < std::chrono::seconds(10)) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  communicator->group->leave(communicator->rank);
  impl::registry::instance().remove(communicator);
  return ncclSuccess;
}

inline ncclResult_t ncclGroupStart() {
  ++impl::group_state::instance().depth;
  return ncclSuccess;
}

inline ncclResult_t ncclGroupEnd() {
  impl::group_state& state = impl::group_state::instance();
  if (state.depth == 0) return impl::fail(ncclInvalidUsage, "there is no group to end");
  return --state.depth == 0 ? impl::without_exceptions(impl::end_group) : ncclSuccess;
}

inline ncclResult_t ncclAllReduce(void const* from, void* to, std::size_t count,
                                  ncclDataType_t type, ncclRedOp_t reduction,
                                  ncclComm_t communicator, hipStream_t stream) {
  return impl::submit(communicator, impl::kind::all_reduce, from, to, count, type, reduction, 0,
                      count, count, stream);
}

inline ncclResult_t ncclBroadcast(void const* from, void* to, std::size_t count,
                                  ncclDataType_t type, int root, ncclComm_t communicator,
                                  hipStream_t stream) {
  bool const is_root = communicator != nullptr && communicator->rank == root;
  return impl::submit(communicator, impl::kind::broadcast, from, to, count, type, ncclSum, root,
                      is_root ? count : 0, is_root && from == to ? 0 : count, stream);
}

inline ncclResult_t ncclReduce(void const* from, void* to, std::size_t count, ncclDataType_t type,
                               ncclRedOp_t reduction, int root, ncclComm_t communicator,
                               hipStream_t stream) {
  bool const is_root = communicator != nullptr && communicator->rank == root;
  return impl::submit(communicator, impl::kind::reduce, from, to, count, type, reduction, root,
                      count, is_root ? count : 0, stream);
}

inline ncclResult_t ncclAllGather(void const* from, void* to, std::size_t count,
                                  ncclDataType_t type, ncclComm_t communicator,
                                  hipStream_t stream) {
  std::size_t const size =
      communicator == nullptr ? 1 : static_cast<std::size_t>(communicator->group->size());
  return impl::submit(communicator, impl::kind::all_gather, from, to, count, type, ncclSum, 0,
                      count, size * count, stream);
}

inline ncclResult_t ncclReduceScatter(void const* from, void* to, std::size_t count,
                                      ncclDataType_t type, ncclRedOp_t reduction,
                                      ncclComm_t communicator, hipStream_t stream) {
  std::size_t const size =
      communicator == nullptr ? 1 : static_cast<std::size_t>(communicator->group->size());
  return impl::submit(communicator, impl::kind::reduce_scatter, from, to, count, type, reduction, 0,
                      size * count, count, stream);
}

inline ncclResult_t ncclSend(void const* from, std::size_t count, ncclDataType_t type, int peer,
                             ncclComm_t communicator, hipStream_t stream) {
  return impl::submit(communicator, impl::kind::send, from, nullptr, count, type, ncclSum, peer,
                      count, 0, stream);
}

inline ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer,
                             ncclComm_t communicator, hipStream_t stream) {
  return impl::submit(communicator, impl::kind::receive, nullptr, to, count, type, ncclSum, peer, 0,
                      count, stream);
}

}  // namespace roc::host_ccl
