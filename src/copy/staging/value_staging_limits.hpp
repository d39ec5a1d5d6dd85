// SPDX-License-Identifier: MIT
// The sizes of transfers that alternate between the device and the CPU by values in memory
// (staging_driver.hpp). Measure all of them together.
#pragma once

#include <chrono>
#include <cstddef>

namespace roc::transfer::value_staging {

/// The number of chunks into which a transfer is divided, if their sizes allow it. Each costs two
/// or three calls of HIP when the transfer is enqueued.
inline constexpr std::size_t target_chunks = 8;
/// The smallest chunk that a transfer is divided into. Between two chunks, the copy engine of an
/// H100 waits about 5 us for the values: a fourth of the time that a chunk of 1 MiB takes.
inline constexpr std::size_t min_chunk_bytes = std::size_t{2} << 20;
/// The bytes that a thread packs or unpacks at a time. A chunk is complete after its last task.
inline constexpr std::size_t task_bytes = std::size_t{128} << 10;
/// A thread runs so many tasks, those of a large chunk, before it looks for other work.
inline constexpr std::size_t tasks_at_a_time = 32;
/// The most chunks of one transfer that have staging memory at a time. The copy engine works on one
/// of them, and the CPU on the others. With four, large copies to the host ran at half the rate on
/// an H100, probably because the engine wrote to memory that the CPU's caches still held. With 16,
/// simultaneous copies in both directions ran at half the rate. A transfer whose stream is busy keeps
/// the memory from other streams: with the default options, the largest ones take half of it.
inline constexpr std::size_t max_slots = 8;

/// The bytes of a transfer after which the next one of the same direction has its turn: those of a
/// large tile, for which the link takes about 0.7 ms. On an H200, tiles of 8 and 32 MiB on three
/// streams ran at 46 and 55 GB/s if the turn changed after every chunk, and at 48 and 59 otherwise.
/// Transfers of at most so many bytes come before longer ones.
inline constexpr std::size_t turn_bytes = std::size_t{32} << 20;

/// A thread that finds no work spins for this time: about twice the link's time for the largest
/// chunk.
inline constexpr auto spin_time = std::chrono::microseconds(200);
/// After that it sleeps for this fraction of the time for which it has found no work, but at most
/// for max_sleep.
inline constexpr int sleep_fraction = 8;
inline constexpr auto max_sleep = std::chrono::microseconds(50);
/// A thread without transfers waits as before for this time, because another copy is likely to
/// follow, and sleeps until it is woken after that.
inline constexpr auto linger_time = std::chrono::microseconds(400);

}  // namespace roc::transfer::value_staging
