// SPDX-License-Identifier: MIT
// The resource adaptors, and resources that users write.
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "platform/call.hpp"
#include "support/gate.hpp"

namespace {

using bytes = roc::device_array<unsigned char>;

class ResourceAdaptor : public testing::Test {
 protected:
  roc::hip_memory_resource hip_resource;
  roc::pool_resource pool{hip_resource};
};

TEST_F(ResourceAdaptor, StatisticsCountRequestedBytes) {
  roc::statistics_resource_adaptor counting(pool);
  void* const a = counting.allocate(1000);
  void* const b = counting.allocate(500);
  EXPECT_EQ(1500u, counting.statistics().current_bytes);
  counting.deallocate(a, 1000);
  EXPECT_EQ(1500u, counting.statistics().peak_bytes);
  EXPECT_NE(0u, counting.statistics().reserved_bytes);  // of the pool
  counting.reset_peak();
  EXPECT_EQ(500u, counting.statistics().peak_bytes);
  EXPECT_EQ(2u, counting.statistics().allocations);
  counting.deallocate(b, 500);
  EXPECT_EQ(0u, counting.statistics().current_blocks);
}

// An adaptor that overrides nothing, as users' adaptors inherit from the base class.
class forwarding_adaptor : public roc::resource_adaptor {
 public:
  explicit forwarding_adaptor(roc::memory_resource& upstream) : resource_adaptor(upstream) {}
};

TEST_F(ResourceAdaptor, BaseClassForwardsToTheUpstream) {
  forwarding_adaptor forwarding(pool);
  void* const data = forwarding.allocate(1000);
  EXPECT_EQ(1u, pool.statistics().current_blocks);
  forwarding.deallocate(data, 1000);
  EXPECT_EQ(0u, pool.statistics().current_blocks);
  EXPECT_NE(0u, forwarding.statistics().reserved_bytes);
  forwarding.trim();
  EXPECT_EQ(0u, pool.statistics().reserved_bytes);
}

TEST_F(ResourceAdaptor, LimitingThrowsBeyondTheLimit) {
  roc::limiting_resource_adaptor limited(pool, 1000);
  void* const a = limited.allocate(600);
  EXPECT_THROW(static_cast<void>(limited.allocate(401)), roc::out_of_memory);
  void* const b = limited.allocate(400);
  limited.set_limit(100);  // below the bytes in use
  EXPECT_EQ(100u, limited.limit());
  EXPECT_THROW(static_cast<void>(limited.allocate(1)), roc::out_of_memory);
  limited.deallocate(a, 600);
  limited.deallocate(b, 400);
  void* const c = limited.allocate(100);
  limited.deallocate(c, 100);
  EXPECT_THROW(static_cast<void>(limited.allocate(std::size_t{1} << 40)), roc::out_of_memory);
}

std::vector<std::string> lines;

TEST_F(ResourceAdaptor, LoggingWritesOneLineForEachCall) {
  lines.clear();
  roc::failing_resource_adaptor failing(pool);
  roc::logging_resource_adaptor logging(
      failing, [](char const* line) noexcept { lines.emplace_back(line); });
  void* const a = logging.allocate(1234);
  logging.deallocate(a, 1234);
  failing.fail_at(1);
  EXPECT_THROW(static_cast<void>(logging.allocate(77)), roc::out_of_memory);
  ASSERT_EQ(3u, lines.size());
  EXPECT_TRUE(lines[0].starts_with("allocate 1234 bytes: 0x")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("deallocate 1234 bytes: 0x")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("allocate failed 77 bytes")) << lines[2];
}

TEST_F(ResourceAdaptor, FailingThrowsForTheSelectedAllocations) {
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

TEST_F(ResourceAdaptor, ZeroingClearsMemoryAfterItsLastUse) {
  roc::zeroing_resource_adaptor zeroing(pool);
  roc::stream const stream;
  roc::stream const other;
  unsigned char* data = nullptr;
  {
    bytes const secret({3000}, zeroing, roc::order::c, stream);
    data = secret.data();
    secret.fill(42, other);  // the memory must be cleared after this
  }
  bytes const next({3000}, pool, roc::order::c, stream);
  ASSERT_EQ(data, next.data());
  other.synchronize();
  std::vector<unsigned char> actual(3000, 1);
  next.copy_to_host(actual);
  EXPECT_EQ(std::vector<unsigned char>(3000, 0), actual);
}

TEST_F(ResourceAdaptor, ZeroingSaysThatItLeaksMemory) {
  static std::string logged;
  logged.clear();
  auto const log = roc::set_log_hook([](char const* line) noexcept { logged += line; });
  roc::zeroing_resource_adaptor zeroing(pool);
  { bytes const warm_up({3000}, zeroing); }
  bytes secret({3000}, zeroing);
  ASSERT_TRUE(roc::platform::fail_call("hipMemsetAsync", 1, hipErrorLaunchFailure,
                                       roc::platform::failing_uses::all_later));
  secret = {};
  roc::platform::clear_failures();
  roc::set_log_hook(log);
  EXPECT_NE(std::string::npos, logged.find("is leaked, because it cannot be zeroed")) << logged;
}

// The memory must not be cleared before a use for which the first wait failed.
TEST_F(ResourceAdaptor, ZeroingRepeatsAFailedWait) {
  roc::zeroing_resource_adaptor zeroing(pool);
  roc::stream const stream;
  roc::stream const other;
  unsigned char* data = nullptr;
  {
    roc::test::gate gate;
    gate.close(other);
    bytes secret({3000}, zeroing, roc::order::c, stream);
    data = secret.data();
    secret.fill(42, other);
    ASSERT_TRUE(roc::platform::fail_call("hipStreamWaitEvent", 1, hipErrorLaunchFailure));
    secret = {};
    roc::platform::clear_failures();
  }
  bytes const next({3000}, pool, roc::order::c, stream);
  ASSERT_EQ(data, next.data());
  stream.synchronize();
  other.synchronize();
  std::vector<unsigned char> actual(3000, 1);
  next.copy_to_host(actual);
  EXPECT_EQ(std::vector<unsigned char>(3000, 0), actual);
}

// A resource of the user, which names no device and counts its blocks.
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

TEST_F(ResourceAdaptor, UserResourceServesArrays) {
  borrowing_resource resource(hip_resource);
  {
    bytes a({100}, resource);
    a.fill(3);
    EXPECT_EQ(3, a(99).get());
    EXPECT_EQ(1, resource.live);
    EXPECT_THROW(a.release(), roc::lifetime_error);
  }
  EXPECT_EQ(0, resource.live);
  EXPECT_FALSE(resource == static_cast<roc::memory_resource const&>(hip_resource));
  EXPECT_THROW(roc::pool_resource{resource}, roc::error);  // the resource names no device
}

// A resource of the user that hands out a part of one block of a pool again and again.
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

TEST_F(ResourceAdaptor, UserResourceMayDivideABlockOfAPool) {
  arena_resource arena(pool);
  roc::stream const stream;
  roc::stream const other;
  bytes freed({100'000}, arena, roc::order::c, stream);
  freed.fill(1, other);
  freed = {};
  EXPECT_EQ(stream.handle(), arena.freed_on.handle());
  bytes const next({100'000}, arena, roc::order::c, stream);
  next.fill(2, stream);
  stream.synchronize();
  other.synchronize();
  std::vector<unsigned char> actual(100'000);
  next.copy_to_host(actual);
  EXPECT_EQ(std::vector<unsigned char>(100'000, 2), actual);
}

TEST_F(ResourceAdaptor, HipResourcesOfOneDeviceAreEqual) {
  roc::hip_memory_resource const other;
  EXPECT_TRUE(hip_resource == other);
  EXPECT_FALSE(static_cast<roc::memory_resource const&>(hip_resource) == pool);
}

}  // namespace
