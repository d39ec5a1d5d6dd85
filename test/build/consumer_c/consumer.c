/* SPDX-License-Identifier: MIT */
#include <roc/c.h>

#include <stdio.h>

int main(void) {
  float source[4] = {1, 2, 3, 4};
  float destination[4] = {0};
  int64_t const extent = 4;
  roc_tensor from = {source, {ROCARRAY_DEVICE_CPU, 0}, 1, {ROCARRAY_TYPE_FLOAT, 32, 1}, NULL, NULL,
                     0};
  roc_tensor to = from;
  from.shape = to.shape = &extent;
  to.data = destination;
  if (roc_copy(&from, &to, NULL) != ROCARRAY_SUCCESS) {
    puts(roc_last_error_message());
    return 1;
  }
  return destination[3] == 4.0f ? 0 : 1;
}
