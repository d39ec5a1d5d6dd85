/* SPDX-License-Identifier: MIT
 * A program in C99: a round trip through every group of functions, and errors. */
#include <roc/c.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

/* Counts and prints a call that did not return the expected status. */
static void expect(roc_status expected, roc_status actual, char const* call, int line) {
  if (actual == expected) return;
  ++failures;
  printf("c_program.c:%d: %s is %s, expected %s: %s\n", line, call, roc_status_name(actual),
         roc_status_name(expected), roc_last_error_message());
}

static void expect_true(int condition, char const* text, int line) {
  if (condition) return;
  ++failures;
  printf("c_program.c:%d: %s is false; the last error: %s\n", line, text, roc_last_error_message());
}

#define OK(call) expect(ROCARRAY_SUCCESS, (call), #call, __LINE__)
#define FAILS(status, call) expect((status), (call), #call, __LINE__)
#define TRUE(condition) expect_true((condition), #condition, __LINE__)

enum { ROWS = 30, COLUMNS = 50, COUNT = ROWS * COLUMNS };

static float source[COUNT];
static float destination[COUNT];
static int64_t const shape[2] = {ROWS, COLUMNS};
static int64_t const fortran_strides[2] = {1, ROWS};

/* Returns a matrix of floats in C order. */
static roc_tensor matrix(void* data, int32_t device_type) {
  roc_tensor result;
  memset(&result, 0, sizeof result);
  result.data = data;
  result.device.device_type = device_type;
  result.ndim = 2;
  result.dtype.code = ROCARRAY_TYPE_FLOAT;
  result.dtype.bits = 32;
  result.dtype.lanes = 1;
  result.shape = shape;
  return result;
}

static void test_round_trip(void) {
  void* memory = NULL;
  roc_tensor from, to, device;
  roc_copy_options options;
  int i;
  memset(&options, 0, sizeof options);
  OK(roc_allocate(ROCARRAY_DEFAULT_RESOURCE, sizeof source, ROCARRAY_DEFAULT_STREAM, &memory));
  from = matrix(source, ROCARRAY_DEVICE_CPU);
  to = matrix(destination, ROCARRAY_DEVICE_CPU);
  device = matrix(memory, roc_device_type());
  device.strides = fortran_strides;
  for (i = 0; i < COUNT; ++i) source[i] = (float)i;
  OK(roc_copy(&from, &device, NULL));
  options.threads = 2;
  OK(roc_copy(&device, &to, &options));
  TRUE(memcmp(source, destination, sizeof source) == 0);
  OK(roc_zero(&device));
  OK(roc_copy(&device, &to, NULL));
  TRUE(destination[COUNT - 1] == 0.0f);
  OK(roc_free(memory, ROCARRAY_DEFAULT_STREAM));
  FAILS(ROCARRAY_ERROR_LIFETIME, roc_free(memory, ROCARRAY_DEFAULT_STREAM));
}

static void test_stream(void) {
  void* memory = NULL;
  roc_resource hip = NULL, pool = NULL;
  roc_stream stream = NULL, other = NULL;
  roc_event event = NULL, begin = NULL, end = NULL;
  double milliseconds = -1.0;
  roc_host_range range;
  roc_tensor from, to, device;
  float const value = 7.0f;
  int32_t flag = -1;
  range.data = destination;
  range.bytes = sizeof destination;
  OK(roc_stream_create(ROCARRAY_STREAM_BLOCKING, 0, &stream));
  OK(roc_stream_create(ROCARRAY_STREAM_NON_BLOCKING, 0, &other));
  OK(roc_event_create(&event));
  OK(roc_resource_create_hip(-1, &hip));
  OK(roc_resource_create_pool(hip, SIZE_MAX, &pool));
  OK(roc_allocate(pool, sizeof source, stream, &memory));
  OK(roc_register_host(&range, 1, ROCARRAY_REGISTER_PORTABLE));
  from = matrix(source, ROCARRAY_DEVICE_CPU);
  to = matrix(destination, ROCARRAY_DEVICE_CPU);
  device = matrix(memory, roc_device_type());
  OK(roc_event_create_timed(&begin));
  OK(roc_event_create_timed(&end));
  OK(roc_event_record(begin, stream));
  OK(roc_copy_async(&from, &device, stream, NULL));
  OK(roc_fill_async(&device, &value, sizeof value, stream));
  OK(roc_event_record(event, stream));
  OK(roc_event_record(end, stream));
  OK(roc_stream_wait(other, event));
  OK(roc_copy_async(&device, &to, other, NULL));
  OK(roc_free(memory, other));
  OK(roc_stream_synchronize(other));
  TRUE(destination[0] == 7.0f && destination[COUNT - 1] == 7.0f);
  OK(roc_stream_query(other, &flag));
  TRUE(flag == 1);
  OK(roc_event_synchronize(end));
  OK(roc_event_elapsed_time(begin, end, &milliseconds));
  TRUE(milliseconds >= 0.0);
  FAILS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_event_elapsed_time(begin, event, &milliseconds));
  OK(roc_event_destroy(begin));
  OK(roc_event_destroy(end));
  OK(roc_deregister(&range, 1));
  FAILS(ROCARRAY_ERROR_REGISTRATION, roc_deregister(&range, 1));
  OK(roc_resource_destroy(pool));
  OK(roc_resource_destroy(hip));
  OK(roc_event_destroy(event));
  FAILS(ROCARRAY_ERROR_LIFETIME, roc_event_query(event, &flag));
  OK(roc_stream_destroy(other));
  OK(roc_stream_destroy(stream));
  FAILS(ROCARRAY_ERROR_LIFETIME, roc_copy_async(&from, &to, stream, NULL));
}

