// SPDX-License-Identifier: MIT
// The memory that all processes of a communicator share: which ranks have joined, which operations
// they have started, and the first error.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include <roc/interop/collectives/host/shared_memory.hpp>
#include <roc/interop/collectives/host/types.hpp>
#include <roc/native/hip.hpp>

namespace roc::host_ccl::impl {

/// The number that releases a wait for a flag, whatever operation it waits for.
inline constexpr std::uint64_t released = std::uint64_t{1} << 62;

/// How many operations of a communicator, and how many messages from one rank to another, have
/// flags and descriptors of their own. The stream of a later one waits until the earlier one that
/// had its flags is done.
inline constexpr std::uint64_t operations_in_flight = 1024;
inline constexpr std::uint64_t messages_in_flight = 64;

enum class kind : std::uint32_t {
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  send,
  receive
};

inline char const* name_of(kind value) {
  static char const* const names[] = {"ncclAllReduce", "ncclBroadcast",     "ncclReduce",
                                      "ncclAllGather", "ncclReduceScatter", "ncclSend",
                                      "ncclRecv"};
  return names[static_cast<std::uint32_t>(value)];
}

/// Describes an operation of a rank. The rank writes it before it sets its ready flag.
struct descriptor {
  std::uint64_t generation;  // the number of the operation, from 1 on
  kind operation;
  std::uint32_t type;
  std::uint32_t reduction;
  std::int32_t root;
  std::uint64_t count;
  std::int64_t pid;       // of the process that has the payload
  std::uint64_t address;  // of the payload in that process
  std::uint64_t bytes;    // of the input in the payload
  std::uint64_t offset;   // of the payload in its file
  std::int32_t file;      // the file's descriptor in that process
};

/// Describes a rank for all processes.
struct member {
  std::atomic<std::int64_t> pid;  // 0: the rank is not there yet
  std::atomic<std::int32_t> device;
  std::atomic<std::int32_t> has_left;
  std::atomic<std::int32_t> is_text_claimed;  // a thread of the rank's process writes the text
  char error_text[256];                       // of the first error that the rank found
};

/// The beginning of the board. All bytes of a new board are 0.
struct board_header {
  static constexpr std::uint64_t expected_magic = 0x6c6f'6363'7261'6364;

  std::uint64_t magic;
  std::uint64_t nonce;
  std::atomic<std::int32_t> size;
  std::atomic<std::int32_t> joined;
  // The first error, after which all ranks stop: its code + 256 * (the rank that found it + 1), or
  // the code alone if a rank could not be created.
  std::atomic<std::int32_t> error;
  std::atomic<std::int32_t> is_creation_text_claimed;  // a rank that could not be created writes it
  char creation_text[256];
};

/// Tells the other ranks, which wait for `rank`, that it could not be created. Only the first page
/// of the board need be mapped. Keeps only the first error of all ranks. Does nothing if all ranks
/// have joined, because another process has then created this rank. Allocates nothing.
inline void stop_creation(board_header& header, int rank, ncclResult_t code, char const* text) {
  if (header.joined.load(std::memory_order_acquire) >= header.size) return;
  if (header.is_creation_text_claimed.exchange(1) != 0) return;  // by another rank
  // Others see the error only after its text is complete.
  std::snprintf(header.creation_text, sizeof(header.creation_text),
                "rank %d could not be created: %s", rank, text);
  std::int32_t none = ncclSuccess;
  header.error.compare_exchange_strong(none, code);
}

/// The contents of an ncclUniqueId, by which other processes find the board.
struct id_content {
  std::uint64_t magic;
  std::uint64_t nonce;
  std::int64_t pid;
  std::int32_t file;
};

/// The board, as one process maps it. Any thread may call its functions.
class board {
 public:
  /// Maps the memory, and pins the flags. See is_valid().
  board(shared_memory memory, int size) : memory_(std::move(memory)), size_(size) {
    auto const result = hipHostRegister(ready(0), flag_bytes(size),
                                        hipHostRegisterPortable | hipHostRegisterMapped);
    is_registered_ = result == hipSuccess;
    if (!is_registered_) static_cast<void>(hipGetLastError());
  }

  /// Returns false if the flags could not be pinned.
  bool is_valid() const { return is_registered_; }
  int size() const { return size_; }
  board_header& header() const { return *reinterpret_cast<board_header*>(memory_.data()); }
  std::uint64_t nonce() const { return header().nonce; }
  member& member_of(int rank) const {
    return reinterpret_cast<member*>(memory_.data() + sizeof(board_header))[rank];
  }

