// SPDX-License-Identifier: MIT
// The collective library of the host platform: the calls of RCCL and NCCL that rocarray uses, among
// the devices of one or several processes of one machine. Written with calls of HIP only, so the
// same code also serves as RCCL in tests on the fake HIP runtime. Included by
// roc/interop/collectives/library.hpp.
//
// All processes of a communicator map one anonymous shared file, the board. An operation of a rank
// is work of its stream: a copy of its elements to the rank's payload (pinned memory that other
// processes can map), a write of the rank's flag on the board, waits for the flags of the other
// ranks, a host function that computes the result from all payloads, and a copy of the result to
// the device. Only the waits depend on other ranks, and HIP's waits for values occupy no thread:
// any order of synchronizations ends, also if one thread has enqueued the operations of all ranks.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <roc/half.hpp>
#include <roc/native/hip.hpp>

namespace roc::host_ccl {

enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
};

enum ncclRedOp_t { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 };

enum ncclDataType_t {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
};

struct ncclUniqueId {
  char internal[128];
};

struct ncclConfig_t {
  int blocking = 1;
};

namespace impl {
class communicator;
}
using ncclComm_t = impl::communicator*;

namespace impl {

/// The text of the calling thread's last failed call.
inline std::string& last_error() {
  static thread_local std::string text;
  return text;
}
/// Sets the text of last_error and returns `result`.
inline ncclResult_t fail(ncclResult_t result, std::string text) {
  last_error() = std::move(text);
  return result;
}
/// Returns ncclSuccess, or sets the text of last_error for a failed call of HIP.
inline ncclResult_t check_hip(hipError_t code, char const* call) {
  if (code == hipSuccess) return ncclSuccess;
  static_cast<void>(hipGetLastError());
  return fail(ncclUnhandledCudaError, std::string(call) + ": " + hipGetErrorString(code));
}

inline std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}
inline constexpr std::size_t page_bytes = 4096;

/// The number that releases a wait for a flag, whatever operation it waits for.
inline constexpr std::uint64_t released = std::uint64_t{1} << 62;

/// How many operations of a communicator, and how many messages from one rank to another, can be
/// enqueued before the first of them has finished.
inline constexpr std::uint64_t operations_in_flight = 1024;
inline constexpr std::uint64_t messages_in_flight = 64;
/// The bytes of payloads of a process from which on an operation waits for earlier ones.
inline constexpr std::size_t payload_limit = std::size_t{1} << 30;

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

/// What a rank publishes about an operation before it sets its flag.
struct descriptor {
  std::uint64_t generation;  // the number of the operation, from 1 on
  kind operation;
  std::uint32_t type;
  std::uint32_t reduction;
  std::int32_t root;
  std::uint64_t count;
  std::int64_t pid;                 // of the process that has the payload
  std::uint64_t address;            // of the payload in that process
  std::uint64_t bytes;              // of the input in the payload
  std::int32_t file;                // the payload's descriptor in that process
  std::atomic<std::uint64_t> done;  // the last generation whose payloads this rank no longer reads
};

struct member {
  std::atomic<std::int64_t> pid;  // 0: the rank is not there yet
  std::atomic<std::int32_t> device;
  std::atomic<std::int32_t> has_left;
};

/// The beginning of the board. All bytes of a new board are 0.
struct board_header {
  static constexpr std::uint64_t expected_magic = 0x6c6f'6363'7261'6363;

  std::uint64_t magic;
  std::uint64_t nonce;
  std::atomic<std::int32_t> size;
  std::atomic<std::int32_t> joined;
  std::atomic<std::int32_t> result;  // of the first error; others then stop
  std::atomic<std::int32_t> has_text;
  char text[256];
};

struct id_content {
  std::uint64_t magic;
  std::uint64_t nonce;
  std::int64_t pid;
  std::int32_t file;
};

