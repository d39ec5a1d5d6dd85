// SPDX-License-Identifier: MIT
// Operands of MPI operations: arrays without their types, the stream that orders them, and their
// elements without gaps. Included by roc/interop/mpi.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>

#include <roc/detail/array_operand.hpp>
#include <roc/detail/copy_operand.hpp>
#include <roc/detail/strided_region.hpp>
#include <roc/device.hpp>
#include <roc/device_array.hpp>
#include <roc/error.hpp>
#include <roc/event.hpp>
#include <roc/host_array.hpp>
#include <roc/interop/mpi/progress.hpp>
#include <roc/interop/mpi/type.hpp>
#include <roc/memory/adopt.hpp>  // GCC rejects it after device_array has been instantiated
#include <roc/stream.hpp>

namespace roc::detail {

/// An operand of MPI.
struct mpi_operand : array_operand {
  mpi_operand() = default;
  template <class T, std::size_t N>
  explicit mpi_operand(copy_operand<T, N> const& operand)
      : array_operand(operand), kind(mpi_kind_of<std::remove_cv_t<T>>) {}

  mpi_kind kind = mpi_kind::bytes;
  std::exception_ptr problem;  // the error of an argument that cannot be used; null if it can
};

/// Returns an argument as an operand whose device is known. Throws as operand_of.
template <copy_argument X>
mpi_operand mpi_operand_of(X& x) {
  mpi_operand result(operand_of(x));
  if (result.is_on_device() && result.device < 0 && result.count != 0) {
    result.device = roc::device().ordinal();
  }
  return result;
}

/// Returns an argument of a collective operation. Stores the exception of mpi_operand_of in
/// mpi_operand::problem instead of throwing it, so that the other ranks can be told.
template <copy_argument X>
mpi_operand mpi_collective_operand_of(X& x) {
  try {
    return mpi_operand_of(x);
  } catch (...) {
    mpi_operand result;
    result.problem = std::current_exception();
    return result;
  }
}

/// Throws the error of an argument that cannot be used.
inline void check_mpi_argument(mpi_operand const& operand) {
  if (operand.problem) std::rethrow_exception(operand.problem);
}

/// Returns true for the per-thread default stream, whose handle is the same in all threads.
inline bool is_per_thread_stream(stream_ref stream) {
  static native_stream* const handle = per_thread_stream().handle();
  return stream.handle() == handle;
}

/// The stream that orders an operation, and its device. Without a stream, the constructor waits for
/// all work of every device, and the copies of an operand are on the default stream of its device.
class mpi_order {
 public:
  /// The order of an operation that has no copies.
  mpi_order() = default;
  /// Throws roc::error. Blocks if `stream` is null.
  explicit mpi_order(stream_ref const* stream) : has_stream_(stream != nullptr) {
    int const devices = has_stream_ ? 0 : roc::device::count();
    // Also for host memory, which the work of any device may access.
    for (int i = 0; i < devices; ++i) roc::device(i).synchronize();
    if (has_stream_) {
      stream_ = *stream;
      device_ = stream_.device_ordinal();
    }
    if (device_ < 0 && (has_stream_ || devices != 0)) device_ = roc::device().ordinal();
  }

  /// Returns the order of the copies of one operand. Throws roc::error
  /// (std::errc::invalid_argument) if the stream cannot order them.
  mpi_order of(mpi_operand const& operand) const {
    if (has_stream_ && is_per_thread_stream(stream_)) {
      // Any thread that calls MPI advances the operation, and would use its own stream.
      throw error(std::make_error_code(std::errc::invalid_argument),
                  "the stream is a per-thread default stream, which is another stream in each "
                  "thread that completes operations of MPI; use a stream of your own");
    }
    mpi_order result = *this;
    if (!operand.is_on_device() || operand.count == 0) return result;
    if (has_stream_ && operand.device != device_) {
      throw error(std::make_error_code(std::errc::invalid_argument),
                  "the stream is on device " + std::to_string(device_) +
                      ", but the array is on device " + std::to_string(operand.device) +
                      "; use a stream of the array's device, or none");
    }
    result.device_ = operand.device;
    return result;
  }

  /// Returns f(), which is called while the stream's device is current. Without a device, just
  /// calls it.
  template <class F>
  auto on_device(F f) const {
    if (device_ < 0) return f();
    device_guard const current{roc::device(device_)};
    return f();
  }
  /// Enqueues a copy. Without a device, copies at once. Throws as detail::copy.
  void copy(strided_region const& from, strided_region const& to,
            source_use use = source_use::copied) const {
    on_device([&] { detail::copy(from, to, device_ < 0 ? nullptr : &stream_, use); });
  }
  /// Does what copy does, and reads the source in the order of the stream: an array that is sent
  /// must not change before the operation is complete.
  void copy_operand(strided_region const& from, strided_region const& to) const {
    copy(from, to, source_use::borrowed);
  }
  bool has_stream() const { return has_stream_; }
  stream_ref stream() const { return stream_; }
  int device() const { return device_; }

