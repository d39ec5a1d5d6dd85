// SPDX-License-Identifier: MIT
// Every operator new within the C interface fails in turn.
#include <gtest/gtest.h>

#include <roc/c.h>

#include <cstdint>

#include "support/failing_new.hpp"

namespace {

// Runs f() with each of its allocations failing, until none fails. f() returns the status of its
// first failure, after it has undone what came before. `keeps_nothing`: no memory is allocated
// afterwards that was not allocated before.
template <class F>
void check_each_failure(F f, bool keeps_nothing = true) {
  ASSERT_EQ(ROCARRAY_SUCCESS, f()) << roc_last_error_message();  // creates what is kept for good
  long const before = roc::test::live_allocations();
  long failures = 0;
  for (bool has_failed = true; has_failed; ++failures) {
    roc::test::failing_new const failure(failures + 1);
    roc_status const status = f();
    has_failed = failure.has_failed();
    if (status != ROCARRAY_SUCCESS) {
      EXPECT_TRUE(has_failed);
      EXPECT_EQ(ROCARRAY_ERROR_OUT_OF_MEMORY, status) << roc_last_error_message();
      EXPECT_STRNE("", roc_last_error_message());
    }
  }
  EXPECT_GT(failures, 1);
  if (keeps_nothing) {
    EXPECT_EQ(before, roc::test::live_allocations());
  }
}

TEST(COutOfMemory, Streams) {
  constexpr bool keeps_nothing = false;  // native streams are kept for later streams
  check_each_failure(
      [] {
        roc_stream stream = nullptr;
        roc_status const status = roc_stream_create(ROCARRAY_STREAM_BLOCKING, 0, &stream);
        EXPECT_EQ(status != ROCARRAY_SUCCESS, stream == nullptr);
        EXPECT_EQ(ROCARRAY_SUCCESS, roc_stream_destroy(stream));
        return status;
      },
      keeps_nothing);
}

TEST(COutOfMemory, EventsAndBatches) {
  check_each_failure([] {
    roc_event event = nullptr;
    roc_status const status = roc_event_create(&event);
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_event_destroy(event));
    return status;
  });
  check_each_failure([] {
    int values[2] = {1, 2};
    roc_tensor from{};
    from.data = values;
    from.device.device_type = ROCARRAY_DEVICE_CPU;
    from.dtype = {ROCARRAY_TYPE_INT, 32, 1};
    roc_tensor to = from;
    to.data = values + 1;
    roc_batch batch = nullptr;
    roc_status status = roc_batch_create(&batch);
    if (status != ROCARRAY_SUCCESS) return status;
    status = roc_batch_add(batch, &from, &to);
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_batch_destroy(batch));
    return status;
  });
}

TEST(COutOfMemory, MemoryIsFreedOnAStreamThatHasNotUsedIt) {
  for (long nth = 1;; ++nth) {
    roc_stream stream = nullptr;
    void* data = nullptr;
    ASSERT_EQ(ROCARRAY_SUCCESS, roc_stream_create(ROCARRAY_STREAM_NON_BLOCKING, 0, &stream));
    ASSERT_EQ(ROCARRAY_SUCCESS,
              roc_allocate(ROCARRAY_DEFAULT_RESOURCE, 64, ROCARRAY_DEFAULT_STREAM, &data));
    bool has_failed = false;
    {
      roc::test::failing_new const failure(nth);
      EXPECT_EQ(ROCARRAY_SUCCESS, roc_free(data, stream)) << roc_last_error_message();
      has_failed = failure.has_failed();
    }
    EXPECT_EQ(ROCARRAY_ERROR_LIFETIME, roc_free(data, stream));
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_stream_destroy(stream));
    if (!has_failed) break;
  }
}

TEST(COutOfMemory, MemoryAndRegistrations) {
  check_each_failure([] {
    void* data = nullptr;
    roc_status const status =
        roc_allocate(ROCARRAY_DEFAULT_RESOURCE, 64, ROCARRAY_DEFAULT_STREAM, &data);
    EXPECT_EQ(status != ROCARRAY_SUCCESS, data == nullptr);
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_free(data, ROCARRAY_DEFAULT_STREAM));
    return status;
  });
  check_each_failure([] {
    roc_resource pool = nullptr;
    roc_status const status = roc_resource_create_pool(ROCARRAY_DEFAULT_RESOURCE, SIZE_MAX, &pool);
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_resource_destroy(pool));
    return status;
  });
  check_each_failure([] {
    void* data = nullptr;
    roc_status const status = roc_allocate_host(ROCARRAY_MEMORY_MAPPED, 0, 64, &data);
    EXPECT_EQ(status != ROCARRAY_SUCCESS, data == nullptr);
    EXPECT_EQ(ROCARRAY_SUCCESS, roc_free_host(data));
    return status;
  });
  static int memory[2][1000];
  check_each_failure([] {
    roc_host_range const ranges[] = {{memory[0], sizeof memory[0]}, {memory[1], sizeof memory[1]}};
    roc_status const status = roc_register_host(ranges, 2, 0);
    if (status != ROCARRAY_SUCCESS) return status;
    if (roc_deregister(ranges, 2) != ROCARRAY_SUCCESS) {
      EXPECT_EQ(ROCARRAY_SUCCESS, roc_deregister(ranges, 2)) << roc_last_error_message();
    }
    return status;
  });
}

}  // namespace