/// A file descriptor with a mapping. Move-only.
class shared_memory {
 public:
  shared_memory() = default;
  shared_memory(int file, std::size_t bytes) : file_(file), bytes_(bytes) {
    void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) data_ = static_cast<std::byte*>(mapped);
  }
  shared_memory(shared_memory&& other) noexcept
      : file_(std::exchange(other.file_, -1)),
        bytes_(std::exchange(other.bytes_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  shared_memory& operator=(shared_memory&& other) noexcept {
    std::swap(file_, other.file_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~shared_memory() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
    if (file_ >= 0) ::close(file_);
  }
  /// Returns anonymous shared memory; empty if there is none.
  static shared_memory create(std::size_t bytes) {
    int const file = static_cast<int>(::syscall(SYS_memfd_create, "rocarray", 1U));  // MFD_CLOEXEC
    if (file < 0) return {};
    if (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
      ::close(file);
      return {};
    }
    return {file, bytes};
  }
  /// Returns the memory of another process; empty if it has ended or has no such file.
  static shared_memory open(std::int64_t pid, int file, std::size_t bytes) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(pid), file);
    int const opened = ::open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0) return {};
    return {opened, bytes};
  }
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int file() const { return file_; }

 private:
  int file_ = -1;
  std::size_t bytes_ = 0;
  std::byte* data_ = nullptr;
};

/// Pinned memory that other processes can map. It stays pinned until the process ends, and is used
/// again: hipHostUnregister waits for all work of all devices, also for operations that wait for
/// other ranks.
class payload_pool {
 public:
  /// Returns memory of at least `bytes` bytes; empty if there is none.
  shared_memory take(std::size_t bytes) {
    std::size_t const size = std::bit_ceil(std::max(bytes, page_bytes));
    {
      std::scoped_lock const lock(mutex_);
      auto& list = free_[size];
      if (!list.empty()) {
        shared_memory found = std::move(list.back());
        list.pop_back();
        return found;
      }
    }
    shared_memory created = shared_memory::create(size);
    if (created.data() == nullptr) return {};
    if (hipHostRegister(created.data(), size, hipHostRegisterPortable) == hipSuccess) {
      return created;
    }
    static_cast<void>(hipGetLastError());
    return {};
  }
  /// Takes memory back that no operation uses. Large memory keeps no pages.
  void give_back(shared_memory memory) {
    if (memory.data() == nullptr) return;
    if (memory.bytes() > (std::size_t{1} << 20)) {
      static_cast<void>(::fallocate(memory.file(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                                    static_cast<off_t>(memory.bytes())));
    }
    std::scoped_lock const lock(mutex_);
    free_[memory.bytes()].push_back(std::move(memory));
  }

  /// Never destroyed: the memory stays pinned.
  static payload_pool& instance() {
    static payload_pool& instance = *new payload_pool;
    return instance;
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<shared_memory>> free_;  // by size
};

inline std::size_t size_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8: return 1;
    case ncclFloat16: return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32: return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64: return 8;
  }
  return 0;
}

template <class T>
T combined(T a, T b, ncclRedOp_t operation) {
  if (operation == ncclMax) return a < b ? b : a;
  if (operation == ncclMin) return b < a ? b : a;
  if constexpr (std::is_integral_v<T>) {
    // Without overflow of signed numbers.
    auto const x = static_cast<std::uint64_t>(a);
    auto const y = static_cast<std::uint64_t>(b);
    return static_cast<T>(operation == ncclProd ? x * y : x + y);
  } else {
    return operation == ncclProd ? a * b : a + b;
  }
}

/// Combines `count` elements of each input, in the order of the ranks.
template <class T, class Sum = T>
void reduce_typed(std::vector<std::byte const*> const& inputs, std::byte* output, std::size_t count,
                  ncclRedOp_t operation) {
  for (std::size_t i = 0; i < count; ++i) {
    auto const element = [&](std::size_t rank) {
      T value;
      std::memcpy(&value, inputs[rank] + i * sizeof(T), sizeof(T));
      return static_cast<Sum>(value);
    };
    Sum result = element(0);
    for (std::size_t rank = 1; rank < inputs.size(); ++rank) {
      result = combined(result, element(rank), operation);
    }
    if (operation == ncclAvg) result = static_cast<Sum>(result / static_cast<Sum>(inputs.size()));
    T const value = static_cast<T>(result);
    std::memcpy(output + i * sizeof(T), &value, sizeof(T));
  }
}

inline void reduce(std::vector<std::byte const*> const& inputs, std::byte* output,
                   std::size_t count, ncclDataType_t type, ncclRedOp_t operation) {
  switch (type) {
    case ncclInt8: return reduce_typed<std::int8_t, std::int64_t>(inputs, output, count, operation);
    case ncclUint8:
      return reduce_typed<std::uint8_t, std::uint64_t>(inputs, output, count, operation);
    case ncclInt32:
      return reduce_typed<std::int32_t, std::int64_t>(inputs, output, count, operation);
    case ncclUint32:
      return reduce_typed<std::uint32_t, std::uint64_t>(inputs, output, count, operation);
    case ncclInt64: return reduce_typed<std::int64_t>(inputs, output, count, operation);
    case ncclUint64: return reduce_typed<std::uint64_t>(inputs, output, count, operation);
    case ncclFloat16: return reduce_typed<half, float>(inputs, output, count, operation);
    case ncclFloat32: return reduce_typed<float>(inputs, output, count, operation);
    case ncclFloat64: return reduce_typed<double>(inputs, output, count, operation);
  }
}

