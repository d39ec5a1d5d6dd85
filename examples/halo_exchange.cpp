// SPDX-License-Identifier: MIT
// Faces of a 3-d block to packed host buffers, as one sends them to neighbours, and what came from
// there into the halo: six copies each way, submitted as one.
#include <roc/roc.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t n = 24;  // cells an axis, the halo of one cell on each side included

// A layer across one axis: of the inner cells (1 or n - 2), or of the halo (0 or n - 1).
auto layer(roc::device_array<double, 3> const& block, std::size_t axis, std::size_t index) {
  auto const at = static_cast<std::ptrdiff_t>(index);
  auto const inner = roc::slice(1, static_cast<std::ptrdiff_t>(n) - 1);
  std::array<roc::slice, 3> cut{inner, inner, inner};
  cut[axis] = roc::slice(at, at + 1);
  return block(cut[0], cut[1], cut[2]);
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
  roc::copy_batch out, in;
  for (std::size_t face = 0; face != 6; ++face) {
    bool const upper = face % 2 == 1;
    out.add(layer(block, face / 2, upper ? n - 2 : 1), faces[face]);
    // The block is its own neighbour here: what leaves on one side comes back on the other.
    in.add(faces[face], layer(block, face / 2, upper ? 0 : n - 1));
  }
  out.submit(stream);
  stream.synchronize();  // here one would exchange the faces
  in.submit(stream);     // both batches may be submitted again after every step

  std::vector<double> after(n * n * n);
  block.copy_to_host(after, stream);
  stream.synchronize();
  roc::host_view const result(after.data(), roc::shape<3>{n, n, n});
  bool const right = result(0, 5, 6) == whole(n - 2, 5, 6) &&
                     result(5, n - 1, 6) == whole(5, 1, 6) &&
                     result(5, 6, 0) == whole(5, 6, n - 2) && result(0, 0, 0) == whole(0, 0, 0);
  std::printf("halo exchanged: %s\n", right ? "right" : "wrong");
  return right ? 0 : 1;
}
