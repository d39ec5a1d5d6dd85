// SPDX-License-Identifier: MIT
// plain_copies [--device-rows] [SIZE...]: measures synchronous copies of a plain HIP or CUDA
// program, which knows nothing of rocarray: to and from the device, of pageable and pinned memory,
// contiguous and in rows of 1 KiB; with --device-rows, copies of rows within the device. Prints
// "OPERATION BYTES SECONDS" with the median of several runs. The bytes of a last copy of each kind
// are compared. Exit status 77: there is no device.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

#include "gpu.hpp"

namespace {

constexpr std::size_t row_bytes = 1024;
constexpr std::size_t pitch = 2 * row_bytes;  // in host memory; rows are dense on the device

void check(GPU(Error_t) code, char const* call) {
  if (code == GPU(Success)) return;
  std::fprintf(stderr, "plain_copies: %s failed with code %d\n", call, static_cast<int>(code));
  std::exit(1);
}

// Calls function(begin, end) for parts of [0, count), in several threads. The parts begin at
// multiples of 64 MiB.
template <class Function>
void for_blocks(std::size_t count, Function const& function) {
  constexpr std::size_t block = std::size_t{64} << 20;
  std::size_t const blocks = (count + block - 1) / block;
  std::size_t const threads = std::min<std::size_t>(blocks, 8);
  std::vector<std::thread> running;
  for (std::size_t first = 0; first < threads; ++first) {
    running.emplace_back([=, &function] {
      for (std::size_t i = first; i < blocks; i += threads) {
        function(i * block, std::min(count, (i + 1) * block));
      }
    });
  }
  for (std::thread& thread : running) thread.join();
}

// Host memory, and bytes that depend on their place and on a seed.
class host_buffer {
 public:
  host_buffer(std::size_t bytes, bool pinned) : pinned_(pinned) {
    if (pinned) {
      void* allocated = nullptr;
      check(hipHostMalloc(&allocated, bytes, hipHostMallocDefault), "allocation of pinned memory");
      memory_ = static_cast<unsigned char*>(allocated);
    } else {
      memory_ = static_cast<unsigned char*>(std::malloc(bytes));
      if (memory_ == nullptr) std::exit(1);
    }
  }
  host_buffer(host_buffer const&) = delete;
  host_buffer& operator=(host_buffer const&) = delete;
  ~host_buffer() {
    if (pinned_) {
      check(hipHostFree(memory_), "deallocation of pinned memory");
    } else {
      std::free(memory_);
    }
  }
  unsigned char* data() const { return memory_; }

  void fill(std::size_t bytes, std::uint64_t seed) {
    for_blocks(bytes, [this, seed](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i += word) {
        std::uint64_t const value = value_at(i, seed);
        std::memcpy(memory_ + i, &value, word);
      }
    });
  }
  void clear(std::size_t bytes) {
    for_blocks(bytes, [this](std::size_t begin, std::size_t end) {
      std::memset(memory_ + begin, 0, end - begin);
    });
  }
  // Returns true if the bytes are those of fill(), and gaps those of clear(): every second range of
  // `row` bytes. If `row` is 0, there are no gaps.
  bool is_equal(std::size_t bytes, std::uint64_t seed, std::size_t row) const {
    std::atomic<bool> equal = true;
    for_blocks(bytes, [this, seed, row, &equal](std::size_t begin, std::size_t end) {
      std::uint64_t difference = 0;
      for (std::size_t i = begin; i < end; i += word) {
        std::uint64_t value = 0;
        std::memcpy(&value, memory_ + i, word);
        difference |= value ^ (value_at(i, seed) & bits_in_row(i, row));
      }
      if (difference != 0) equal = false;
    });
    return equal;
  }

 private:
  static constexpr std::size_t word = sizeof(std::uint64_t);
  // Returns the bits of a word that are in a row: of `row` bytes, half a word or whole words.
  static std::uint64_t bits_in_row(std::size_t offset, std::size_t row) {
    if (row == word / 2) return 0xFFFFFFFFu;
    return row != 0 && offset % (2 * row) >= row ? 0 : ~std::uint64_t{0};
  }
  static std::uint64_t value_at(std::size_t offset, std::uint64_t seed) {
    return (offset + seed) * 0x9E3779B97F4A7C15u;
  }

  bool pinned_;
  unsigned char* memory_ = nullptr;
};

