// SPDX-License-Identifier: MIT
// Options and identifiers of communicators. Included by roc/interop/collectives.hpp.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <source_location>

#include <roc/detail/call_scope.hpp>
#include <roc/interop/collectives/error.hpp>
#include <roc/interop/collectives/library.hpp>

namespace roc {

namespace detail {

inline constexpr std::size_t collective_id_bytes = sizeof(ncclUniqueId);

/// Returns the bytes of a new identifier. Throws collective_error.
inline std::array<std::byte, collective_id_bytes> create_collective_id() {
  ncclUniqueId id{};
  ncclResult_t const result = ncclGetUniqueId(&id);
  if (result != ncclSuccess) throw make_collective_error(result, "ncclGetUniqueId", nullptr);
  std::array<std::byte, collective_id_bytes> bytes;
  std::memcpy(bytes.data(), &id, bytes.size());
  return bytes;
}

/// Frees what the library keeps for an identifier that no further rank uses. Does nothing with RCCL
/// and NCCL, which have no call for that.
template <class Id = ncclUniqueId>
void discard_collective_id(std::array<std::byte, collective_id_bytes> const& bytes) noexcept {
  if constexpr (requires(Id const& id) { discard_unique_id(id); }) {
    Id id{};
    std::memcpy(&id, bytes.data(), bytes.size());
    discard_unique_id(id);
  }
}

/// An identifier that the library creates for a communicator. It is discarded unless keep() was
/// called: without a rank, its resources would be kept until the process ends.
class new_collective_id {
 public:
  /// Throws collective_error.
  new_collective_id() : bytes_(create_collective_id()) {}
  new_collective_id(new_collective_id const&) = delete;
  new_collective_id& operator=(new_collective_id const&) = delete;
  ~new_collective_id() {
    if (!is_kept_) discard_collective_id(bytes_);
  }
  /// Keeps the identifier, because its ranks exist. The last rank frees the resources.
  void keep() noexcept { is_kept_ = true; }
  std::array<std::byte, collective_id_bytes> const& bytes() const noexcept { return bytes_; }

 private:
  std::array<std::byte, collective_id_bytes> const bytes_;
  bool is_kept_ = false;
};

}  // namespace detail

/// How the elements of the ranks are combined.
enum class reduction : unsigned char {
  sum,      ///< ncclSum
  product,  ///< ncclProd
  min,      ///< ncclMin
  max,      ///< ncclMax
  /// ncclAvg: the sum divided by the number of ranks. For integers the sum has the type of the
  /// elements, in which it may overflow, and the quotient is truncated.
  average,
};

/// Options of a communicator.
struct collective_options {
  /// How long a wait for other ranks may take: in the creation of the communicator, in an operation
  /// without a stream, in synchronize, and in a synchronization of a stream with operations. Then
  /// the communicator is aborted and collective_timeout_error is thrown. 0: as long as it takes.
  /// May differ between ranks, but pass the same to all: a rank without a limit may never return if
  /// another one gave up.
  ///
  /// With a limit, RCCL and NCCL create and call the communicator without blocking
  /// (`ncclConfig_t::blocking`), which makes the calls slower.
  std::chrono::milliseconds time_limit{0};
  /// How long the destructor of a communicator waits for its pending operations if there is no
  /// time_limit. Then it aborts them. 0: as long as it takes.
  std::chrono::milliseconds destruction_limit{10'000};
  /// Compares the operations of all ranks before they are enqueued. Only a communicator that is
  /// created from an mpi_communicator can have it. If ranks disagree, all of them throw the same
  /// error, nothing is enqueued, and the communicator can be used further. Messages are not
  /// compared. All ranks must pass the same value.
  ///
  /// Meant for tests and for the search for errors: each operation blocks until all ranks have
  /// called it. All ranks must put the same operations into a group. A rank that throws because of
  /// its own arguments does not take part in the comparison, so pass a time limit. If a comparison
  /// fails, for example after the time limit, the communicator is aborted.
  ///
  /// The communicator then has duplicates of MPI's: it must be created and destroyed, and its
  /// operations called, where MPI may be called, and destroyed before MPI_Finalize. Creating it has
  /// no time limit.
  bool check_agreement = false;
};

/// The identifier of a communicator that is being created: one rank creates it and passes its bytes
/// to the others by any transport. A plain value. (ncclUniqueId)
class collective_id {
 public:
  /// The number of bytes. (NCCL_UNIQUE_ID_BYTES)
  static constexpr std::size_t byte_count = detail::collective_id_bytes;

  /// Creates an identifier whose bytes are 0: no communicator has it.
  collective_id() = default;
  /// Copies the bytes of an identifier that another rank created.
  explicit collective_id(std::array<std::byte, byte_count> const& bytes) noexcept : bytes_(bytes) {}

  /// Creates a new identifier. The calling process must live until all ranks have created their
  /// communicator. An identifier that no rank uses keeps resources of RCCL, NCCL or HIP on the CPU
  /// until the process ends. (ncclGetUniqueId)
  /// @throws collective_error
  [[nodiscard]] static collective_id create(detail::caller at = std::source_location::current()) {
    detail::call_scope const call("collective_id::create", at);
    return collective_id(detail::create_collective_id());
  }

  /// Returns the bytes, to be passed to the other ranks.
  [[nodiscard]] std::array<std::byte, byte_count> const& bytes() const noexcept { return bytes_; }

  /// Compares the bytes.
  friend bool operator==(collective_id const&, collective_id const&) = default;

 private:
  std::array<std::byte, byte_count> bytes_{};
};

}  // namespace roc
