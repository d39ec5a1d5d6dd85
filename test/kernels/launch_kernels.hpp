// SPDX-License-Identifier: MIT
#pragma once

#include <roc/roc.hpp>

namespace roc::test {

/// What a launch gets: see roc::launch.
struct launch_size {
  std::ptrdiff_t grid[3] = {1, 1, 1};
  std::ptrdiff_t block[3] = {1, 1, 1};
  std::size_t shared_bytes = 0;
};

/// Returns true if the compiler of the kernels passes the place of a call: Clang before 16 does
/// not.
bool passes_places();

/// Writes to each element the number of its thread in the grid, by the kernel's variables.
void number_threads(stream_ref stream, launch_size const& size, device_view<unsigned> out);
/// Reverses the elements of each block of 64 threads, in static shared memory.
void reverse_blocks(stream_ref stream, device_view<int> values);
/// Reverses the elements of each block, in dynamic shared memory.
void reverse_blocks(stream_ref stream, device_view<int> values, unsigned threads);
/// Writes three elements for each block of 96 threads: how many of its values are positive, whether
/// all are, whether any is.
void count_positive(stream_ref stream, device_view<int const> values, device_view<int> out);
/// Adds the values of each block of 256 threads, with a tree in shared memory, as type T.
template <class T>
void add_blocks(stream_ref stream, device_view<T const> values, device_view<T> sums);
/// Counts the values 0 to 15 in shared memory, then adds the counts with atomic operations.
void count_values(stream_ref stream, device_view<int const> values, device_view<unsigned> counts);
/// Applies each atomic operation in all of `threads` threads to one element of `out` (11 elements,
/// 0 at first), and one of doubles to `sum`.
void apply_atomics(stream_ref stream, unsigned threads, device_view<int> out,
                   device_view<double> sum);

/// The results of the functions of a warp for one thread.
struct warp_results {
  int warp_size;
  int lane;
  int shuffled;  // the value of lane 3
  int up, down, exchanged;
  int up_in_group, down_in_group;  // in groups of 16
  int next_in_group, last_in_group;
  long long wide;  // the value of the next lane, of 8 bytes
  unsigned long long is_odd;
  bool any, all;
};
/// Calls the functions of a warp in one block of `threads` threads; the value is 100 + lane.
void call_warp_functions(stream_ref stream, unsigned threads, device_view<warp_results> out);
/// As above, in a branch that only the first ten lanes take: the lanes that took part.
void ballot_in_branch(stream_ref stream, unsigned threads, device_view<unsigned long long> out);

/// What a lane gets after a part of the warp's lanes called functions of the warp in a branch.
struct warp_branch_results {
  int after_branch;           // a shuffle in a branch of 16 lanes
  int after_reduction;        // a reduction of 16 lanes
  int after_arms;             // shuffles in both arms
  int after_synchronization;  // one synchronization of the warp in both arms
  int after_ballot;           // a ballot in a branch of 16 lanes
  int after_end;              // lanes have ended
};
/// Calls functions of a warp in branches, in one block of 64 threads.
void call_warp_functions_in_branches(stream_ref stream, device_view<warp_branch_results> out);

/// out = 10 * a + b, with a bound view and an int for parameters of other types.
void convert_arguments(stream_ref stream, device_view<long long> out, int a, short b);
/// As above, with a view that is bound to `bound`.
void launch_with_bound_view(stream_ref stream, stream_ref bound, device_view<long long> out);
/// Launches a kernel without parameters, whose threads wait at a barrier.
void wait_only(stream_ref stream, launch_size const& size);
/// Adds 10,000 ones in static shared memory, of 40,000 bytes, and `count` twos in dynamic one.
void add_shared(stream_ref stream, device_view<int> out, unsigned count);
/// The same with another kernel.
void add_shared_in_other_kernel(stream_ref stream, device_view<int> out, unsigned count);
/// In both arms of a branch, the 32 lanes of a warp call functions with two masks of all lanes: ~0
/// and 0xffffffff. Writes for each lane twice the value of lane 31 - lane.
void call_with_two_masks(stream_ref stream, device_view<int> out);
/// Reverses the elements of each warp in shared memory, with roc::synchronize_warp.
void reverse_warps(stream_ref stream, device_view<int> values);
/// Launches a kernel that has __launch_bounds__(64).
void launch_bounded(stream_ref stream, unsigned threads);
/// Adds the elements of each vector of four numbers, and the index of its thread.
void add_vector_elements(stream_ref stream, device_view<float> values, device_view<float> sums);
/// The threads from `count` on end before the barrier, at which the others exchange values.
void end_early(stream_ref stream, unsigned count, device_view<int> out);

}  // namespace roc::test