class clique;

/// An operation of one rank. Lives until its stream has passed it and no rank reads its payload.
struct operation {
  operation() = default;
  operation(operation const&) = delete;
  operation& operator=(operation const&) = delete;
  ~operation() {
    if (finished != nullptr) static_cast<void>(hipEventDestroy(finished));
    payload_pool::instance().give_back(std::move(memory));
  }

  clique* group = nullptr;
  int rank = 0;
  int device = 0;
  kind what{};
  ncclDataType_t type{};
  ncclRedOp_t reduction{};
  int root = 0;  // of a message: the other rank
  std::size_t count = 0;
  std::size_t input_bytes = 0;
  std::size_t output_bytes = 0;
  std::uint64_t generation = 0;
  shared_memory memory{};
  hipEvent_t finished = nullptr;
  bool is_enqueued = false;

  bool is_message() const { return what == kind::send || what == kind::receive; }
  std::byte* output() const { return memory.data() + round_up(input_bytes, 64); }
};

/// The communicator as one process sees it: the board, and the pending operations of its ranks.
class clique {
 public:
  clique(shared_memory board, int size) : board_(std::move(board)), size_(size) {
    auto const result =
        hipHostRegister(flags(), flag_bytes(size), hipHostRegisterPortable | hipHostRegisterMapped);
    is_registered_ = result == hipSuccess;
    if (!is_registered_) static_cast<void>(hipGetLastError());
  }
  clique(clique const&) = delete;
  clique& operator=(clique const&) = delete;
  ~clique() {
    stop_monitor();
    for (auto const& [rank, file] : processes_) ::close(file);
  }

  bool is_valid() const { return is_registered_; }
  int size() const { return size_; }
  /// Stops the monitor. The clique must only be destroyed afterwards.
  shared_memory take_board() {
    stop_monitor();
    return std::move(board_);
  }
  board_header& header() const { return *reinterpret_cast<board_header*>(board_.data()); }
  std::uint64_t nonce() const { return header().nonce; }
  member& of(int rank) const {
    return reinterpret_cast<member*>(board_.data() + sizeof(board_header))[rank];
  }

  // The board: header, members, flags (on pages of their own, which are registered), descriptors.
  static std::size_t flag_offset(int size) {
    return round_up(sizeof(board_header) + static_cast<std::size_t>(size) * sizeof(member),
                    page_bytes);
  }
  static std::size_t flag_count(int size) {
    auto const ranks = static_cast<std::size_t>(size);
    return operations_in_flight * ranks + messages_in_flight * ranks * ranks;
  }
  static std::size_t flag_bytes(int size) {
    return round_up(flag_count(size) * sizeof(std::uint64_t), page_bytes);
  }
  static std::size_t board_bytes(int size) {
    return round_up(flag_offset(size) + flag_bytes(size) + flag_count(size) * sizeof(descriptor),
                    page_bytes);
  }

  /// Returns the position of the flag and the descriptor of a rank's collective operation.
  std::size_t position(std::uint64_t generation, int rank) const {
    return static_cast<std::size_t>(generation % operations_in_flight) *
               static_cast<std::size_t>(size_) +
           static_cast<std::size_t>(rank);
  }
  /// Returns the position of the flag and the descriptor of a message, which its sender sets.
  std::size_t position(std::uint64_t generation, int source, int destination) const {
    auto const ranks = static_cast<std::size_t>(size_);
    auto const channel =
        static_cast<std::size_t>(source) * ranks + static_cast<std::size_t>(destination);
    return operations_in_flight * ranks + channel * messages_in_flight +
           static_cast<std::size_t>(generation % messages_in_flight);
  }
  std::uint64_t* flags() const {
    return reinterpret_cast<std::uint64_t*>(board_.data() + flag_offset(size_));
  }
  descriptor& description(std::size_t position) const {
    return reinterpret_cast<descriptor*>(board_.data() + flag_offset(size_) +
                                         flag_bytes(size_))[position];
  }

