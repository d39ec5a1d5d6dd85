// SPDX-License-Identifier: MIT
// The heat equation on a grid of three axes, distributed over ranks and devices. The halo is
// exchanged while the interior is calculated. Every run is checked; --scaling measures runs with
// 1, 2, 4, … of the ranks.
#include <roc/interop/mpi.hpp>
#include <roc/roc.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "choose_device.hpp"
#include "heat_block.hpp"
#include "heat_functors.hpp"

namespace {

struct arguments {
  roc::shape<3> size{64, 64, 64};  // of the grid; for weak scaling, of each rank's block
  int steps = 20;
  bool strong = false;
  bool weak = false;
  bool overlap = true;
};

constexpr char usage[] =
    "usage: heat_mpi [--size N | --size NxNxN] [--steps N] [--scaling strong|weak|both]\n"
    "                [--no-overlap]\n"
    "  --size        cells of the grid, and of each rank's block for weak scaling (64)\n"
    "  --steps       steps of each run (20)\n"
    "  --scaling     run with 1, 2, 4, ... of the ranks and print a table\n"
    "  --no-overlap  calculate the interior after the exchange, for comparison\n";

/// Removes the number at the beginning of `text`, and returns it; 0 if there is none.
std::size_t take_number(std::string_view& text) {
  std::size_t value = 0;
  for (int digits = 0; digits != 9 && !text.empty() && text[0] >= '0' && text[0] <= '9'; ++digits) {
    value = 10 * value + static_cast<std::size_t>(text[0] - '0');
    text.remove_prefix(1);
  }
  return value;
}

/// Sets an option. Returns false if it or its value is invalid.
bool set_option(arguments& result, std::string_view name, std::string_view value) {
  if (name == "--size") {
    result.size.fill(take_number(value));
    for (std::size_t axis = 1; axis != 3 && !value.empty(); ++axis) {
      if (value[0] != 'x') return false;
      value.remove_prefix(1);
      result.size[axis] = take_number(value);
      if (axis == 1 && value.empty()) return false;
    }
    return value.empty() && result.size[0] * result.size[1] * result.size[2] != 0;
  }
  if (name == "--steps") {
    result.steps = static_cast<int>(take_number(value));
    return value.empty() && result.steps != 0;
  }
  if (name != "--scaling") return false;
  result.strong = value == "strong" || value == "both";
  result.weak = value == "weak" || value == "both";
  return result.strong || result.weak;
}

/// Throws std::invalid_argument for options that are invalid.
arguments parse(int argc, char** argv) {
  arguments result;
  for (int i = 1; i < argc; ++i) {
    std::string const name = argv[i];
    if (name == "--no-overlap") {
      result.overlap = false;
      continue;
    }
    std::string const value = i + 1 < argc ? argv[++i] : "";
    if (!set_option(result, name, value)) {
      throw std::invalid_argument("invalid argument: " + name + " " + value);
    }
  }
  return result;
}

/// Returns the exact solution of the discrete equation for the cells of a block.
std::vector<double> exact_heat(roc::shape<3> const& grid, cell_box const& block, int steps) {
  roc::shape<3> extents{};
  for (std::size_t axis = 0; axis != 3; ++axis) extents[axis] = block.end[axis] - block.begin[axis];
  std::vector<double> cells(extents[0] * extents[1] * extents[2]);
  for (heat_wave const& wave : {heat_wave_1, heat_wave_2}) {
    std::array<std::vector<double>, 3> factors;
    double decay = 1;  // of the amplitude, in one step
    for (std::size_t axis = 0; axis != 3; ++axis) {
      for (std::size_t i = block.begin[axis]; i != block.end[axis]; ++i) {
        factors[axis].push_back(wave.factor(axis, i, grid[axis]));
      }
      double const angle = 3.14159265358979323846 * static_cast<double>(wave.waves[axis]) /
                           static_cast<double>(grid[axis] + 1);
      decay -= 2 * heat_rate * (1 - std::cos(angle));
    }
    double const amplitude = wave.amplitude * std::pow(decay, steps);
    auto cell = cells.begin();
    for (double const x : factors[0]) {
      for (double const y : factors[1]) {
        for (double const z : factors[2]) *cell++ += amplitude * x * y * z;
      }
    }
  }
  return cells;
}

/// Returns the result of the CPU for the whole grid, by loops without rocarray.
std::vector<double> serial_heat(roc::shape<3> const& grid, int steps) {
  std::vector<double> now = exact_heat(grid, {{0, 0, 0}, grid}, 0);
  std::vector<double> next(now.size());
  auto const at = [&](std::size_t i, std::size_t j, std::size_t k) {
    // Outside of the grid, where an index of -1 is the largest number, the temperature is zero.
    if (i >= grid[0] || j >= grid[1] || k >= grid[2]) return 0.0;
    return now[(i * grid[1] + j) * grid[2] + k];
  };
  for (int step = 0; step != steps; ++step) {
    auto cell = next.begin();
    for (std::size_t i = 0; i != grid[0]; ++i) {
      for (std::size_t j = 0; j != grid[1]; ++j) {
        for (std::size_t k = 0; k != grid[2]; ++k) {
          double const neighbors = at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k) +
                                   at(i, j + 1, k) + at(i, j, k - 1) + at(i, j, k + 1);
          *cell++ = at(i, j, k) + heat_rate * (neighbors - 6 * at(i, j, k));
        }
      }
    }
    std::swap(now, next);
  }
  return now;
}

