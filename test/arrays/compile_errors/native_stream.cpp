// SPDX-License-Identifier: MIT
// expected: argument_is_not_a_roc_stream_so_wrap_a_native_one_with_from_native
#include <roc/roc.hpp>

#include <vector>

void test(roc::device_array<float>& array, std::vector<float>& host, struct CUstream_st* stream) {
  array.copy_to_host(host, stream);
}
