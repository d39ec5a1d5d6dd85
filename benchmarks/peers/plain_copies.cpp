// SPDX-License-Identifier: MIT
// plain_copies [SIZE...]: measures synchronous copies of a plain HIP or CUDA program, which knows
// nothing of rocarray: to and from the device, of pageable and pinned memory, contiguous and in
// rows of 1 KiB. Prints "OPERATION BYTES SECONDS" with the median of several runs. Every result is
// compared. Exit status 77: there is no device.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

// Host memory of two buffers: the source of copies to the device, and the destination of those
// back.
class host_buffers {
 public:
  host_buffers(std::size_t bytes, bool pinned) : pinned_(pinned) {
    for (unsigned char*& memory : memory_) {
      if (pinned) {
        void* allocated = nullptr;
        check(hipHostMalloc(&allocated, bytes, hipHostMallocDefault),
              "allocation of pinned memory");
        memory = static_cast<unsigned char*>(allocated);
      } else {
        memory = static_cast<unsigned char*>(std::malloc(bytes));
        if (memory == nullptr) std::exit(1);
      }
    }
    for (std::size_t i = 0; i + 8 <= bytes; i += 8) std::memcpy(memory_[0] + i, &i, 8);
    std::memset(memory_[1], 0, bytes);
  }
  host_buffers(host_buffers const&) = delete;
  host_buffers& operator=(host_buffers const&) = delete;
  ~host_buffers() {
    for (unsigned char* const memory : memory_) {
      if (pinned_) {
        check(hipHostFree(memory), "deallocation of pinned memory");
      } else {
        std::free(memory);
      }
    }
  }
  unsigned char* source() const { return memory_[0]; }
  unsigned char* destination() const { return memory_[1]; }

 private:
  bool pinned_;
  unsigned char* memory_[2] = {};
};

// Returns the median time of a copy in seconds, after a first one that is not counted.
template <class Copy>
double median_seconds(Copy const& copy) {
  copy();
  std::vector<double> times;
  double total = 0;
  while (times.size() < 3 || (total < 0.15 && times.size() < 500)) {
    auto const begin = std::chrono::steady_clock::now();
    copy();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    total += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

void measure(std::size_t bytes, bool pinned, bool in_rows) {
  std::size_t const rows = bytes / row_bytes;
  host_buffers const host(in_rows ? rows * pitch : bytes, pinned);
  void* device = nullptr;
  check(GPU(Malloc)(&device, bytes), "allocation");
  double const up = median_seconds([&] {
    check(in_rows ? GPU(Memcpy2D)(device, row_bytes, host.source(), pitch, row_bytes, rows,
                                  GPU(MemcpyHostToDevice))
                  : GPU(Memcpy)(device, host.source(), bytes, GPU(MemcpyHostToDevice)),
          "copy to the device");
  });
  double const down = median_seconds([&] {
    check(in_rows ? GPU(Memcpy2D)(host.destination(), pitch, device, row_bytes, row_bytes, rows,
                                  GPU(MemcpyDeviceToHost))
                  : GPU(Memcpy)(host.destination(), device, bytes, GPU(MemcpyDeviceToHost)),
          "copy to the host");
  });
  bool equal = true;
  for (std::size_t row = 0; in_rows && row < rows; ++row) {
    equal = equal && std::memcmp(host.source() + row * pitch, host.destination() + row * pitch,
                                 row_bytes) == 0;
  }
  if (!in_rows) equal = std::memcmp(host.source(), host.destination(), bytes) == 0;
  check(GPU(Free)(device), "deallocation");
  char const* const kind = pinned ? "pinned" : "pageable";
  char const* const shape = in_rows ? "rows" : "contiguous";
  if (!equal) {
    std::fprintf(stderr, "plain_copies: wrong bytes: %s, %s, %zu bytes\n", kind, shape, bytes);
    std::exit(1);
  }
  std::printf("h2d/%s/%s %zu %.9f\n", kind, shape, bytes, up);
  std::printf("d2h/%s/%s %zu %.9f\n", kind, shape, bytes, down);
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (GPU(GetDeviceCount)(&devices) != GPU(Success) || devices == 0) return 77;
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) {
    sizes.push_back(std::strtoull(argv[i], nullptr, 10) / row_bytes * row_bytes);
    if (sizes.back() == 0) {
      std::fprintf(stderr, "plain_copies: \"%s\" is not a size of %zu bytes or more\n", argv[i],
                   row_bytes);
      return 1;
    }
  }
  if (sizes.empty()) sizes = {65536, 1u << 20, 16u << 20};
  for (std::size_t const size : sizes) {
    for (bool const pinned : {false, true}) {
      for (bool const in_rows : {false, true}) measure(size, pinned, in_rows);
    }
  }
}