/// Returns the largest difference of two elements; NaN if there is one.
double largest_difference(std::vector<double> const& a, std::vector<double> const& b) {
  double largest = 0;
  for (std::size_t i = 0; i != a.size(); ++i) {
    double const difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest || std::isnan(largest))) largest = difference;
  }
  return largest;
}

/// Collects the blocks in rank 0. Returns the grid there, and no cells in other ranks.
std::vector<double> collect(heat_block const& block, roc::stream const& stream) {
  roc::mpi_communicator const& comm = block.communicator();
  if (comm.rank() != 0) {
    comm.send(block.cells(), 0, 0, stream);
    return {};
  }
  roc::shape<3> const& shape = block.grid().cells();
  std::vector<double> cells(shape[0] * shape[1] * shape[2]);
  roc::host_view<double, 3> const grid(cells.data(), shape);
  roc::copy(block.cells(), slice_of(grid, block.grid().block_of(0)), stream);
  for (int rank = 1; rank != comm.size(); ++rank) {
    comm.receive(slice_of(grid, block.grid().block_of(rank)), rank, 0, stream);  // strided
  }
  stream.synchronize();
  return cells;
}

/// Throws std::runtime_error in all ranks unless the cells are right: compared with the exact
/// solution, and with the serial result if that takes at most some seconds. The block has been
/// synchronized. Collective.
void check(heat_block const& block) {
  roc::mpi_communicator const& comm = block.communicator();
  roc::shape<3> const& grid = block.grid().cells();
  cell_box const mine = block.grid().block_of(comm.rank());

  // Without a stream, operations of MPI wait for all devices, also for those of other ranks.
  roc::stream const stream;
  std::vector<double> cells(block.cells().size());
  roc::copy(block.cells(), roc::host_view<double, 3>(cells.data(), block.cells().shape()), stream);
  stream.synchronize();
  std::vector<double> errors(2);
  errors[0] = largest_difference(cells, exact_heat(grid, mine, block.steps()));

  double const work = static_cast<double>(grid[0] * grid[1] * grid[2]) * block.steps();
  if (work <= 1e8) {
    std::vector<double> const all = collect(block, stream);
    if (comm.rank() == 0) errors[1] = largest_difference(all, serial_heat(grid, block.steps()));
  }
  // Each step rounds each cell, and does not increase earlier errors.
  double const tolerance = 1e-15 * (block.steps() + 10);
  std::vector<int> wrong{errors[0] <= tolerance && errors[1] <= tolerance ? 0 : 1};
  comm.all_reduce(wrong, MPI_SUM, stream);
  stream.synchronize();
  if (wrong[0] == 0) return;
  char text[200];
  std::snprintf(text, sizeof text,
                "wrong in %d of %d ranks after %d steps: this rank differs by %g from the exact "
                "solution, and by %g from the serial result; at most %g is rounding",
                wrong[0], comm.size(), block.steps(), errors[0], errors[1], tolerance);
  throw std::runtime_error(text);
}

