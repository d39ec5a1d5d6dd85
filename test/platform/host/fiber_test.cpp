// SPDX-License-Identifier: MIT
// Stacks of the threads of kernels.
#include "platform/host/fiber.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "support/fault.hpp"

namespace {

using roc::host_hip::fiber;
using roc::host_hip::guarded_memory;
using roc::host_hip::max_guarded_stacks;
using roc::host_hip::stack_memory;

std::size_t count_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t result = 0;
  for (std::string line; std::getline(maps, line);) ++result;
  return result;
}

// More stacks than may be guarded.
class StackMemoryDeathTest : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    while (memory_.empty() || memory_.back()->is_guarded()) add();
  }
  void add() { memory_.push_back(std::make_unique<stack_memory>(16384)); }

  std::vector<std::unique_ptr<stack_memory>> memory_;
};

TEST_F(StackMemoryDeathTest, ManyStacksNeedFewMappings) {
  EXPECT_LE(memory_.size(), max_guarded_stacks + 1);
  std::size_t const before = count_mappings();
  std::size_t stacks = 0;
  while (stacks < 60'000) {
    add();
    EXPECT_FALSE(memory_.back()->is_guarded());
    stacks += memory_.back()->count();
  }
#if defined(__SANITIZE_THREAD__)  // which has mappings of its own for them
  EXPECT_LT(count_mappings(), before + stacks / 25);
#else
  EXPECT_LT(count_mappings(), before + stacks / 50);
  EXPECT_LT(count_mappings(), 20'000u);
#endif
}

TEST_F(StackMemoryDeathTest, StacksAreGuardedAgainAfterOthersAreDestroyed) {
  memory_.erase(memory_.begin(), memory_.begin() + 10);
  add();
  EXPECT_TRUE(memory_.back()->is_guarded());
}

struct writer {
  std::byte* address;
  void write() { *static_cast<std::byte volatile*>(address) = std::byte{1}; }
};
void run_writer(void* closure) {
  fiber::acquire(closure);
  static_cast<writer*>(closure)->write();
  fiber::release(closure);
}
// Runs the writer on the fiber. Returns true if it has returned.
bool run_on(fiber& stack, writer& closure) {
  fiber::release(&closure);
  bool const has_returned = stack.start(&run_writer, &closure);
  fiber::acquire(&closure);
  return has_returned;
}

TEST_F(StackMemoryDeathTest, OverflowOfUnguardedStackIsSeen) {
  fiber stack(*memory_.back(), 1);
  writer inside{memory_.back()->stack(1) + 1024};
  EXPECT_TRUE(run_on(stack, inside));
  EXPECT_FALSE(stack.has_overflowed());
  writer lowest{memory_.back()->stack(1)};
  EXPECT_TRUE(run_on(stack, lowest));
  EXPECT_TRUE(stack.has_overflowed());
}

TEST_F(StackMemoryDeathTest, AccessFarBelowGuardedStackFaults) {
  stack_memory const& guarded = *memory_.front();
  ASSERT_TRUE(guarded.is_guarded());
  for (std::size_t distance : {std::size_t{1}, std::size_t{40'000}, std::size_t{1} << 20}) {
    EXPECT_EXIT(writer{guarded.stack(0) - distance}.write(), roc::test::is_fault,
                roc::test::fault_text)
        << distance;
  }
}

TEST(GuardedMemoryDeathTest, AccessFarBeyondTheEndFaults) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  guarded_memory const memory(1000, guarded_memory::guards::before_and_after);
  memory.data()[memory.size() - 1] = std::byte{1};
  for (std::size_t distance : {std::size_t{0}, std::size_t{20'000}, (std::size_t{1} << 20) - 1}) {
    EXPECT_EXIT(writer{memory.data() + memory.size() + distance}.write(), roc::test::is_fault,
                roc::test::fault_text)
        << distance;
  }
}

}  // namespace
