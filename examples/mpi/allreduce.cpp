// SPDX-License-Identifier: MIT
// Data-parallel training: each device has a part of the samples and calculates its share in the
// gradient; the sum over all devices updates the parameters. The devices belong to one process, or
// to the ranks of MPI. The result is compared with that of one device with all samples.
#include <roc/interop/mpi.hpp>
#include <roc/roc.hpp>

#ifdef EXAMPLE_HAS_COLLECTIVES  // RCCL or NCCL was found, or this is the host platform
#include <roc/interop/collectives.hpp>
#endif

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "choose_device.hpp"
#include "network.hpp"

namespace {

constexpr std::size_t samples = 3'000;
constexpr int steps = 50;
constexpr double rate = 0.3;

constexpr char usage[] =
    "usage: allreduce [--mpi | --devices N]\n"
    "  --mpi        sum by MPI instead of RCCL or NCCL\n"
    "  --devices N  use N devices in one process, 0: all, without MPI\n";

/// The loss before the first and before the last step.
struct losses {
  double first;
  double last;
};

/// Trains the parts of this process.
/// @param sum_gradients enqueues the sum of the gradients of all parts, also of other processes
/// @param wait blocks until the work of all parts of this process is done
template <class F, class G>
losses train(std::vector<network>& parts, bool is_printed, F sum_gradients, G wait) {
  losses result{};
  for (int step = 0; step != steps; ++step) {
    for (network& part : parts) part.enqueue_gradient();
    sum_gradients();
    for (network& part : parts) part.enqueue_update(rate);
    if (step % 10 != 0 && step + 1 != steps) continue;
    wait();
    result.last = parts.front().loss();
    if (step == 0) result.first = result.last;
    if (is_printed) std::printf("step %2d: loss %.6f\n", step, result.last);
  }
  return result;
}

#ifdef EXAMPLE_HAS_COLLECTIVES
/// Sums by RCCL or NCCL.
/// @param ranks those of the parts of this process
losses train(std::vector<network>& parts, std::vector<roc::collective_communicator> const& ranks) {
  auto const sum_gradients = [&] {
    roc::collective_group group;  // one thread calls the operations of several ranks
    for (std::size_t i = 0; i != parts.size(); ++i) {
      ranks[i].all_reduce(parts[i].gradient(), roc::reduction::sum, parts[i].stream());
    }
    group.end();
  };
  auto const wait = [&] {  // also ends if another rank has failed
    for (std::size_t i = 0; i != parts.size(); ++i) ranks[i].synchronize(parts[i].stream());
  };
  return train(parts, ranks.front().rank() == 0, sum_gradients, wait);
}
#endif

/// Sums by MPI, which works also if several ranks use one device.
losses train(std::vector<network>& parts, roc::mpi_communicator const& comm) {
  network const& part = parts.front();
  return train(
      parts, comm.rank() == 0, [&] { comm.all_reduce(part.gradient(), MPI_SUM, part.stream()); },
      [&] { part.stream().synchronize(); });
}

/// Returns the parameters of one device that has all samples.
std::vector<double> train_alone() {
  std::vector<network> whole;
  whole.emplace_back(samples, 0, 1);
  train(
      whole, false, [] {}, [&] { whole.front().stream().synchronize(); });
  return whole.front().parameters();
}

/// Increases `largest` to the largest difference of two elements; to NaN if there is one.
void add_difference(double& largest, std::vector<double> const& a, std::vector<double> const& b) {
  for (std::size_t i = 0; i != a.size(); ++i) {
    double const difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest || std::isnan(largest))) largest = difference;
  }
}

