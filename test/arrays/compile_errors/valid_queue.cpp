// SPDX-License-Identifier: MIT
#include <roc/device_queue.hpp>
#include <roc/launch.hpp>
#include <roc/roc.hpp>

#include <vector>

struct record {
  char bytes[3];
};

__global__ void kernel(roc::device_queue_view<record> queue, record* out) {
  if (queue.warp_push(*out, threadIdx.x == 0) || queue.push(*out)) return;
  auto slots = queue.block_reserve_push(queue.capacity(), 1);
  if (!slots) return;
  slots[0] = *out;
  slots.commit();
  auto elements = queue.reserve_pop(2);
  *out = elements[-1];
  elements.commit();
}

void test(roc::stream const& stream, std::vector<record> const& values, record* out) {
  roc::device_queue<record> queue(10L, stream);
  queue.assign(values, stream);
  queue.assign(std::vector<record>(3));
  roc::launch(kernel, {1}, {1}, 0, stream, queue.view(), out);
  std::vector<record> result(queue.size(stream));
  queue.drain(result);
  queue = roc::device_queue<record>(5u, roc::device_resource(0));
}
