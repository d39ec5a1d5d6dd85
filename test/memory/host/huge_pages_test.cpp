// SPDX-License-Identifier: MIT
// Large host memory is advised to use huge pages: /proc/self/smaps shows the advice. It is not
// touched before the first copy.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

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

// Returns how many pages of the range are in memory.
std::size_t resident_pages(char const* data, std::size_t bytes) {
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> is_resident(bytes / page);
  EXPECT_EQ(0, mincore(const_cast<char*>(data), bytes, is_resident.data()));
  return static_cast<std::size_t>(std::count_if(is_resident.begin(), is_resident.end(),
                                                [](unsigned char flags) { return flags % 2; }));
}

// The threads that unpack a copy are the first to touch the memory, on the nodes that they run on.
TEST(HostArray, IsNotTouchedByItsConstructionIfLarge) {
  roc::trim_pageable_cache();              // memory of another array may have been touched
  constexpr std::size_t size = 64 * mebi;  // too large for the free memory of the C library
  void* const untouched =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, untouched);
  bool const is_observable = resident_pages(static_cast<char*>(untouched), size) == 0;
  munmap(untouched, size);
  if (!is_observable) GTEST_SKIP() << "this system does not tell which pages are in memory";
  roc::device_array<char> device({size});
  device.fill('a');
  roc::host_array<char> array({size});
  // The allocator of an address sanitizer writes to the first page, which may be a huge one.
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_LE(resident_pages(array.data(), size), 2 * mebi / page);
  device.copy_to_host(array);
  EXPECT_LT(size / page / 2, resident_pages(array.data(), size));
  EXPECT_EQ('a', array(-1));
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
