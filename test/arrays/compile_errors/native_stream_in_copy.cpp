// SPDX-License-Identifier: MIT
// expected: argument_is_not_a_roc_stream_so_wrap_a_native_one_with_from_native
#include <roc/roc.hpp>

#include <vector>

void test(std::vector<float>& host, roc::device_array<float>& array, struct ihipStream_t* stream) {
  roc::copy(host, array, stream);
}
