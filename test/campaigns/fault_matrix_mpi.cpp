// SPDX-License-Identifier: MIT
// The fault matrix of <roc/interop/mpi.hpp>, with one rank: a program of its own, because it
// initializes MPI before it forks the processes of the cases. Communication of a rank with itself
// works in such processes with Open MPI and MPICH; the standard of MPI does not promise that.
#include <chrono>
#include <cstdio>
#include <optional>
#include <system_error>

#include <roc/interop/mpi.hpp>

#include "campaigns/fault_matrix.hpp"
#include "campaigns/fault_matrix_collectives.hpp"

namespace roc::test::faults {
namespace {

// A rank that fails in a transfer leaves the other side waiting, which here is the same rank.
constexpr auto limit = std::chrono::milliseconds(500);

// Arrays take several messages of MPI.
mpi_options several_chunks() { return {.chunk = 4096, .inline_limit = 1024, .time_limit = limit}; }

void messages(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side});
  matrix const b({side, side}, order::f);
  stream s;
  bool right = false;
  if (!c.run([&] {
        mpi_communicator const world(MPI_COMM_SELF, several_chunks());
        right = world.rank() == 0 && world.size() == 1 && !world.takes_device_pointers();
        {
          mpi_request sending = world.isend(from, 0, 3);
          mpi_status const status = world.receive(a.view().ravel(), 0, 3, s);
          sending.wait();
          right = right && status.source == 0 && status.count == count;
        }
        {
          mpi_request receiving = world.ireceive(b, 0, MPI_ANY_TAG, s);
          mpi_request sending = world.isend(a, 0, 4, s);
          receiving.wait();
          while (!sending.test()) {
          }
        }
        world.sendrecv(b(roc::all, slice(0, 50)), 0, matrix_of(to)(roc::all, slice(0, 50)), 0, 5,
                       s);
        world.sendrecv(b(roc::all, slice(50, none)), 0, matrix_of(to)(roc::all, slice(50, none)),
                       0);
        s.synchronize();
      }))
    return;
  c.expect(right && is_made(to, 1), "messages");
}

void small_messages(context& c) {
  words& from = c.source(100);
  words& to = c.target(100);
  array const a({100});
  stream s;
  if (!c.run([&] {
        mpi_communicator world(MPI_COMM_SELF, {.time_limit = limit});
        mpi_request sending = world.isend(from, 0);
        world.receive(a, 0, MPI_ANY_TAG, s);
        sending.wait();
        sending = world.isend(a, 0, 1, s);
        world.receive(to, 0, 1);
        sending.wait();
        mpi_communicator moved = std::move(world);
        moved.free();
      }))
    return;
  c.expect(is_made(to, 1), "small messages");
}

// Without a time limit: collective operations of one rank wait for nobody.
void collective_operations(context& c) {
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side});
  matrix const b({side, side}, order::f);
  device_array<word, 3> const c1({1, side, side});
  stream s;
  if (!c.run([&] {
        mpi_communicator const world(MPI_COMM_SELF, {.chunk = 4096});
        a.copy_to_device(matrix_of(from), s);
        world.broadcast(a, 0, s);
        world.gather(a, c1, 0, s);
        world.scatter(c1, b, 0);
        world.all_reduce(b, MPI_SUM, s);
        world.all_reduce(b, a, MPI_MAX);
        world.all_to_all(a, b, s);
        world.gather(b, matrix_of(to), 0);
        s.synchronize();
      }))
    return;
  c.expect(is_made(to, 1), "collective operations of MPI");
}

void time_limits(context& c) {
  array const a({count});
  stream s;
  bool right = false;
  if (!c.run([&] {
        right = false;
        mpi_communicator const world(
            MPI_COMM_SELF,
            {.chunk = 4096, .inline_limit = 1024, .time_limit = std::chrono::milliseconds(2)});
        try {
          world.receive(a, 0, 1, s);
        } catch (mpi_timeout_error const&) {
          right = true;
        }
        try {
          world.send(a, 0, 2, s);
          right = false;
        } catch (mpi_timeout_error const&) {
        }
        a.fill(4, s);
        s.synchronize();
        right = right && a(9).get() == 4;
      }))
    return;
  c.expect(right, "time limits");
}

#if ROCARRAY_TEST_COLLECTIVES
void compared_collectives(context& c) {
  stream s;
  bool right = false;
  if (!c.run([&] {
        mpi_communicator const world(MPI_COMM_SELF);
        array const numbers({500});
        numbers.fill(3, s);
        collective_communicator const rank(
            world, device(0), {.time_limit = std::chrono::seconds(30), .check_agreement = true});
        rank.all_reduce(numbers, reduction::sum, s);
        rank.broadcast(numbers, 0);
        rank.synchronize(s);
        right = numbers(499).get() == 3;
      }))
    return;
  c.expect(right, "collectives of which MPI compares the arguments");
}
#endif

}  // namespace

std::vector<scenario> const& scenarios() {
  static std::vector<scenario> const all{
      {"MPI messages", messages, 300},
      {"MPI small messages", small_messages, 150},
      {"MPI collective operations", collective_operations},
      {"MPI time limits", time_limits, 150},
#if ROCARRAY_TEST_COLLECTIVES
      {"compared collectives", compared_collectives},
#endif
  };
  return all;
}

// The driver calls this; the program has no such scenarios.
int run_exporter(int) { return 2; }

}  // namespace roc::test::faults

int main(int size, char** arguments) {
  int level = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
    std::fputs("MPI cannot be initialized\n", stderr);
    return 1;
  }
  int const result = roc::test::faults::run_fault_matrix(size, arguments);
  MPI_Finalize();
  return result;
}
