// SPDX-License-Identifier: MIT
// Data-parallel training: each rank has a part of the samples and calculates its share in the
// gradient; the sum over all ranks updates the parameters. The result is compared with that of one
// device with all samples.
#include <roc/interop/mpi.hpp>
#include <roc/roc.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "choose_device.hpp"
#include "network.hpp"

namespace {

constexpr std::size_t samples = 3'000;
constexpr int steps = 50;
constexpr double rate = 0.3;

/// The loss before the first and before the last step.
struct losses {
  double first;
  double last;
};

/// Trains the parts of this process. `sum_gradients` enqueues the sum of the gradients of all
/// parts.
template <class F>
losses train(std::vector<network>& parts, bool is_printed, F sum_gradients) {
  losses result{};
  for (int step = 0; step != steps; ++step) {
    for (network& part : parts) part.enqueue_gradient();
    sum_gradients();
    for (network& part : parts) part.enqueue_update(rate);
    if (step % 10 != 0 && step + 1 != steps) continue;
    result.last = parts.front().loss();
    if (step == 0) result.first = result.last;
    if (is_printed) std::printf("step %2d: loss %.6f\n", step, result.last);
  }
  return result;
}

/// Returns the parameters of one device that has all samples.
std::vector<double> train_alone() {
  std::vector<network> whole;
  whole.emplace_back(samples, 0, 1);
  train(whole, false, [] {});
  return whole.front().parameters();
}

double largest_difference(std::vector<double> const& a, std::vector<double> const& b) {
  double largest = 0;
  for (std::size_t i = 0; i != a.size(); ++i) {
    double const difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;  // also for NaN, which then stays
  }
  return largest;
}

/// Throws std::runtime_error if the training did not succeed, or if the parameters differ between
/// ranks or from those of one device with all samples. Collective.
void check(roc::mpi_communicator const& comm, losses const& loss, network const& part) {
  std::vector<double> const mine = part.parameters();
  std::vector<double> first = mine;
  comm.broadcast(first, 0);
  std::vector<double> alone = comm.rank() == 0 ? train_alone() : mine;
  comm.broadcast(alone, 0);
  std::vector<double> differences{largest_difference(mine, first), largest_difference(mine, alone)};
  comm.all_reduce(differences, MPI_MAX);

  double const tolerance = 1e-12;  // sums in another order round otherwise
  char text[200];
  if (!(differences[0] <= tolerance && differences[1] <= tolerance)) {
    std::snprintf(text, sizeof text,
                  "the parameters differ by %g between ranks, and by %g from those of one device; "
                  "at most %g is rounding",
                  differences[0], differences[1], tolerance);
    throw std::runtime_error(text);
  }
  if (!(loss.last < loss.first / 5)) {
    std::snprintf(text, sizeof text, "the loss was %g and is %g; less than a fifth is expected",
                  loss.first, loss.last);
    throw std::runtime_error(text);
  }
  if (comm.rank() == 0) {
    std::printf(
        "allreduce: correct, %d ranks; parameters differ by %g between ranks, and by %g "
        "from those of one device\n",
        comm.size(), differences[0], differences[1]);
  }
}

void run_all() {
  choose_device(MPI_COMM_WORLD);
  roc::mpi_communicator const comm(MPI_COMM_WORLD);
  std::vector<network> parts;
  parts.emplace_back(samples, static_cast<std::size_t>(comm.rank()),
                     static_cast<std::size_t>(comm.size()));
  network const& part = parts.front();
  losses const loss = train(parts, comm.rank() == 0,
                            [&] { comm.all_reduce(part.gradient(), MPI_SUM, part.stream()); });
  check(comm, loss, part);
}

}  // namespace

int main(int argc, char** argv) {
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  MPI_Init(&argc, &argv);
  try {
    run_all();
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "allreduce: %s\n", problem.what());
    MPI_Abort(MPI_COMM_WORLD, 1);  // other ranks may wait for this one
  }
  MPI_Finalize();
  return 0;
}
