// SPDX-License-Identifier: MIT
// What each adaptor adds to the resource behind it.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

using bytes = roc::device_array<unsigned char>;

class Adaptor : public testing::Test {
 protected:
  roc::hip_memory_resource direct;
  roc::pool_resource pool{direct};
};

TEST_F(Adaptor, StatisticsCountWhatIsAskedFor) {
  roc::statistics_resource_adaptor counting(pool);
  void* const a = counting.allocate(1000);
  void* const b = counting.allocate(500);
  EXPECT_EQ(1500u, counting.statistics().current_bytes);
  counting.deallocate(a, 1000);
  EXPECT_EQ(1500u, counting.statistics().peak_bytes);
  EXPECT_NE(0u, counting.statistics().reserved_bytes);  // the pool's
  counting.reset_peak();
  EXPECT_EQ(500u, counting.statistics().peak_bytes);
  EXPECT_EQ(2u, counting.statistics().allocations);
  counting.deallocate(b, 500);
  EXPECT_EQ(0u, counting.statistics().current_blocks);
}

TEST_F(Adaptor, LimitRefusesWhatIsBeyond) {
  roc::limiting_resource_adaptor limited(pool, 1000);
  void* const a = limited.allocate(600);
  EXPECT_THROW(static_cast<void>(limited.allocate(401)), roc::out_of_memory);
  void* const b = limited.allocate(400);
  limited.set_limit(100);  // below what is held
  EXPECT_EQ(100u, limited.limit());
  EXPECT_THROW(static_cast<void>(limited.allocate(1)), roc::out_of_memory);
  limited.deallocate(a, 600);
  limited.deallocate(b, 400);
  void* const c = limited.allocate(100);
  limited.deallocate(c, 100);
  EXPECT_THROW(static_cast<void>(limited.allocate(std::size_t{1} << 40)), roc::out_of_memory);
}

std::vector<std::string> lines;

TEST_F(Adaptor, LoggingWritesALineEach) {
  lines.clear();
  roc::failing_resource_adaptor failing(pool);
  roc::logging_resource_adaptor logging(failing,
                                [](char const* line) noexcept { lines.emplace_back(line); });
  void* const a = logging.allocate(1234);
  logging.deallocate(a, 1234);
  failing.fail_at(1);
  EXPECT_THROW(static_cast<void>(logging.allocate(77)), roc::out_of_memory);
  ASSERT_EQ(3u, lines.size());
  EXPECT_TRUE(lines[0].starts_with("allocate 1234 bytes: 0x")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("deallocate 1234 bytes: 0x")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("allocate failed 77 bytes")) << lines[2];
}

TEST_F(Adaptor, FailingFailsWhereToldTo) {
  roc::failing_resource_adaptor failing(pool);
  failing.fail_at(2, 2);
  bytes const first({10}, failing);
  EXPECT_THROW(bytes({10}, failing), roc::out_of_memory);
  EXPECT_THROW(bytes({10}, failing), roc::out_of_memory);
  EXPECT_NO_THROW(bytes({10}, failing));
  EXPECT_EQ(2u, failing.failures());
  failing.fail_at(2, SIZE_MAX);  // all but the first
  EXPECT_NO_THROW(bytes({10}, failing));
  EXPECT_THROW(bytes({10}, failing), roc::out_of_memory);
  failing.fail_at(0);
  EXPECT_NO_THROW(bytes({10}, failing));
}

TEST_F(Adaptor, ZeroingLeavesNothingToRead) {
  roc::zeroing_resource_adaptor zeroing(pool);
  roc::stream const own;
  roc::stream const other;
  unsigned char* data = nullptr;
  {
    bytes const secret({3000}, zeroing, roc::order::c, own);
    data = secret.data();
    secret.fill(42, other);  // cleared after this
  }
  bytes const next({3000}, pool, roc::order::c, own);
  ASSERT_EQ(data, next.data());
  other.synchronize();
  std::vector<unsigned char> got(3000, 1);
  next.copy_to_host(got);
  EXPECT_EQ(std::vector<unsigned char>(3000, 0), got);
}