  ncclResult_t result() const {
    return static_cast<ncclResult_t>(header().result.load(std::memory_order_acquire));
  }
  /// Returns the text of the first error.
  std::string text() const {
    return header().has_text.load(std::memory_order_acquire) != 0 ? header().text : "";
  }
  /// Records the first error and releases all waits of all ranks. Any thread may call it.
  void stop(ncclResult_t code, std::string const& text) {
    std::int32_t expected = ncclSuccess;
    if (!header().result.compare_exchange_strong(expected, code)) return;
    std::snprintf(header().text, sizeof(header().text), "%s", text.c_str());
    header().has_text.store(1, std::memory_order_release);
    for (std::size_t i = 0; i < flag_count(size_); ++i) release(i);
  }
  void release(std::size_t flag) const {
    std::atomic_ref<std::uint64_t>(flags()[flag]).store(released, std::memory_order_release);
  }
  /// Releases the waits for a rank that leaves: what it has sent stays valid.
  void leave(int rank) {
    of(rank).has_left.store(1, std::memory_order_release);
    for (std::uint64_t i = 0; i < operations_in_flight; ++i) release(position(i, rank));
    for (int to = 0; to < size_; ++to) {
      for (std::uint64_t i = 0; i < messages_in_flight; ++i) release(position(i, rank, to));
    }
  }
  bool is_everyone_here() const { return header().joined.load(std::memory_order_acquire) >= size_; }
  /// Returns the error of ranks that share a device, which NCCL refuses too.
  ncclResult_t check_devices() const {
    for (int a = 0; a < size_; ++a) {
      for (int b = 0; b < a; ++b) {
        if (of(a).pid != of(b).pid || of(a).device != of(b).device) continue;
        return fail(ncclInvalidUsage, "ranks " + std::to_string(b) + " and " + std::to_string(a) +
                                          " are on the same device " +
                                          std::to_string(of(a).device.load()));
      }
    }
    return ncclSuccess;
  }
  /// Watches the processes of the other ranks, so that the end of one releases all waits.
  void watch_processes() {
    std::scoped_lock const lock(mutex_);
    if (is_watching_) return;
    is_watching_ = true;
    for (int rank = 0; rank < size_; ++rank) {
      std::int64_t const pid = of(rank).pid;
      if (pid == ::getpid()) continue;
      int const file = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
      if (file >= 0) processes_.emplace_back(rank, file);
    }
    if (!processes_.empty()) monitor_ = std::thread([this] { monitor_loop(); });
  }

  /// Starts an operation. The caller has checked the arguments. Blocks only if too many operations
  /// are in flight.
  ncclResult_t enqueue(std::unique_ptr<operation> started, void const* from, void* to,
                       hipStream_t stream);
  /// Frees what is no longer used.
  void reap();
  bool has_pending() {
    std::scoped_lock const lock(mutex_);
    return !pending_.empty();
  }
  bool has_many_pending() {
    std::scoped_lock const lock(mutex_);
    return pending_.size() >= 32;
  }
  /// Returns true if another process still has to read what a rank has sent.
  bool has_unread(int rank);

  int local_ranks = 0;  // the registry's lock protects it

 private:
  ncclResult_t enqueue_work(operation& started, void const* from, void* to, hipStream_t stream);
  static void compute(void* data) {
    static_cast<operation*>(data)->group->compute(*static_cast<operation*>(data));
  }
  void compute(operation& current);
  enum class readers { all, other_processes };
  /// Returns true if the ranks no longer need the payload of an operation.
  bool is_read(operation const& finished, readers who) const;
  void monitor_loop();
  void stop_monitor() {
    {
      std::scoped_lock const lock(mutex_);
      is_stopping_ = true;
    }
    if (monitor_.joinable()) monitor_.join();
  }

  shared_memory board_;
  int size_;
  bool is_registered_ = false;
  std::mutex mutex_;  // protects all members below
  std::vector<std::unique_ptr<operation>> pending_;
  std::size_t payload_bytes_ = 0;
  bool is_watching_ = false;
  bool is_stopping_ = false;
  std::vector<std::pair<int, int>> processes_;  // ranks and their descriptors for poll()
  std::thread monitor_;
};