 private:
  stream_ref stream_;
  int device_ = -1;  // -1: there is no device
  bool has_stream_ = false;
};

/// A point in the work of an order's stream.
class mpi_point {
 public:
  /// Records the end of the work enqueued so far. Throws roc::error.
  void record(mpi_order const& order) {
    if (order.device() < 0) return;
    order.on_device([&] {
      if (!event_) event_.emplace();
      event_->record(order.stream());
    });
    is_pending_ = true;
  }
  /// Blocks until the work has finished, or has failed. Releases the event, so that the point does
  /// not depend on the stream.
  void finish() noexcept {
    try {
      if (is_pending_) event_->synchronize();
    } catch (...) {  // the stream reports it
    }
    reset();
  }
  /// Forgets the work. Does not block.
  void reset() noexcept {
    event_.reset();
    is_pending_ = false;
  }
  /// Returns true if the work has finished, or if none was recorded. Does not block. Throws the
  /// error of the work, unlike is_pending.
  bool is_reached() {
    if (is_pending_ && event_->query()) is_pending_ = false;
    return !is_pending_;
  }
  /// Returns true if the work has not finished. Does not block. An error of the work, which
  /// is_reached throws, counts as its end.
  bool is_pending() const noexcept {
    try {
      return is_pending_ && !event_->query();
    } catch (...) {
      return false;
    }
  }

 private:
  std::optional<event> event_;
  bool is_pending_ = false;
};

/// Returns true if the chunks must pass through staging memory: for device memory that MPI does not
/// take, and, with a time limit, for contiguous host memory. Strided host memory is in scratch
/// memory anyway.
inline bool needs_mpi_staging(mpi_state const& state, mpi_operand const& operand) {
  if (operand.is_on_device()) return !state.device_pointers;
  return state.has_time_limit() && operand.is_contiguous;
}

/// Host memory that MPI accesses: pinned if device memory is copied through it.
inline host_array<std::byte, 1> mpi_buffer(std::size_t bytes, mpi_order const& order,
                                           bool is_pinned) {
  host_array<std::byte, 1> result;
  if (!is_pinned) return host_array<std::byte, 1>(shape<1>{bytes});
  order.on_device([&] { result = pinned_array<std::byte>(shape<1>{bytes}); });
  return result;
}

/// The elements of an operand in C order without gaps: its own memory, or scratch memory of the
/// same kind that pack and unpack copy to and from.
class mpi_packed {
 public:
  /// Allocates scratch memory if the operand has gaps. `order` is that of the operand. Throws
  /// out_of_memory and roc::error.
  mpi_packed(mpi_operand const& operand, mpi_order const& order) : operand_(operand) {
    if (operand.is_contiguous) {
      data_ = static_cast<std::byte*>(operand.data);
      // MPI may access it without a copy of the library, and does not know which earlier work still
      // uses the memory.
      if (operand.is_on_device() && order.has_stream()) {
        record_stream(operand.data, operand.device, order.stream());
      }
    } else if (operand.is_on_device()) {
      shape<1> const extents{operand.bytes()};
      order.on_device(
          [&] { device_scratch_ = device_array<std::byte, 1>(extents, order::c, order.stream()); });
      data_ = device_scratch_.data();
    } else {
      host_scratch_ = host_array<std::byte, 1>(shape<1>{operand.bytes()});
      data_ = host_scratch_.data();
    }
  }

  mpi_operand const& operand() const { return operand_; }
  std::byte* data() const { return data_; }
  /// Enqueues the copy of the operand to the scratch memory.
  void pack(mpi_order const& order) const {
    if (!operand_.is_contiguous) {
      order.copy_operand(operand_.region(), operand_.compact_region(data_, operand_.space));
    }
  }
  /// Enqueues the copy of the scratch memory to the operand.
  void unpack(mpi_order const& order) {
    if (operand_.is_contiguous) return;
    order.copy(operand_.compact_region(data_, operand_.space), operand_.region());
    // Scratch memory of the device is freed in the order of the stream, that of the host is not.
    if (!order.has_stream() || !operand_.is_on_device()) unpacked_.record(order);
  }
  /// Returns true if the copy of unpack() no longer needs this object, and, if the operation has no
  /// stream, has finished. Does not block.
  bool is_unpacked() { return unpacked_.is_reached(); }
  /// Blocks until the copy of unpack() no longer needs this object. Frees scratch memory of the
  /// device in the order of the stream. This object must not be used for copies afterwards.
  void finish() noexcept {
    unpacked_.finish();
    device_scratch_ = {};
  }
  /// Enqueues a copy between `length` bytes of each of `blocks` equal blocks, from `offset` on, and
  /// host memory without gaps.
  void copy_part(std::size_t blocks, std::size_t offset, std::size_t length, std::byte* host,
                 bool to_host, mpi_order const& order) const {
    std::array<std::size_t, 2> const extents{blocks, length};
    std::array<std::ptrdiff_t, 2> const steps{
        static_cast<std::ptrdiff_t>(operand_.bytes() / blocks), 1};
    std::array<std::ptrdiff_t, 2> const host_steps{static_cast<std::ptrdiff_t>(length), 1};
    strided_region const own{data_ + offset, 1, 2, extents.data(), steps.data(), operand_.space,
                             operand_.device};
    strided_region const other{host, 1, 2, extents.data(), host_steps.data(), memory_space::host,
                               -1};
    if (to_host) {
      order.copy_operand(own, other);
    } else {
      order.copy(other, own);
    }
  }

 private:
  mpi_operand operand_;
  device_array<std::byte, 1> device_scratch_;
  host_array<std::byte, 1> host_scratch_;
  std::byte* data_ = nullptr;
  mpi_point unpacked_;
};

}  // namespace roc::detail