/// Runs and checks the steps. Returns the seconds of one step. Collective.
double run(MPI_Comm communicator, roc::shape<3> const& size, arguments const& options) {
  int ranks = 0;
  MPI_Comm_size(communicator, &ranks);
  heat_block block(communicator, heat_grid(size, ranks));
  for (int i = 0; i != 2; ++i) block.step(options.overlap);  // allocates staging memory
  block.synchronize();
  MPI_Barrier(communicator);
  auto const begin = std::chrono::steady_clock::now();
  for (int i = 0; i != options.steps; ++i) block.step(options.overlap);
  block.synchronize();
  std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - begin;
  double seconds = taken.count();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, communicator);
  check(block);
  return seconds / options.steps;
}

/// Waits for all ranks without occupying a core, on which another rank may calculate.
void wait_for_all_ranks() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  int is_done = 0;
  while (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), is_done == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Runs with 1, 2, 4, … and all ranks; rank 0 prints a table.
void measure_scaling(bool weak, arguments const& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) {
    std::printf("%s scaling\n%6s  %-9s  %-15s  %11s  %9s  %10s\n", weak ? "weak" : "strong",
                "ranks", "blocks", "cells", "ms per step", "Mcells/s", "efficiency");
  }
  double of_one_rank = 0;  // seconds
  for (int ranks = 1; ranks <= size; ranks = ranks < size ? std::min(2 * ranks, size) : size + 1) {
    std::array<int, 3> const blocks = heat_grid::divide(options.size, ranks);
    roc::shape<3> cells = options.size;
    for (std::size_t axis = 0; axis != 3 && weak; ++axis) {
      cells[axis] *= static_cast<std::size_t>(blocks[axis]);
    }
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &part);
    if (part != MPI_COMM_NULL) {
      double const seconds = run(part, cells, options);
      if (ranks == 1) of_one_rank = seconds;
      double const ideal = weak ? of_one_rank : of_one_rank / ranks;
      auto const text_of = [](auto const& numbers) {
        return std::to_string(numbers[0]) + "x" + std::to_string(numbers[1]) + "x" +
               std::to_string(numbers[2]);
      };
      if (rank == 0) {
        std::printf("%6d  %-9s  %-15s  %11.3f  %9.1f  %8.0f %%\n", ranks, text_of(blocks).c_str(),
                    text_of(cells).c_str(), 1e3 * seconds,
                    1e-6 * static_cast<double>(cells[0] * cells[1] * cells[2]) / seconds,
                    100 * ideal / seconds);
        std::fflush(stdout);
      }
      MPI_Comm_free(&part);
    }
    wait_for_all_ranks();
  }
}

void run_all(arguments const& options) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  choose_device(MPI_COMM_WORLD);
  if (options.strong) measure_scaling(false, options);
  if (options.weak) measure_scaling(true, options);
  if (options.strong || options.weak) return;
  double const seconds = run(MPI_COMM_WORLD, options.size, options);
  if (rank == 0) std::printf("heat: correct, %d ranks, %.3f ms per step\n", size, 1e3 * seconds);
}

}  // namespace

int main(int argc, char** argv) {
  arguments options;
  try {
    options = parse(argc, argv);
  } catch (std::invalid_argument const& problem) {
    std::fprintf(stderr, "heat_mpi: %s\n%s", problem.what(), usage);
    return 2;
  }
  MPI_Init(&argc, &argv);
  if (roc::device::count() == 0) {
    std::puts("no device");
    MPI_Finalize();
    return 77;
  }
  try {
    run_all(options);
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "heat_mpi: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return 0;
}
