// SPDX-License-Identifier: MIT
// Large host memory asks for huge pages: seen in what the system says of the mapping.
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

bool system_has_them() {
  return std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled").good() &&
         std::ifstream("/proc/self/smaps").good();
}

// Whether the mapping that holds the address has the flag "hg".
bool advised(void const* address) {
  auto const wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      here = begin <= wanted && wanted < end;
    } else if (here && line.starts_with("VmFlags:")) {
      return (line + " ").find(" hg ") != std::string::npos;
    }
  }
  return false;
}

TEST(HugePages, LargePageableArraysBeginAndLieOnThem) {
  roc::host_array<char> large({8 * mebi});
  EXPECT_EQ(0u, reinterpret_cast<std::uintptr_t>(large.data()) % (2 * mebi));
  large(0) = 'a';
  large(-1) = 'z';
  if (!system_has_them()) GTEST_SKIP() << "this system has no transparent huge pages";
  EXPECT_TRUE(advised(large.data()));
  EXPECT_TRUE(advised(large.data() + 7 * mebi));
}

TEST(HugePages, RegistrationAsksOnDemand) {
  constexpr std::size_t size = 4 * mebi;
  void* const memory =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  roc::host_view<char> const range(static_cast<char*>(memory), roc::shape<1>{size});
  { auto const guard = roc::register_host(range); }
  bool const before = advised(memory);
  {
    auto const guard = roc::register_host(roc::registration_options{.huge_pages = true}, range);
    auto const array = roc::device_array_like(range);
    EXPECT_EQ(roc::copy_path::dma, roc::planned_path(range, array));
  }
  bool const after = advised(memory);
  munmap(memory, size);
  EXPECT_FALSE(before);
  if (!system_has_them()) GTEST_SKIP() << "this system has no transparent huge pages";
  EXPECT_TRUE(after);
}

}  // namespace