// Returns the median time of copy(rows) in seconds, after a first one that is not timed. Copies of
// 1 GiB and more are repeated less often.
template <class Copy>
double median_seconds(Copy const& copy, std::size_t rows, std::size_t width = row_bytes) {
  bool const is_large = rows * width >= std::size_t{1} << 30;
  copy(is_large ? rows / 4 : rows);
  std::vector<double> times;
  double total = 0;
  while (times.size() < (is_large ? 2 : 3) || (total < 0.05 && times.size() < 500)) {
    auto const begin = std::chrono::steady_clock::now();
    copy(rows);
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    total += times.back();
  }
  std::sort(times.begin(), times.end());
  std::size_t const middle = times.size() / 2;
  return times.size() % 2 != 0 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

void measure(std::size_t bytes, void* device, host_buffer& host, bool pinned, bool in_rows) {
  std::size_t const all_rows = bytes / row_bytes;
  std::size_t const span = in_rows ? all_rows * pitch : bytes;
  auto const up = [&](std::size_t rows) {
    check(in_rows ? GPU(Memcpy2D)(device, row_bytes, host.data(), pitch, row_bytes, rows,
                                  GPU(MemcpyHostToDevice))
                  : GPU(Memcpy)(device, host.data(), rows * row_bytes, GPU(MemcpyHostToDevice)),
          "copy to the device");
  };
  auto const down = [&](std::size_t rows) {
    check(in_rows ? GPU(Memcpy2D)(host.data(), pitch, device, row_bytes, row_bytes, rows,
                                  GPU(MemcpyDeviceToHost))
                  : GPU(Memcpy)(host.data(), device, rows * row_bytes, GPU(MemcpyDeviceToHost)),
          "copy to the host");
  };
  host.fill(span, 1);
  double const seconds_up = median_seconds(up, all_rows);
  double const seconds_down = median_seconds(down, all_rows);
  // Copies that are not timed are compared. Of their bytes, neither side holds any before.
  host.fill(span, 2);
  up(all_rows);
  check(GPU(DeviceSynchronize)(), "synchronization");
  host.clear(span);
  down(all_rows);
  char const* const kind = pinned ? "pinned" : "pageable";
  char const* const shape = in_rows ? "rows" : "contiguous";
  if (!host.is_equal(span, 2, in_rows ? row_bytes : 0)) {
    std::fprintf(stderr, "plain_copies: wrong bytes: %s, %s, %zu bytes\n", kind, shape, bytes);
    std::exit(1);
  }
  std::printf("h2d/%s/%s %zu %.9f\n", kind, shape, bytes, seconds_up);
  std::printf("d2h/%s/%s %zu %.9f\n", kind, shape, bytes, seconds_down);
  std::fflush(stdout);
}

// Measures copies of rows of `width` bytes within the device. On both sides, each is followed by a
// gap of its size.
void measure_device_rows(std::size_t bytes, void* from, void* to, host_buffer& host,
                         std::size_t width) {
  std::size_t const span = 2 * bytes;
  std::size_t const all_rows = bytes / width;
  auto const copy = [&](std::size_t rows) {
    check(GPU(Memcpy2D)(to, 2 * width, from, 2 * width, width, rows, GPU(MemcpyDeviceToDevice)),
          "copy within the device");
    check(GPU(DeviceSynchronize)(), "synchronization");
  };
  double const seconds = median_seconds(copy, all_rows, width);
  host.fill(span, 3);
  check(GPU(Memcpy)(from, host.data(), span, GPU(MemcpyHostToDevice)), "copy to the device");
  check(GPU(MemsetAsync)(to, 0, span, nullptr), "memset");
  copy(all_rows);
  check(GPU(Memcpy)(host.data(), to, span, GPU(MemcpyDeviceToHost)), "copy to the host");
  if (!host.is_equal(span, 3, width)) {
    std::fprintf(stderr, "plain_copies: wrong bytes: rows of %zu bytes, %zu bytes\n", width, bytes);
    std::exit(1);
  }
  std::printf("d2d/rows_%zu %zu %.9f\n", width, bytes, seconds);
  std::fflush(stdout);
}

void measure_device_rows(std::vector<std::size_t> const& sizes) {
  std::size_t const most = *std::max_element(sizes.begin(), sizes.end());
  void* from = nullptr;
  void* to = nullptr;
  check(GPU(Malloc)(&from, 2 * most), "allocation");
  check(GPU(Malloc)(&to, 2 * most), "allocation");
  {
    host_buffer host(2 * most, true);
    for (std::size_t const size : sizes) {
      for (std::size_t const width : {4, 64, 1024}) {
        measure_device_rows(size, from, to, host, width);
      }
    }
  }
  check(GPU(Free)(to), "deallocation");
  check(GPU(Free)(from), "deallocation");
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (GPU(GetDeviceCount)(&devices) != GPU(Success) || devices == 0) return 77;
  std::vector<std::size_t> sizes;
  bool const within_device = argc > 1 && std::string_view(argv[1]) == "--device-rows";
  for (int i = within_device ? 2 : 1; i < argc; ++i) {
    sizes.push_back(std::strtoull(argv[i], nullptr, 10) / row_bytes * row_bytes);
    if (sizes.back() == 0) {
      std::fprintf(stderr, "plain_copies: \"%s\" is not a size of %zu bytes or more\n", argv[i],
                   row_bytes);
      return 1;
    }
  }
  if (sizes.empty()) sizes = {65536, 1u << 20, 16u << 20};
  if (within_device) {
    measure_device_rows(sizes);
    return 0;
  }
  // Allocated once, for the largest size.
  std::size_t const most = *std::max_element(sizes.begin(), sizes.end());
  void* device = nullptr;
  check(GPU(Malloc)(&device, most), "allocation");
  {
    host_buffer pageable(most / row_bytes * pitch, false);
    host_buffer pinned(most / row_bytes * pitch, true);
    for (std::size_t const size : sizes) {
      for (bool const in_rows : {false, true}) measure(size, device, pageable, false, in_rows);
      for (bool const in_rows : {false, true}) measure(size, device, pinned, true, in_rows);
    }
  }
  check(GPU(Free)(device), "deallocation");
}