inline void clique::monitor_loop() {
  for (;;) {
    {
      std::scoped_lock const lock(mutex_);
      if (is_stopping_) return;
    }
    for (auto const& [rank, file] : processes_) {
      pollfd entry{file, POLLIN, 0};
      if (::poll(&entry, 1, 0) != 1 || of(rank).has_left.load() != 0) continue;
      stop(ncclRemoteError, "the process of rank " + std::to_string(rank) + " has ended");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

inline bool clique::is_read(operation const& finished, readers who) const {
  if (result() != ncclSuccess || finished.what == kind::receive) return true;
  auto const is_done = [&](int reader, std::size_t position) {
    return of(reader).has_left.load() != 0 ||
           (who == readers::other_processes && of(reader).pid == ::getpid()) ||
           description(position).done.load(std::memory_order_acquire) >= finished.generation;
  };
  if (finished.what == kind::send) {
    return is_done(finished.root, position(finished.generation, finished.rank, finished.root));
  }
  for (int rank = 0; rank < size_; ++rank) {
    if (!is_done(rank, position(finished.generation, rank))) return false;
  }
  return true;
}

inline bool clique::has_unread(int rank) {
  std::scoped_lock const lock(mutex_);
  return std::any_of(pending_.begin(), pending_.end(), [&](auto const& entry) {
    return entry->rank == rank && entry->is_enqueued && !is_read(*entry, readers::other_processes);
  });
}

inline void clique::reap() {
  std::vector<std::unique_ptr<operation>> finished;
  {
    std::scoped_lock const lock(mutex_);
    // A query lets work proceed in the modes of the host platform that need that.
    auto const kept = std::partition(pending_.begin(), pending_.end(), [&](auto const& entry) {
      if (!entry->is_enqueued) return true;
      bool const is_done = hipEventQuery(entry->finished) != hipErrorNotReady;
      return !is_done || !is_read(*entry, readers::all);
    });
    std::move(kept, pending_.end(), std::back_inserter(finished));
    pending_.erase(kept, pending_.end());
    for (auto const& entry : finished) payload_bytes_ -= entry->memory.bytes();
  }
  static_cast<void>(hipGetLastError());
}

inline ncclResult_t clique::enqueue(std::unique_ptr<operation> started, void const* from, void* to,
                                    hipStream_t stream) {
  if (result() != ncclSuccess) return fail(ncclRemoteError, text());
  hipStreamCaptureStatus capture{};
  if (stream != nullptr && hipStreamIsCapturing(stream, &capture) == hipSuccess &&
      capture != hipStreamCaptureStatusNone) {
    return fail(ncclInvalidUsage, "the stream is captured, which this library does not support");
  }
  operation& current = *started;
  std::size_t const bytes =
      std::max(round_up(current.input_bytes, 64) + current.output_bytes, std::size_t{64});
  std::uint64_t const limit = current.is_message() ? messages_in_flight : operations_in_flight;
  auto const previous_is_done = [&] {
    if (current.generation <= limit) return true;
    std::uint64_t const previous = current.generation - limit;
    auto const done = [&](std::size_t position) {
      return description(position).done.load(std::memory_order_acquire) >= previous;
    };
    if (current.what == kind::receive) return true;
    if (current.what == kind::send) {
      return done(position(current.generation, current.rank, current.root));
    }
    for (int rank = 0; rank < size_; ++rank) {
      if (!done(position(current.generation, rank))) return false;
    }
    return true;
  };
  for (bool is_first = true;; is_first = false) {
    // A query of an event may run work, so nothing is freed before there is much to free.
    if (!is_first || has_many_pending()) reap();
    if (result() != ncclSuccess) return fail(ncclRemoteError, text());
    {
      std::scoped_lock const lock(mutex_);
      if (previous_is_done() && (payload_bytes_ == 0 || payload_bytes_ + bytes <= payload_limit)) {
        payload_bytes_ += bytes;
        break;
      }
    }
    if (is_first) continue;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  current.memory = payload_pool::instance().take(bytes);
  {
    std::scoped_lock const lock(mutex_);
    payload_bytes_ -= bytes;
    if (current.memory.data() == nullptr) {
      return fail(ncclSystemError, "no pinned memory of " + std::to_string(bytes) + " bytes");
    }
    payload_bytes_ += current.memory.bytes();
    pending_.push_back(std::move(started));
  }
  ncclResult_t const enqueued = enqueue_work(current, from, to, stream);
  if (enqueued != ncclSuccess) {
    // A part may be enqueued, and the other ranks wait for the rest.
    stop(enqueued, "rank " + std::to_string(current.rank) + " could not enqueue " +
                       name_of(current.what) + ": " + last_error());
  }
  std::scoped_lock const lock(mutex_);
  current.is_enqueued = current.finished != nullptr;
  return enqueued;
}

inline ncclResult_t clique::enqueue_work(operation& started, void const* from, void* to,
                                         hipStream_t stream) {
#define ROCARRAY_HOST_CCL_TRY(call, ...)                                                  \
  if (auto const code = impl::check_hip(call(__VA_ARGS__), #call); code != ncclSuccess) { \
    return code;                                                                          \
  }
  std::size_t const own =
      started.what == kind::send      ? position(started.generation, started.rank, started.root)
      : started.what == kind::receive ? position(started.generation, started.root, started.rank)
                                      : position(started.generation, started.rank);
  ROCARRAY_HOST_CCL_TRY(hipEventCreateWithFlags, &started.finished, hipEventDisableTiming);
  if (started.what != kind::receive) {
    descriptor& published = description(own);
    published.operation = started.what;
    published.type = started.type;
    published.reduction = started.reduction;
    published.root = started.root;
    published.count = started.count;
    published.pid = ::getpid();
    published.address = reinterpret_cast<std::uintptr_t>(started.memory.data());
    published.bytes = started.input_bytes;
    published.file = started.memory.file();
    published.generation = started.generation;
    if (started.input_bytes != 0) {
      ROCARRAY_HOST_CCL_TRY(hipMemcpyAsync, started.memory.data(), from, started.input_bytes,
                            hipMemcpyDeviceToHost, stream);
    }
    ROCARRAY_HOST_CCL_TRY(hipStreamWriteValue64, stream, flags() + own, started.generation, 0);
  }
  auto const wait_for = [&](std::size_t flag) {
    return check_hip(hipStreamWaitValue64(stream, flags() + flag, started.generation,
                                          hipStreamWaitValueGte, UINT64_MAX),
                     "hipStreamWaitValue64");
  };
  if (started.what == kind::receive) {
    if (auto const code = wait_for(own); code != ncclSuccess) return code;
  } else if (started.what != kind::send) {
    for (int rank = 0; rank < size_; ++rank) {
      if (rank == started.rank) continue;
      auto const code = wait_for(position(started.generation, rank));
      if (code != ncclSuccess) return code;
    }
  }
  if (started.what != kind::send) {
    ROCARRAY_HOST_CCL_TRY(hipLaunchHostFunc, stream, compute, &started);
  }
  if (started.output_bytes != 0) {
    ROCARRAY_HOST_CCL_TRY(hipMemcpyAsync, to, started.output(), started.output_bytes,
                          hipMemcpyHostToDevice, stream);
  }
  ROCARRAY_HOST_CCL_TRY(hipEventRecord, started.finished, stream);
#undef ROCARRAY_HOST_CCL_TRY
  return ncclSuccess;
}

// Runs in a host function: no calls of HIP.
inline void clique::compute(operation& current) {
  if (result() != ncclSuccess) return;
  bool const is_message = current.is_message();
  int const ranks = is_message ? 1 : size_;
  auto const position_of = [&](int rank) {
    return is_message ? position(current.generation, current.root, current.rank)
                      : position(current.generation, rank);
  };
  auto const rank_name = [&](int rank) {
    return "rank " + std::to_string(is_message ? current.root : rank);
  };
  std::vector<shared_memory> mapped;
  std::vector<std::byte const*> inputs;
  for (int rank = 0; rank < ranks; ++rank) {
    descriptor const& other = description(position_of(rank));
    if (other.generation != current.generation) {
      return stop(ncclRemoteError, rank_name(rank) + " has left before " + name_of(current.what));
    }
    bool const is_equal =
        other.type == static_cast<std::uint32_t>(current.type) && other.count == current.count &&
        (is_message || (other.operation == current.what && other.root == current.root &&
                        other.reduction == static_cast<std::uint32_t>(current.reduction)));
    if (!is_equal) {
      return stop(ncclInvalidArgument,
                  std::string("ranks disagree: rank ") + std::to_string(current.rank) + " called " +
                      name_of(current.what) + " for " + std::to_string(current.count) +
                      " elements, " + rank_name(rank) + " " + name_of(other.operation) + " for " +
                      std::to_string(other.count) +
                      "; operation, count, type, reduction and root must be equal");
    }
    if (other.bytes == 0) {
      inputs.push_back(nullptr);
    } else if (other.pid == ::getpid()) {
      inputs.push_back(reinterpret_cast<std::byte const*>(other.address));
    } else {
      mapped.push_back(shared_memory::open(other.pid, other.file, other.bytes));
      if (mapped.back().data() == nullptr) {
        return stop(ncclRemoteError, "the memory of " + rank_name(rank) + " cannot be mapped");
      }
      inputs.push_back(mapped.back().data());
    }
  }
  std::size_t const bytes = current.count * size_of(current.type);
  std::byte* const output = current.output();
  switch (current.what) {
    case kind::all_reduce:
    case kind::reduce:
      if (current.output_bytes != 0) {
        reduce(inputs, output, current.count, current.type, current.reduction);
      }
      break;
    case kind::reduce_scatter:
      for (std::byte const*& input : inputs)
        input += static_cast<std::size_t>(current.rank) * bytes;
      reduce(inputs, output, current.count, current.type, current.reduction);
      break;
    case kind::all_gather:
      for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
        std::memcpy(output + rank * bytes, inputs[rank], bytes);
      }
      break;
    case kind::broadcast:
      if (current.output_bytes != 0) {
        std::memcpy(output, inputs[static_cast<std::size_t>(current.root)], bytes);
      }
      break;
    case kind::send:
    case kind::receive: std::memcpy(output, inputs[0], bytes); break;
  }
  description(position_of(current.rank)).done.store(current.generation, std::memory_order_release);
}

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
    if (!group->is_everyone_here()) return ncclInProgress;
    if (auto const code = group->check_devices(); code != ncclSuccess) return code;
    group->watch_processes();
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
      entry->reap();
      if (entry->has_pending()) return false;
      boards.push_back(entry->take_board());
      destroyed.push_back(std::move(entry));
      return true;
    });
  }
};