// Clearing must not overtake a use that could not be waited for at once.
TEST_F(Adaptor, ZeroingWaitsWhereAWaitFailsOnce) {
  roc::zeroing_resource_adaptor zeroing(pool);
  roc::stream const own;
  roc::stream const other;
  unsigned char* data = nullptr;
  {
    roc::test::gate gate;
    gate.close(other);
    bytes secret({3000}, zeroing, roc::order::c, own);
    data = secret.data();
    secret.fill(42, other);
    ASSERT_TRUE(roc::platform::fail_call("hipStreamWaitEvent", 1, hipErrorLaunchFailure));
    secret = {};
    roc::platform::clear_failures();
  }
  bytes const next({3000}, pool, roc::order::c, own);
  ASSERT_EQ(data, next.data());
  own.synchronize();
  other.synchronize();
  std::vector<unsigned char> got(3000, 1);
  next.copy_to_host(got);
  EXPECT_EQ(std::vector<unsigned char>(3000, 0), got);
}

// One of the user's own, over nothing of the library.
class borrowing_resource final : public roc::memory_resource {
 public:
  explicit borrowing_resource(roc::memory_resource& from) : from_(from) {}
  int live = 0;

 private:
  void* do_allocate(std::size_t size, roc::stream_ref stream) override {
    ++live;
    return from_.allocate(size, stream);
  }
  void do_deallocate(void* data, std::size_t size, roc::stream_ref stream) noexcept override {
    --live;
    from_.deallocate(data, size, stream);
  }
  roc::memory_resource& from_;
};

TEST_F(Adaptor, UsersMayWriteTheirOwn) {
  borrowing_resource mine(direct);
  {
    bytes a({100}, mine);
    a.fill(3);
    EXPECT_EQ(3, a(99).get());
    EXPECT_EQ(1, mine.live);
    EXPECT_THROW(a.release(), roc::lifetime_error);
  }
  EXPECT_EQ(0, mine.live);
  EXPECT_FALSE(mine == static_cast<roc::memory_resource const&>(direct));
  EXPECT_THROW(roc::pool_resource{mine}, roc::error);  // names no device
}

// Hands out a part of a block that a pool gave it, again as soon as it was given back.
class arena_resource final : public roc::memory_resource {
 public:
  explicit arena_resource(roc::memory_resource& from)
      : from_(from), data_(static_cast<char*>(from.allocate(size))) {}
  ~arena_resource() override { from_.deallocate(data_, size); }
  roc::stream_ref freed_on;

 private:
  static constexpr std::size_t size = 2u << 20;

  void* do_allocate(std::size_t, roc::stream_ref) override { return data_ + (1u << 20); }
  void do_deallocate(void*, std::size_t, roc::stream_ref stream) noexcept override {
    freed_on = stream;
  }
  roc::memory_resource& from_;
  char* data_;
};

TEST_F(Adaptor, UsersMayCutWhatAPoolGaveThem) {
  arena_resource arena(pool);
  roc::stream const own;
  roc::stream const other;
  bytes gone({100'000}, arena, roc::order::c, own);
  gone.fill(1, other);
  gone = {};
  EXPECT_EQ(own.handle(), arena.freed_on.handle());
  bytes const next({100'000}, arena, roc::order::c, own);
  next.fill(2, own);
  own.synchronize();
  other.synchronize();
  std::vector<unsigned char> got(100'000);
  next.copy_to_host(got);
  EXPECT_EQ(std::vector<unsigned char>(100'000, 2), got);
}

TEST_F(Adaptor, EqualDirectResourcesAreOne) {
  roc::hip_memory_resource const other;
  EXPECT_TRUE(direct == other);
  EXPECT_FALSE(static_cast<roc::memory_resource const&>(direct) == pool);
}

}  // namespace
