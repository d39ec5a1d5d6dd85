// SPDX-License-Identifier: MIT
// Large host memory is advised to use huge pages: /proc/self/smaps shows the advice.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/mman.h>

namespace {

constexpr std::size_t mebi = std::size_t{1} << 20;

bool has_huge_pages() {
  return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good() &&
         std::ifstream("/proc/self/smaps").good();
}

// Returns true if the mapping that contains the address has the flag "hg".
bool is_advised(void const* address) {
  auto const value = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool is_in_mapping = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      is_in_mapping = begin <= value && value < end;
    } else if (is_in_mapping && line.starts_with("VmFlags:")) {
      return (line + " ").find(" hg ") != std::string::npos;
    }
  }
  return false;
}

TEST(HostArray, IsAlignedToHugePagesAndAdvisedIfLarge) {
  roc::host_array<char> large({8 * mebi});
  EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(large.data()) % (2 * mebi));
  large(0) = 'a';
  large(-1) = 'z';
  if (!has_huge_pages()) GTEST_SKIP() << "this system has no transparent huge pages";
  EXPECT_TRUE(is_advised(large.data()));
  EXPECT_TRUE(is_advised(large.data() + 7 * mebi));
}

TEST(RegisterHost, AdvisesHugePagesIfRequested) {
  constexpr std::size_t size = 4 * mebi;
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  roc::host_view<char> const range(static_cast<char*>(memory), roc::shape<1>{size});
  { auto const guard = roc::register_host(range); }
  bool const before = is_advised(memory);
  {
    auto const guard = roc::register_host(roc::registration_options{.huge_pages = true}, range);
    auto const array = roc::device_array_like(range);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, array));
  }
  bool const after = is_advised(memory);
  munmap(memory, size);
  EXPECT_FALSE(before);
  if (!has_huge_pages()) GTEST_SKIP() << "this system has no transparent huge pages";
  EXPECT_TRUE(after);
}

}  // namespace