static void test_batch(void) {
  void* pinned = NULL;
  roc_batch batch = NULL;
  roc_tensor from, to;
  int row;
  OK(roc_allocate_host(ROCARRAY_MEMORY_PINNED, ROCARRAY_MEMORY_PORTABLE, sizeof source, &pinned));
  OK(roc_batch_create(&batch));
  for (row = 0; row < ROWS; ++row) {
    from = matrix(source, ROCARRAY_DEVICE_CPU);
    from.ndim = 1;
    from.shape = shape + 1;
    from.byte_offset = (uint64_t)row * COLUMNS * sizeof(float);
    to = from;
    to.data = pinned;
    OK(roc_batch_add(batch, &from, &to));
  }
  OK(roc_batch_submit(batch, NULL));
  TRUE(memcmp(source, pinned, sizeof source) == 0);
  OK(roc_batch_destroy(batch));
  OK(roc_free_host(pinned));
}

static void test_errors(void) {
  roc_tensor from = matrix(source, ROCARRAY_DEVICE_CPU);
  roc_tensor to = matrix(destination, ROCARRAY_DEVICE_CPU);
  float const before = destination[5];
  to.ndim = 1;
  to.shape = shape + 1;
  FAILS(ROCARRAY_ERROR_SHAPE, roc_copy(&from, &to, NULL));
  TRUE(strstr(roc_last_error_message(), "roc_copy: incompatible shape") != NULL);
  TRUE(strstr(roc_last_error_message(), "(30, 50)") != NULL);
  TRUE(roc_last_error() == ROCARRAY_ERROR_SHAPE && roc_last_hip_error() == 0);
  FAILS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(NULL, &to, NULL));
  FAILS(ROCARRAY_ERROR_OVERLAP, roc_copy(&from, &from, NULL));
  to = from;
  to.dtype.bits = 16;
  FAILS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_copy(&from, &to, NULL));
  FAILS(ROCARRAY_ERROR_NO_DEVICE, roc_set_device(1000));
  TRUE(destination[5] == before);
}

static void test_options(void) {
  char text[64];
  size_t length = 0;
  int32_t numbers[3] = {-1, -1, -1};
  OK(roc_get_option("copy_threads", text, sizeof text, &length));
  TRUE(length == strlen(text) && length != 0);
  OK(roc_set_option("copy_threads", "3"));
  OK(roc_get_option("copy_threads", text, sizeof text, NULL));
  TRUE(strcmp(text, "3") == 0);
  FAILS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_set_option("copy_threads", "many"));
  FAILS(ROCARRAY_ERROR_INVALID_ARGUMENT, roc_set_option("threads", "1"));
  roc_get_version(numbers, numbers + 1, numbers + 2);
  TRUE(numbers[0] == ROCARRAY_VERSION_MAJOR && numbers[1] == ROCARRAY_VERSION_MINOR &&
       numbers[2] == ROCARRAY_VERSION_PATCH);
}

int main(void) {
  int32_t count = 0;
  int32_t device = -1;
  OK(roc_device_count(&count));
  if (count == 0) {
    puts("there is no device");
    return 77;
  }
  OK(roc_get_device(&device));
  OK(roc_set_device(device));
  test_round_trip();
  test_stream();
  test_batch();
  test_errors();
  test_options();
  OK(roc_synchronize_device(device));
  if (failures == 0) puts("all calls returned what they should");
  return failures == 0 ? 0 : 1;
}
