// SPDX-License-Identifier: MIT
// Two processes with one array: the first fills it, the second changes every other row in place
// (numba.cuda: `get_ipc_handle`, `IpcArrayHandle.open`).
#include <roc/roc.hpp>

#include <cstddef>
#include <cstdio>
#include <vector>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

template <class T>
bool send(int socket, T const& value) {
  return write(socket, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

template <class T>
bool receive(int socket, T& value) {
  return recv(socket, &value, sizeof value, MSG_WAITALL) == static_cast<ssize_t>(sizeof value);
}

constexpr std::size_t rows = 64;
constexpr std::size_t columns = 100;

int run_second(int socket) {
  roc::ipc_array_handle array_handle;
  roc::ipc_event_handle event_handle;
  if (!receive(socket, array_handle) || !receive(socket, event_handle)) return 1;
  roc::stream const stream;
  auto const even_rows = roc::open_ipc_array<float, 2>(array_handle, stream);
  roc::ipc_event done(event_handle);
  even_rows.fill(2.0f, stream);  // after the first process has filled the array
  done.record(stream);
  bool finished = false;
  // The event has been recorded, and the first process tells when it needs this one no more.
  return send(socket, true) && receive(socket, finished) ? 0 : 1;
}

int run_first(int socket) {
  roc::device_array<float, 2> array({rows, columns});
  roc::ipc_event const done;
  roc::stream const stream;
  array.fill(1.0f, stream);
  auto const even_rows = array(roc::slice(0, rows, 2), roc::all);
  bool recorded = false;
  if (!send(socket, roc::get_ipc_handle(even_rows, stream)) || !send(socket, done.ipc_handle()) ||
      !receive(socket, recorded)) {
    return 1;
  }
  std::vector<float> result(rows * columns);
  stream.wait(done);
  array.ravel().copy_to_host(result, stream);
  stream.synchronize();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    wrong += result[i] != (i / columns % 2 == 0 ? 2.0f : 1.0f);
  }
  std::printf("two processes: %zu of %zu elements are wrong\n", wrong, result.size());
  return send(socket, true) && wrong == 0 ? 0 : 1;
}

}  // namespace

int main() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return 1;
  // Before the first call of the library: a process cannot use a device that its parent used.
  pid_t const second = fork();
  int const own = sockets[second == 0 ? 1 : 0];
  close(sockets[second == 0 ? 0 : 1]);
  if (second == 0) return roc::device::count() == 0 ? 0 : run_second(own);
  if (roc::device::count() == 0) {
    std::puts("no device");
    return 77;
  }
  int const result = run_first(own);
  close(own);
  int status = 1;
  waitpid(second, &status, 0);
  return result == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
