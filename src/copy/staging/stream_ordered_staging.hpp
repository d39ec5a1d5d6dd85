// SPDX-License-Identifier: MIT
// Staged transfers whose CPU work runs in the order of a stream: as host functions, or in threads
// of the library that the stream waits for.
#pragma once

#include <memory>

#include <roc/stream.hpp>

#include "copy/copy_kind.hpp"
#include "copy/staging/staged_work.hpp"

namespace roc::transfer {

class staging_driver;

/// Returns true if the options select values for transfers on streams.
bool is_value_staging_selected() noexcept;
/// Returns the driver that does the CPU's work if transfers on `stream`, whose device is current,
/// are staged by values (see options::stream_staging). Returns null for host functions, also if the
/// stream is being captured, or the driver's thread cannot start. May start a thread; calls HIP.
/// Throws roc::error, std::bad_alloc.
staging_driver* driver_for(stream_ref stream);

/// Enqueues the transfer `work` on `stream`, whose device must be current. Host memory is read or
/// written in the stream's order. The enqueued work shares ownership of `work`.
/// @param kind host_to_device or device_to_host.
/// @param driver the result of driver_for(stream). If no auxiliary streams are free, or the device
///   cannot wait for values, host functions are used in spite of it.
/// All descriptions are written now, into one staging buffer, which also holds the data of the
/// largest chunk. The CPU's steps and the device's steps overlap on auxiliary streams, except that
/// the host function of a single chunk, and everything if `stream` is captured, runs on `stream`.
/// Device steps with kernels may use both streams of a pair, in turn. Blocks only if all staging
/// memory, or all scratch memory, is in use. Throws roc::error or out_of_memory; some steps may
/// then be enqueued on `stream`, but none is pending on other streams, and no thread accesses the
/// caller's memory.
void enqueue_stream_ordered(std::shared_ptr<staged_work const> work, copy_kind kind,
                            stream_ref stream, staging_driver* driver);

/// Transfers `work` between the current device and host memory by values, and returns after it is
/// complete. Runs on one or both streams of a pair that nobody else uses meanwhile, and that are
/// ordered with no other: the caller has waited for all work that must come before. Does not wait
/// for pinned staging memory; waits only for scratch memory of copies without a stream. Returns
/// false, and transfers nothing, if values are not used (see driver_for), too little staging memory
/// or no pair of auxiliary streams is free, or the device cannot wait for values. Throws
/// roc::error, out_of_memory, std::bad_alloc. No thread accesses the caller's memory then, and no
/// work of the device either, unless every wait has failed, which is logged
/// (runtime::abandon_wait).
bool transfer_by_values_and_wait(std::shared_ptr<staged_work const> work, copy_kind kind);

}  // namespace roc::transfer
