// SPDX-License-Identifier: MIT
// Halo exchange: copies the six faces of a 3-d block to contiguous host buffers, as if to send them
// to other processes, and copies the received faces into the halo. Each direction is one batch of
// copies.
#include <roc/roc.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t n = 24;  // cells along each axis, including a halo of one cell on each side

// Returns the layer at `index` of an axis, without its edges. The layers 1 and n - 2 are faces; 0
// and n - 1 are halo.
auto layer(roc::device_array<double, 3> const& block, std::size_t axis, std::size_t index) {
  auto const first = static_cast<std::ptrdiff_t>(index);
  auto const inner = roc::slice(1, static_cast<std::ptrdiff_t>(n) - 1);
  std::array<roc::slice, 3> slices{inner, inner, inner};
  slices[axis] = roc::slice(first, first + 1);
  return block(slices[0], slices[1], slices[2]);
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<double> cells(n * n * n);
  for (std::size_t i = 0; i != cells.size(); ++i) cells[i] = static_cast<double>(i);
  roc::host_view const whole(cells.data(), roc::shape<3>{n, n, n});
  auto const block = roc::to_device(whole);
  std::array<std::vector<double>, 6> faces;
  faces.fill(std::vector<double>((n - 2) * (n - 2)));

  roc::stream const stream;
  auto const guard = stream.auto_synchronize();
  roc::copy_batch send, receive;
  for (std::size_t face = 0; face != 6; ++face) {
    bool const upper = face % 2 == 1;
    send.add(layer(block, face / 2, upper ? n - 2 : 1), faces[face]);
    // Periodic boundary with one block: each face is received in the halo of the opposite side.
    receive.add(faces[face], layer(block, face / 2, upper ? 0 : n - 1));
  }
  send.submit(stream);
  stream.synchronize();    // a real program would exchange the faces here
  receive.submit(stream);  // both batches can be submitted again in every step

  std::vector<double> exchanged(n * n * n);
  block.copy_to_host(exchanged, stream);
  stream.synchronize();
  roc::host_view const result(exchanged.data(), roc::shape<3>{n, n, n});
  bool const correct = result(0, 5, 6) == whole(n - 2, 5, 6) &&
                       result(5, n - 1, 6) == whole(5, 1, 6) &&
                       result(5, 6, 0) == whole(5, 6, n - 2) && result(0, 0, 0) == whole(0, 0, 0);
  std::printf("halo exchanged: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