/// What a thread has called since ncclGroupStart.
struct group_state {
  struct call {
    communicator* owner;
    std::unique_ptr<operation> started;
    void const* from;
    void* to;
    hipStream_t stream;
  };

  int depth = 0;
  std::vector<call> calls;
  std::vector<communicator*> connecting;

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
  return owner.group->enqueue(std::move(call.started), call.from, call.to, call.stream);
}

/// Runs the calls of the outermost group. Sends come first, so that a rank's receives never delay
/// its sends.
inline ncclResult_t end_group() {
  group_state& state = group_state::instance();
  auto const calls = std::exchange(state.calls, {});
  auto const connecting = std::exchange(state.connecting, {});
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
  for (bool const sends : {true, false}) {
    for (auto const& call : calls) {
      if ((call.started == nullptr) || (call.started->what == kind::send) != sends) continue;
      bool const is_blocking = call.owner->is_blocking;
      ncclResult_t code = run(const_cast<group_state::call&>(call));
      if (code != ncclSuccess) {
        call.owner->group->stop(code, last_error());  // the other ranks wait for the operation
      } else if (!is_blocking) {
        code = ncclInProgress;  // as NCCL does
      }
      if (result == ncclSuccess || (result == ncclInProgress && code != ncclSuccess)) result = code;
    }
  }
  return result;
}

