// SPDX-License-Identifier: MIT
// Tiled copies through shared memory: the source is read along its fastest axis, and the
// destination is written along its own.
#include <cstdint>

#include <roc/native/elementwise.hpp>

#include "kernels/launch.hpp"
#include "kernels/tile_job.hpp"
#include "kernels/unroll.hpp"
#include "platform/host/host_stub.hpp"

#if defined(__CUDACC__) || defined(__HIP__) || ROCARRAY_KERNEL_HOST_STUB

namespace roc::kernels {

// A block has line_threads by tile_lines threads.
constexpr unsigned line_threads = 32;

// The tile of a block in shared memory: a row of words along a for each index along b.
template <class Word>
struct word_tile {
  static constexpr unsigned side_a = max_side_a_for(sizeof(Word));
  static constexpr unsigned side_b = max_side_b_for(sizeof(Word));
  // Padded by at least a dword, so that the words of a column are in different banks.
  static constexpr unsigned pitch = side_a + words_per_dword<Word>;
  static constexpr unsigned columns = side_a / line_threads;  // of a thread when it loads
  static constexpr unsigned parts = side_b / line_threads;    // of a line when it is stored
  // All loads of `rows` rows are in flight before the first result is used: 64 bytes of a thread,
  // or 16 words. GB/s on one H200, as above max_side_b_for, with 32 bytes, then with 64: words of 4
  // bytes 3456, 3498 and 3778, 3888; of 8 bytes 3514, 3613 and 3812, 3954.
  static constexpr unsigned rows = (sizeof(Word) < 4 ? 16 : 64 / sizeof(Word)) / columns;
  static constexpr unsigned lines = 4;  // that a thread stores at once

  Word words[side_b * pitch];

  __device__ void load(tile_geometry const& geometry, tile_job const& job) {
    std::uintptr_t from =
        step_by(step_by(geometry.source, threadIdx.x, job.source_a), threadIdx.y, job.source_b);
    std::uintptr_t const column_step = step_by(0, line_threads, job.source_a);
    std::uintptr_t const row_step = step_by(0, tile_lines, job.source_b);
    bool has_column[columns];
    ROCARRAY_UNROLL
    for (unsigned u = 0; u < columns; ++u) {
      has_column[u] = threadIdx.x + u * line_threads < geometry.extent_a;
    }
    int rest = static_cast<int>(geometry.extent_b) - static_cast<int>(threadIdx.y);
    Word* to = words + threadIdx.y * pitch + threadIdx.x;
    for (; rest > 0; rest -= static_cast<int>(rows * tile_lines)) {
      word_register<Word> loaded[rows][columns] = {};
      ROCARRAY_UNROLL
      for (unsigned i = 0; i < rows; ++i) {
        ROCARRAY_UNROLL
        for (unsigned u = 0; u < columns; ++u) {
          if (rest > static_cast<int>(i * tile_lines) && has_column[u]) {
            copy_word_to(loaded[i][u], word_at<Word const>(from + u * column_step));
          }
        }
        from += row_step;
      }
      ROCARRAY_UNROLL
      for (unsigned i = 0; i < rows; ++i) {
        ROCARRAY_UNROLL
        for (unsigned u = 0; u < columns; ++u) {
          if (rest > static_cast<int>(i * tile_lines) && has_column[u]) {
            copy_word_to(to[i * tile_lines * pitch + u * line_threads], loaded[i][u]);
          }
        }
      }
      to += rows * tile_lines * pitch;
    }
  }