  /// Returns the size of the memory: header, members, flags (on pages of their own, which are
  /// pinned) and descriptors.
  static std::size_t board_bytes(int size) {
    return round_up(flag_offset(size) + flag_bytes(size) + flag_count(size) * sizeof(descriptor),
                    page_bytes);
  }
  /// Returns the position of the flags and the descriptor of a rank's collective operation.
  std::size_t position(std::uint64_t generation, int rank) const {
    return static_cast<std::size_t>(generation % operations_in_flight) *
               static_cast<std::size_t>(size_) +
           static_cast<std::size_t>(rank);
  }
  /// Returns the position of the flags and the descriptor of a message. Its sender sets the ready
  /// flag, its receiver the done flag.
  std::size_t position(std::uint64_t generation, int source, int destination) const {
    auto const ranks = static_cast<std::size_t>(size_);
    auto const channel =
        static_cast<std::size_t>(source) * ranks + static_cast<std::size_t>(destination);
    return operations_in_flight * ranks + channel * messages_in_flight +
           static_cast<std::size_t>(generation % messages_in_flight);
  }
  /// Returns the flag with the number of the last operation whose input is ready.
  std::uint64_t* ready(std::size_t position) const {
    return reinterpret_cast<std::uint64_t*>(memory_.data() + flag_offset(size_)) + position;
  }
  /// Returns the flag with the number of the last operation for which its rank has read the inputs
  /// of all ranks, or the message.
  std::uint64_t* done(std::size_t position) const { return ready(position) + flag_count(size_); }
  bool is_done(std::size_t position, std::uint64_t generation) const {
    return std::atomic_ref<std::uint64_t>(*done(position)).load(std::memory_order_acquire) >=
           generation;
  }
  descriptor& description(std::size_t position) const {
    return reinterpret_cast<descriptor*>(memory_.data() + flag_offset(size_) +
                                         flag_bytes(size_))[position];
  }

  /// Returns the code of the first error, or ncclSuccess.
  ncclResult_t result() const {
    return static_cast<ncclResult_t>(header().error.load(std::memory_order_acquire) % 256);
  }
  /// Returns the text of the first error, or an empty string.
  std::string text() const {
    std::int32_t const error = header().error.load(std::memory_order_acquire);
    if (error == ncclSuccess) return "";
    return error / 256 == 0 ? header().creation_text : member_of(error / 256 - 1).error_text;
  }
  /// Records an error that `rank`, a rank of this process, has found. Keeps only the first error of
  /// all ranks. Releases all waits of all ranks. May wait until another thread has recorded an
  /// error of that rank.
  void stop(int rank, ncclResult_t code, char const* text) {
    member& finder = member_of(rank);
    if (finder.is_text_claimed.exchange(1) == 0) {
      // Others see the error only after its text is complete.
      std::snprintf(finder.error_text, sizeof(finder.error_text), "%s", text);
      std::int32_t none = ncclSuccess;
      header().error.compare_exchange_strong(none, code + 256 * (rank + 1));
    } else {
      // Another thread of this process is recording an error of the same rank.
      while (result() == ncclSuccess) std::this_thread::yield();
    }
    // Release the flags even if another rank's error was first, because its process may have ended
    // before it did.
    for (std::size_t i = 0; i < flag_count(size_); ++i) release(i);
  }
  /// Releases the waits for the flags of a position.
  void release(std::size_t position) const {
    for (std::uint64_t* const flag : {ready(position), done(position)}) release(flag);
  }
  /// Releases the waits for a rank that leaves: what it has sent stays valid.
  void leave(int rank) {
    member_of(rank).has_left.store(1, std::memory_order_release);
    for (std::uint64_t i = 0; i < operations_in_flight; ++i) release(position(i, rank));
    for (int other = 0; other < size_; ++other) {
      for (std::uint64_t i = 0; i < messages_in_flight; ++i) {
        release(ready(position(i, rank, other)));
        release(done(position(i, other, rank)));
      }
    }
  }
  /// Returns true if every rank has joined.
  bool have_all_joined() const { return header().joined.load(std::memory_order_acquire) >= size_; }
  /// Returns the error of ranks that share a device, which NCCL refuses too.
  ncclResult_t check_devices() const {
    for (int a = 0; a < size_; ++a) {
      for (int b = 0; b < a; ++b) {
        if (member_of(a).pid != member_of(b).pid || member_of(a).device != member_of(b).device)
          continue;
        return fail(ncclInvalidUsage, "ranks " + std::to_string(b) + " and " + std::to_string(a) +
                                          " are on the same device " +
                                          std::to_string(member_of(a).device.load()));
      }
    }
    return ncclSuccess;
  }

 protected:
  ~board() = default;
  /// Moves the memory out. The board must only be destroyed afterwards.
  shared_memory take_memory() { return std::move(memory_); }

 private:
  static std::size_t flag_offset(int size) {
    return round_up(sizeof(board_header) + static_cast<std::size_t>(size) * sizeof(member),
                    page_bytes);
  }
  static std::size_t flag_count(int size) {
    auto const ranks = static_cast<std::size_t>(size);
    return operations_in_flight * ranks + messages_in_flight * ranks * ranks;
  }
  static std::size_t flag_bytes(int size) {
    return round_up(2 * flag_count(size) * sizeof(std::uint64_t), page_bytes);
  }
  static void release(std::uint64_t* flag) {
    std::atomic_ref<std::uint64_t>(*flag).store(released, std::memory_order_release);
  }

  shared_memory memory_;
  int size_;
  bool is_registered_ = false;
};

}  // namespace roc::host_ccl::impl