/// Throws std::runtime_error if the training did not succeed, or if the parameters differ between
/// devices or from those of one device with all samples. Collective, if there are several ranks.
/// @param comm null without MPI
void check(std::vector<network> const& parts, losses const& loss,
           roc::mpi_communicator const* comm) {
  bool const is_first = comm == nullptr || comm->rank() == 0;
  std::vector<double> first = parts.front().parameters();
  std::vector<double> alone = is_first ? train_alone() : first;
  roc::stream const& stream = parts.front().stream();
  if (comm != nullptr) {
    comm->broadcast(first, 0, stream);
    comm->broadcast(alone, 0, stream);
    stream.synchronize();
  }
  double from_first = 0;
  double from_alone = 0;
  for (network const& part : parts) {
    add_difference(from_first, part.parameters(), first);
    add_difference(from_alone, part.parameters(), alone);
  }
  double const tolerance = 1e-12;  // sums in another order round otherwise
  bool const is_correct =
      from_first <= tolerance && from_alone <= tolerance && loss.last < loss.first / 5;
  std::vector<int> wrong{is_correct ? 0 : 1};
  if (comm != nullptr) comm->all_reduce(wrong, MPI_SUM, stream);
  stream.synchronize();
  char text[250];
  std::snprintf(
      text, sizeof text,
      "the loss decreased from %g to %g; the parameters differ by %g between devices, and "
      "by %g from those of one device with all samples",
      loss.first, loss.last, from_first, from_alone);
  if (wrong[0] != 0) throw std::runtime_error(std::string("wrong: ") + text);
  if (is_first) std::printf("allreduce: correct: %s\n", text);
}

#ifdef EXAMPLE_HAS_COLLECTIVES
/// Trains with the first `count` devices in this process, or with all if it is 0, without MPI.
void run_in_one_process(int count) {
  int const found = roc::device::count();
  if (count < 0 || count > found) {
    throw std::runtime_error("the number of devices is invalid: " + std::to_string(count) +
                             "; use up to " + std::to_string(found) + ", 0: all");
  }
  if (count == 0) count = found;
  std::vector<roc::device> devices;
  std::vector<network> parts;
  for (int i = 0; i != count; ++i) {
    devices.emplace_back(i);
    roc::device_guard const guard(devices.back());
    parts.emplace_back(samples, static_cast<std::size_t>(i), static_cast<std::size_t>(count));
  }
  auto const ranks = roc::collective_communicator::for_devices(devices);
  check(parts, train(parts, ranks), nullptr);
}
#else
void run_in_one_process(int) {
  throw std::runtime_error(
      "RCCL or NCCL was not found when this program was built; start it with mpiexec, without "
      "--devices");
}
#endif

/// Trains with one device in each rank.
void run_in_ranks([[maybe_unused]] bool with_mpi_only) {
  choose_device(MPI_COMM_WORLD);
  roc::mpi_communicator const comm(MPI_COMM_WORLD);
  std::vector<network> parts;
  parts.emplace_back(samples, static_cast<std::size_t>(comm.rank()),
                     static_cast<std::size_t>(comm.size()));
#ifdef EXAMPLE_HAS_COLLECTIVES
  if (!with_mpi_only) {
    std::vector<roc::collective_communicator> ranks;
    ranks.emplace_back(comm, roc::device(),
                       roc::collective_options{.time_limit = std::chrono::seconds(60)});
    return check(parts, train(parts, ranks), &comm);
  }
#endif
  check(parts, train(parts, comm), &comm);
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view const option = argc > 1 ? argv[1] : "";
  bool const is_one_process = option == "--devices" && argc == 3;
  bool const with_mpi_only = option == "--mpi" && argc == 2;
  if (argc != 1 && !is_one_process && !with_mpi_only) {
    std::fputs(usage, stderr);
    return 2;
  }
  if (!is_one_process) MPI_Init(&argc, &argv);
  if (roc::device::count() == 0) {
    std::puts("no device");
    if (!is_one_process) MPI_Finalize();
    return 77;
  }
  try {
    if (is_one_process) {
      run_in_one_process(std::atoi(argv[2]));
    } else {
      run_in_ranks(with_mpi_only);
    }
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "allreduce: %s\n", problem.what());
    if (is_one_process) return 1;
    MPI_Abort(MPI_COMM_WORLD, 1);  // other ranks may wait for this one
  }
  if (!is_one_process) MPI_Finalize();
  return 0;
}
