// SPDX-License-Identifier: MIT
// Kernels with planted errors.
#pragma once

#include <roc/roc.hpp>

namespace roc::test {

/// Thread 5 of 32 ends before the barrier.
void leave_barrier_out(stream_ref stream);
/// The first 32 of 64 threads wait at one barrier, the others at another one.
void wait_at_two_barriers(stream_ref stream);
/// Correct: all threads of 64 wait at a barrier in a loop and in a function.
void wait_correctly(stream_ref stream);
/// Lane 0 reads the value of lane 1, which does not take part.
void read_inactive_lane(stream_ref stream);
/// Half of the lanes that the mask names call another function.
void leave_lanes_of_mask_out(stream_ref stream);
/// Lane 3 and half of the lanes that the mask names wait at a barrier of the block.
void leave_lanes_at_barrier(stream_ref stream);
/// The first ten lanes call roc::ballot, while the others wait at a barrier of the block.
void call_in_branch(stream_ref stream);
/// Writes the byte `index` of a __shared__ variable of 13 bytes, before which and after which are
/// variables with larger alignment.
void overrun_static(stream_ref stream, int index);
/// Writes to the __shared__ variable of a kernel that ran before.
void write_to_other_kernel(stream_ref stream);
/// Correct: the lanes of the mask call the same function at two places.
void synchronize_warp_at_two_places(stream_ref stream);
/// Every lane calls a function with this mask.
void call_outside_mask(stream_ref stream, unsigned threads, unsigned mask);
/// Groups that are wider than a warp of 32.
void shuffle_in_groups(stream_ref stream, int width);
/// Thread (1, 2, 0) of block (3, 0, 0) writes the element 12 of 12.
void write_out_of_bounds(stream_ref stream, device_view<int> out);
/// Copies static, then dynamic shared memory that no thread has written: 2 elements for each of the
/// blocks, which then overwrite it.
void read_uninitialized(stream_ref stream, device_view<unsigned> out);
/// Writes the element `index`, of 4 bytes, of 64 bytes of dynamic shared memory.
void overrun_shared_memory(stream_ref stream, int index);
/// Throws an exception.
void throw_exception(stream_ref stream);
/// A failed assert.
void fail_assert(stream_ref stream);
/// Prints "block 1, thread 2" and so on.
void print_threads(stream_ref stream);
/// Uses more stack than a thread has.
void overflow_stack(stream_ref stream, device_view<int> out);
/// Calls a function of a warp in for_each. On the host platform only.
void call_outside_of_kernel(stream_ref stream, device_view<int> out);
/// Calls roc::dynamic_shared, or __lane_id, in host code. On the host platform only.
void use_shared_memory_outside_of_kernel();
void use_lane_outside_of_kernel();
/// Correct: blocks of 1024 threads each wait until all of them run.
void meet(stream_ref stream, unsigned blocks, device_view<unsigned> arrived);

}  // namespace roc::test