  // Stores the tile, after all threads of the block have loaded it. The range of a thread's lines
  // is computed once: with lookback, words have at least 4 bytes, and tile_lines steps from line
  // to line are a multiple of a sector.
  __device__ void store(tile_geometry const& geometry, tile_job const& job) const {
    std::uintptr_t line = step_by(geometry.destination, threadIdx.y, job.destination_a);
    word_range const range = stored_range<Word>(job, geometry, line);
    unsigned const first = range.begin + threadIdx.x;
    int const rest = static_cast<int>(range.end) - static_cast<int>(first);
    if (rest <= 0) return;
    // Only the last part may extend beyond the tile: then the first one is read in its place. A
    // condition for each load would need more registers.
    constexpr unsigned last = (parts - 1) * line_threads;
    unsigned const last_part = rest > static_cast<int>(last) ? last * pitch : 0;
    int rest_lines = static_cast<int>(geometry.extent_a) - static_cast<int>(threadIdx.y);
    std::uintptr_t const line_step = step_by(0, tile_lines, job.destination_a);
    std::uintptr_t const part_step = step_by(0, line_threads, job.destination_b);
    line = step_by(line, first, job.destination_b);
    Word const* from = words + first * pitch + threadIdx.y;
    for (; rest_lines > 0; rest_lines -= static_cast<int>(lines * tile_lines)) {
      word_register<Word> loaded[lines][parts];
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < lines; ++k) {
        ROCARRAY_UNROLL
        for (unsigned v = 0; v < parts; ++v) {
          unsigned const part = v + 1 < parts ? v * line_threads * pitch : last_part;
          copy_word_to(loaded[k][v], from[k * tile_lines + part]);
        }
      }
      ROCARRAY_UNROLL
      for (unsigned k = 0; k < lines; ++k) {
        std::uintptr_t to = line;
        ROCARRAY_UNROLL
        for (unsigned v = 0; v < parts; ++v) {
          if (rest_lines > static_cast<int>(k * tile_lines) &&
              rest > static_cast<int>(v * line_threads)) {
            copy_word_to(word_at<Word>(to), loaded[k][v]);
          }
          to += part_step;
        }
        line += line_step;
      }
      from += lines * tile_lines;
    }
  }
};

// With 64 registers for each thread, four blocks fit on a multiprocessor of NVIDIA.
template <class Word>
__global__ void ROCARRAY_LAUNCH_BOUNDS(line_threads* tile_lines, 4) tile_kernel(tile_job job) {
  __shared__ word_tile<Word> tile;
  for (std::uint32_t block = blockIdx.x; block < job.blocks; block += gridDim.x) {
    tile_geometry const geometry = tile_of(job, block);
    tile.load(geometry, job);
    __syncthreads();
    tile.store(geometry, job);
    __syncthreads();
  }
}

#if !ROCARRAY_KERNEL_HOST_STUB

template <class Word>
hipError_t launch_tiles(tile_job const& job, hipStream_t stream) {
  dim3 const grid(job.blocks < max_tile_blocks ? job.blocks : max_tile_blocks);
  return native_detail::launch_kernel(tile_kernel<Word>, grid,
                                      dim3(line_threads, tile_lines), stream, job);
}

hipError_t launch_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream) {
  switch (word_bytes) {
    case 1: return launch_tiles<std::uint8_t>(job, stream);
    case 2: return launch_tiles<std::uint16_t>(job, stream);
    case 4: return launch_tiles<std::uint32_t>(job, stream);
    case 8: return launch_tiles<std::uint64_t>(job, stream);
    case 16: return launch_tiles<vector_word>(job, stream);
    default: return hipErrorInvalidValue;
  }
}

#endif

ROCARRAY_HOST_STUB(tile_kernel<std::uint8_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint16_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint32_t>);
ROCARRAY_HOST_STUB(tile_kernel<std::uint64_t>);
ROCARRAY_HOST_STUB(tile_kernel<vector_word>);

}  // namespace roc::kernels

#else

namespace roc::kernels {

// A host compiler has no thread blocks: one thread copies each tile.
hipError_t launch_tile(tile_job const& job, std::size_t word_bytes, hipStream_t stream) {
  using native_detail::launch_elementwise;
  switch (word_bytes) {
    case 1: return launch_elementwise(copy_tile<std::uint8_t>{job}, job.blocks, stream);
    case 2: return launch_elementwise(copy_tile<std::uint16_t>{job}, job.blocks, stream);
    case 4: return launch_elementwise(copy_tile<std::uint32_t>{job}, job.blocks, stream);
    case 8: return launch_elementwise(copy_tile<std::uint64_t>{job}, job.blocks, stream);
    case 16: return launch_elementwise(copy_tile<vector_word>{job}, job.blocks, stream);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace roc::kernels

#endif
