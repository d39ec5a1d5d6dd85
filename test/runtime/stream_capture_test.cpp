// SPDX-License-Identifier: MIT
// What is done with streams outside of a capture while HIP cannot tell whether they are captured.
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>
#include <thread>

#include <roc/detail/launch.hpp>

#include "memory/device/allocation_map.hpp"
#include "memory/device/allocation_record.hpp"
#include "platform/call.hpp"
#include "runtime/default_stream_sync.hpp"
#include "runtime/stream_capture.hpp"
#include "runtime/stream_id.hpp"
#include "runtime/stream_uses.hpp"

namespace {

using roc::runtime::stream_id_of;

// Calls f() in another thread while this one captures a graph.
template <class F>
void during_capture(F f) {
  roc::graph const graph = roc::capture([&](roc::stream_ref) { std::thread(f).join(); });
}

// Makes HIP fail to tell once, at the nth query from now on, whether a stream is captured.
void fail_query(unsigned nth = 1) {
  ASSERT_TRUE(roc::platform::fail_call("hipStreamGetCaptureInfo", nth, hipErrorUnknown));
}

class CaptureQuery : public testing::Test {
 protected:
  void TearDown() override { roc::platform::clear_failures(); }
};

TEST_F(CaptureQuery, FailureIsAnErrorOnlyOfBelongsToCapture) {
  roc::stream const stream(roc::non_blocking);
  during_capture([&] {
    EXPECT_FALSE(roc::runtime::belongs_to_capture(stream));
    EXPECT_FALSE(roc::runtime::may_be_captured(stream));
    fail_query();
    EXPECT_THROW(static_cast<void>(roc::runtime::belongs_to_capture(stream)), roc::error);
    fail_query();
    EXPECT_TRUE(roc::runtime::may_be_captured(stream));
  });
}

TEST_F(CaptureQuery, FailureDoesNotLoseTheRecordOfWork) {
  roc::stream const stream(roc::non_blocking);
  during_capture([&] {
    fail_query();
    EXPECT_THROW(roc::runtime::record_work(stream), roc::error);
    EXPECT_NO_THROW(roc::runtime::record_work(stream));
  });
}

TEST_F(CaptureQuery, FailureDoesNotSkipTheWaitForAStream) {
  roc::stream const stream(roc::non_blocking);
  during_capture([&] {
    fail_query();
    EXPECT_THROW(roc::runtime::synchronize_non_blocking_streams(0), roc::error);
    EXPECT_NO_THROW(roc::runtime::synchronize_non_blocking_streams(0));
  });
}

// Remembers the stream of the last deallocation.
class remembering_resource final : public roc::memory_resource {
 public:
  roc::stream_ref last;

 private:
  void* do_allocate(std::size_t bytes, roc::stream_ref stream) override {
    return upstream_.allocate(bytes, stream);
  }
  void do_deallocate(void* data, std::size_t bytes, roc::stream_ref stream) noexcept override {
    last = stream;
    upstream_.deallocate(data, bytes, stream);
  }
  int do_device_ordinal() const noexcept override { return 0; }

  roc::hip_memory_resource upstream_;
};

TEST_F(CaptureQuery, FailureDoesNotMoveADeallocationToTheDefaultStream) {
  remembering_resource resource;
  roc::stream const stream(roc::non_blocking);
  void* const data = resource.allocate(100, stream);
  during_capture([&] {
    fail_query();
    resource.deallocate(data, 100, stream);
  });
  EXPECT_EQ(stream.handle(), resource.last.handle());
}

std::size_t record_count = 0;

void count_record(roc::platform::call_record const& record) {
  if (std::string_view(record.name) == "hipEventRecord") ++record_count;
}

TEST_F(CaptureQuery, FailureDoesNotHideThatTheUseOfAForeignStreamHasNoEvent) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  bool is_done = false;
  roc::runtime::stream_uses uses;
  during_capture([&] {
    roc::stream_ref const stream = roc::from_native(native);
    stream.launch_host_function([&] { is_done = true; });
    ASSERT_TRUE(roc::platform::fail_call("hipEventRecord", 1, hipErrorUnknown));
    // The first query belongs to the attempt to record the event.
    ASSERT_TRUE(roc::platform::fail_call("hipStreamGetCaptureInfo", 2, hipErrorUnknown,
                                         roc::platform::failing_uses::all_later));
    EXPECT_THROW(uses.add(stream_id_of(stream, 0)), roc::error);
    roc::platform::clear_failures();
  });
  ROCARRAY_HIP(hipStreamDestroy, native);
  record_count = 0;
  auto const previous = roc::platform::set_call_hook(count_record);
  EXPECT_NO_THROW(uses.wait());
  roc::platform::set_call_hook(previous);
  EXPECT_EQ(0u, record_count);  // on the destroyed stream
  EXPECT_TRUE(is_done);
}

TEST_F(CaptureQuery, FailureDoesNotLoseTheUseOfALaunchOnAForeignStream) {
  hipStream_t native = nullptr;
  ROCARRAY_HIP(hipStreamCreateWithFlags, &native, hipStreamNonBlocking);
  roc::device_array<int> const array({100});
  during_capture([&] {
    void const* const argument = array.data();
    roc::detail::launch_scope scope(roc::from_native(native), &argument, sizeof argument);
    fail_query();
    EXPECT_THROW(scope.check(hipSuccess, "kernel"), roc::error);
    roc::platform::clear_failures();
    auto const uses = roc::memory::find_record(array.data())->uses();
    EXPECT_TRUE(uses.contains(stream_id_of(roc::from_native(native), 0)));
  });
  ROCARRAY_HIP(hipStreamSynchronize, native);
  ROCARRAY_HIP(hipStreamDestroy, native);
}

}  // namespace
