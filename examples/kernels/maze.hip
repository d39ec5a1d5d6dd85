// SPDX-License-Identifier: MIT
// Distances in a maze, by a breadth-first search with two queues in device memory.
#include "maze_kernel.hpp"

#include <cstdio>
#include <queue>
#include <vector>

#include <roc/launch.hpp>

namespace {

constexpr int rows = 60;
constexpr int columns = 90;
constexpr unsigned start = columns + 1;

// Returns the distances that a search on the CPU finds.
std::vector<unsigned> search(std::vector<unsigned char> const& is_wall) {
  std::vector<unsigned> distances(is_wall.size(), unreached);
  std::queue<unsigned> cells;
  distances[start] = 0;
  cells.push(start);
  for (; !cells.empty(); cells.pop()) {
    unsigned const cell = cells.front();
    for (unsigned const neighbor : {cell + 1, cell - 1, cell + columns, cell - columns}) {
      if (is_wall[neighbor] != 0 || distances[neighbor] != unreached) continue;
      distances[neighbor] = distances[cell] + 1;
      cells.push(neighbor);
    }
  }
  return distances;
}

}  // namespace

int main() {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  std::vector<unsigned char> is_wall(rows * columns);
  unsigned random = 1;
  for (unsigned cell = 0; cell < is_wall.size(); ++cell) {
    random = random * 1664525 + 1013904223;
    unsigned const row = cell / columns;
    unsigned const column = cell % columns;
    bool const is_border =
        row == 0 || row == rows - 1 || column == 0 || column == columns - 1;
    is_wall[cell] = is_border || (cell != start && random >> 30 == 0) ? 1 : 0;
  }

  roc::stream const stream;
  auto const walls = roc::to_device(is_wall, stream);
  roc::device_array<unsigned, 2> const distances({rows, columns}, roc::order::c, stream);
  std::vector<unsigned> initial(rows * columns, unreached);
  initial[start] = 0;
  distances.view().ravel().copy_to_device(initial, stream);
  roc::device_queue<unsigned> current(rows * columns, stream);
  roc::device_queue<unsigned> next(rows * columns, stream);
  std::vector<unsigned> const first{start};
  current.assign(first, stream);
  for (unsigned distance = 1; current.size(stream) != 0; ++distance) {
    roc::launch(search_step, {4}, {64}, 0, stream, current.view(), next.view(),
                walls.view().reshape(rows, columns), distances.view(), distance);
    current.swap(next);
  }
  std::vector<unsigned> result(is_wall.size());
  distances.view().ravel().copy_to_host(result, stream);
  stream.synchronize();

  bool const correct = result == search(is_wall);
  std::printf("maze: %s\n", correct ? "correct" : "wrong");
  return correct ? 0 : 1;
}