/// Adds a call to the group, or runs it.
inline ncclResult_t submit(communicator* owner, kind what, void const* from, void* to,
                           std::size_t count, ncclDataType_t type, ncclRedOp_t reduction, int root,
                           std::size_t input_count, std::size_t output_count, hipStream_t stream) {
  if (owner == nullptr) return fail(ncclInvalidArgument, "the communicator is null");
  std::size_t const element_bytes = size_of(type);
  bool const is_valid = element_bytes != 0 && root >= 0 && root < owner->group->size() &&
                        reduction >= ncclSum && reduction <= ncclAvg;
  if (!is_valid)
    return fail(ncclInvalidArgument, std::string(name_of(what)) + ": invalid argument");
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
  group_state& state = group_state::instance();
  state.calls.push_back({owner, std::move(started), from, to, stream});
  return state.depth == 0 ? end_group() : ncclSuccess;
}

}  // namespace impl

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

inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  impl::shared_memory board = impl::shared_memory::create(impl::page_bytes);
  if (board.data() == nullptr) {
    return impl::fail(ncclSystemError, "no shared memory (memfd_create)");
  }
  std::random_device random;
  auto& header = *reinterpret_cast<impl::board_header*>(board.data());
  header.nonce = (std::uint64_t{random()} << 32) ^ random();
  header.magic = impl::board_header::expected_magic;
  impl::id_content const content{header.magic, header.nonce, ::getpid(), board.file()};
  std::memset(id->internal, 0, sizeof(id->internal));
  std::memcpy(id->internal, &content, sizeof content);
  impl::registry& registry = impl::registry::instance();
  std::scoped_lock const lock(registry.mutex);
  registry.created.emplace(header.nonce, std::move(board));
  return ncclSuccess;
}

