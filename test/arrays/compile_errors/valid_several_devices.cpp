// SPDX-License-Identifier: MIT
// Compiles: calls for several devices that the other files do wrong, done right.
#include <roc/roc.hpp>

#include <array>
#include <vector>

void test(std::vector<float>& host, std::vector<roc::device_array<float>>& parts,
          roc::stream& first, roc::stream& second) {
  roc::device const here(0), there(1);
  roc::split_to_devices(host, parts);
  roc::split_to_devices(std::vector<float>(4), parts);  // complete on return
  roc::split_to_devices(host, parts, 0, {first, second});
  roc::split_to_devices(host, std::vector{parts[0].view(), parts[1].view()}, 0, {first, second});
  std::vector<roc::device_view<float const>> const views(parts.begin(), parts.end());
  roc::gather(views, host);
  roc::gather(parts, parts[0], 0, std::array<roc::stream_ref, 2>{first, second});
  auto const new_parts = roc::split_to_devices(host, {here, there}, 0, {first, second});
  auto const copies = roc::broadcast_to_devices(parts[0], {here, there});
  auto const more = roc::broadcast_to_devices(std::vector<float>(4), std::vector{here, there});
  roc::device_array<float> const gathered = roc::gather_to_device(new_parts, there);
  roc::host_array<float> const on_host = roc::gather_to_host(std::vector{copies[0].view()});
  roc::broadcast(host, std::array{parts[0].view(), more[0].view()});
}