inline ncclResult_t ncclCommInitRankConfig(ncclComm_t* result, int size, ncclUniqueId id, int rank,
                                           ncclConfig_t* config) {
  *result = nullptr;
  impl::id_content content;
  std::memcpy(&content, id.internal, sizeof content);
  if (content.magic != impl::board_header::expected_magic) {
    return impl::fail(ncclInvalidArgument, "the bytes are not an identifier of a communicator");
  }
  if (size < 1 || rank < 0 || rank >= size) {
    return impl::fail(ncclInvalidArgument, "rank " + std::to_string(rank) + " of " +
                                               std::to_string(size) + " is invalid");
  }
  auto created = std::make_unique<impl::communicator>();
  created->rank = rank;
  created->is_blocking = config == nullptr || config->blocking != 0;
  created->sent.resize(static_cast<std::size_t>(size));
  created->received.resize(static_cast<std::size_t>(size));
  if (auto const code = impl::check_hip(hipGetDevice(&created->device), "hipGetDevice");
      code != ncclSuccess) {
    return code;
  }
  {
    impl::registry& registry = impl::registry::instance();
    std::scoped_lock const lock(registry.mutex);
    auto found = registry.cliques.find(content.nonce);
    if (found == registry.cliques.end()) {
      std::size_t const bytes = impl::clique::board_bytes(size);
      auto board = impl::shared_memory::open(content.pid, content.file, impl::page_bytes);
      auto const* const header = reinterpret_cast<impl::board_header const*>(board.data());
      if (header == nullptr || header->nonce != content.nonce) {
        return impl::fail(ncclRemoteError,
                          "the process that created the identifier has ended, or has destroyed its "
                          "communicator");
      }
      std::int32_t unset = 0;
      auto& board_size = const_cast<impl::board_header*>(header)->size;
      if (!board_size.compare_exchange_strong(unset, size) && unset != size) {
        return impl::fail(ncclInvalidArgument,
                          "ranks disagree about the number of ranks: " + std::to_string(unset) +
                              " and " + std::to_string(size));
      }
      if (::ftruncate(board.file(), static_cast<off_t>(bytes)) != 0) {
        return impl::fail(ncclSystemError, "the shared memory cannot grow (ftruncate)");
      }
      board = impl::shared_memory::open(content.pid, content.file, bytes);
      if (board.data() == nullptr) return impl::fail(ncclSystemError, "no shared memory (mmap)");
      auto group = std::make_unique<impl::clique>(std::move(board), size);
      if (!group->is_valid()) return impl::fail(ncclSystemError, "no pinned memory");
      found = registry.cliques.emplace(content.nonce, std::move(group)).first;
    }
    impl::clique& group = *found->second;
    if (group.size() != size) {
      return impl::fail(ncclInvalidArgument, "ranks disagree about the number of ranks: " +
                                                 std::to_string(group.size()) + " and " +
                                                 std::to_string(size));
    }
    std::int64_t free_rank = 0;
    group.of(rank).device = created->device;
    if (!group.of(rank).pid.compare_exchange_strong(free_rank, ::getpid())) {
      return impl::fail(ncclInvalidArgument,
                        "rank " + std::to_string(rank) + " exists already in this communicator");
    }
    group.header().joined.fetch_add(1, std::memory_order_acq_rel);
    ++group.local_ranks;
    created->group = &group;
  }
  *result = created.release();
  impl::group_state& state = impl::group_state::instance();
  state.connecting.push_back(*result);
  return state.depth == 0 ? impl::end_group() : ncclSuccess;
}

inline ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* result) {
  if (communicator == nullptr) return impl::fail(ncclInvalidArgument, "the communicator is null");
  *result = communicator->connect();
  if (*result == ncclSuccess) *result = communicator->group->result();
  return ncclSuccess;
}

inline ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  if (communicator == nullptr) return impl::fail(ncclInvalidArgument, "the communicator is null");
  communicator->group->stop(
      ncclRemoteError, "rank " + std::to_string(communicator->rank) + " aborted the communicator");
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
  return --state.depth == 0 ? impl::end_group() : ncclSuccess;
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
