// SPDX-License-Identifier: MIT
// Scenarios of the fault matrix: mdspans, memory and events of several processes, and collective
// operations.
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <type_traits>
#include <vector>

#include <roc/interop/mdspan.hpp>
#include <roc/ipc.hpp>
#include <roc/native.hpp>

#include "campaigns/fault_matrix.hpp"
#include "campaigns/fault_matrix_collectives.hpp"

extern char** environ;

namespace roc::test::faults {
namespace {

// mdspan

// A class with the members of std::mdspan that the library uses, because not every standard library
// has it.
template <class T, std::size_t N>
class strided_span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using data_handle_type = T*;
  using reference = T&;
  using index_type = std::size_t;
  struct extents_type {
    template <class... I>
    explicit extents_type(I... extents) : values{extents...} {}
    static constexpr std::size_t static_extent(std::size_t) { return SIZE_MAX; }
    std::array<std::size_t, N> values;
  };
  struct mapping_type {
    mapping_type(extents_type const& extents, std::array<std::size_t, N> const& steps)
        : shape(extents.values), values(steps) {}
    std::array<std::size_t, N> strides() const { return values; }
    std::array<std::size_t, N> shape;
    std::array<std::size_t, N> values;
  };

  strided_span(T* data, mapping_type const& mapping) : data_(data), mapping_(mapping) {}

  static constexpr std::size_t rank() { return N; }
  static constexpr bool is_always_unique() { return true; }
  static constexpr bool is_always_strided() { return true; }
  data_handle_type const& data_handle() const { return data_; }
  std::size_t extent(std::size_t axis) const { return mapping_.shape[axis]; }
  std::size_t stride(std::size_t axis) const { return mapping_.values[axis]; }

 private:
  T* data_;
  mapping_type mapping_;
};

void mdspans(context& c) {
  using span = strided_span<word, 2>;
  words& from = c.source(count);
  words& to = c.target(count);
  matrix const a({side, side}, order::f);
  a.fill(9);
  c.watch(a.view().ravel(order::f));
  stream s;
  auto const source = as_mdspan<span>(matrix_of(from));
  auto const target = as_mdspan<span>(matrix_of(to));
  auto const on_device = as_mdspan<span>(a);
  if (!c.call([&] { roc::copy(source, on_device); })) return;
  if (!c.call([&] { roc::copy(source, on_device, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  if (!c.call([&] { roc::copy(on_device, target, s); })) return;
  if (!c.run([&] { s.synchronize(); })) return;
  bool right = is_made(to, 1);
  if (!c.run([&] {
        matrix const b = to_device(source);
        auto const column = as_mdspan<strided_span<word, 1>>(b(roc::all, 3));
        roc::fill(column, word{5}, s);
        roc::zero(as_mdspan<strided_span<word, 1>>(b(4, roc::all)), s);
        s.synchronize();
        auto const view = as_device_view(column, 0);
        right = right && view(7).get() == 5 && b(4, 4).get() == 0 &&
                b(7, 4).get() == value_at(7 * side + 4, 1);
        try {
          roc::copy(as_mdspan<span>(b(roc::all, slice(0, 50))), target);
          right = false;
        } catch (shape_error const&) {
        }
        try {
          static_cast<void>(as_mdspan<span>(b(roc::all, slice(none, none, -1))));
          right = false;
        } catch (layout_error const&) {
        }
      }))
    return;
  c.expect(right, "mdspans");
}

// Several processes

// Calls f(), which must throw an ipc_error with this code; other errors are passed on.
template <class F>
bool is_refused(std::errc code, F f) {
  try {
    f();
  } catch (ipc_error const& error) {
    if (error.code() != code) throw;
    return true;
  }
  return false;
}

void exported_arrays(context& c) {
  hip_memory_resource own_allocations;
  matrix const a({side, side});
  array const alone({std::size_t{1} << 19}, own_allocations);  // 2 MiB: what drivers round up to
  stream s;
  bool right = false;
  if (!c.run([&] {
        a.fill(1, s);
        auto const part = get_ipc_handle(a(slice(10, 20), slice(0, none, 2)), s);
        auto const whole = get_ipc_handle(a);
        auto const single = get_ipc_handle(alone, s, ipc_exposure::array_only);
        right = part.rank() == 2 && part.extent(1) == side / 2 && part.stride(1) == 2 &&
                whole.allocation_bytes() >= count * sizeof(word) && single.offset_bytes() == 0;
        {
          array const temporary({100}, order::c, s);
          stream t;
          static_cast<void>(get_ipc_handle(temporary, t));
          static_cast<void>(get_ipc_handle(temporary, s));  // records the event again
        }
        ipc_event e;
        e.record(s);
        auto const event_handle = e.ipc_handle();
        ipc_event const moved = std::move(e);
        s.wait(moved);
        moved.synchronize();
        right = right && moved.query();
        // A process cannot open what it has exported.
        constexpr auto denied = std::errc::operation_not_permitted;
        constexpr auto invalid = std::errc::invalid_argument;
        right = right && is_refused(denied, [&] { static_cast<void>(ipc_event(event_handle)); }) &&
                is_refused(denied, [&] { static_cast<void>(open_ipc_array<word, 2>(whole)); }) &&
                is_refused(denied, [&] { static_cast<void>(open_ipc_array<word, 2>(part, s)); }) &&
                is_refused(invalid, [&] { static_cast<void>(open_ipc_array<float, 2>(whole)); }) &&
                is_refused(invalid, [&] { static_cast<void>(open_ipc_array<word, 1>({})); }) &&
                is_refused(denied, [&] {
                  static_cast<void>(get_ipc_handle(a(0, roc::all), ipc_exposure::array_only));
                });
        try {
          static_cast<void>(open_ipc_array<word, 1>(whole));
          right = false;
        } catch (shape_error const&) {
        }
      }))
    return;
  c.expect(right, "exported arrays");
}

// The handles that the other process sends.
struct offer {
  ipc_array_handle matrix;
  ipc_array_handle part;
  ipc_event_handle filled;
};

// Sends or receives all bytes of a value. Returns false if the other process has ended.
template <class T>
bool send_value(int connection, T const& value) {
  return ::send(connection, &value, sizeof value, MSG_NOSIGNAL) == sizeof value;
}
template <class T>
bool receive_value(int connection, T& value) {
  return ::recv(connection, &value, sizeof value, MSG_WAITALL) == sizeof value;
}

// The process that exports arrays for this one and is the other rank: this program with --exporter.
// It is started at the first use, without operator new, and ends with this process.
class exporter_process {
 public:
  static exporter_process& instance() {
    static exporter_process process;
    return process;
  }

  // Lets the process fill its arrays again, and returns their handles.
  offer receive_offer() const {
    offer result;
    if (!send_value(connection_, 'o') || !receive_value(connection_, result)) fail();
    return result;
  }
  // Sends an event that follows a fill of the part with 5. Returns true if the process found that.
  bool check_filled(ipc_event_handle const& written) const {
    bool result = false;
    if (!send_value(connection_, 'c') || !send_value(connection_, written) ||
        !receive_value(connection_, result)) {
      fail();
    }
    return result;
  }
#if ROCARRAY_TEST_COLLECTIVES
  // Lets the process become rank 1 of 2.
  void join(collective_id const& id) const {
    if (!send_value(connection_, 'j') || !send_value(connection_, id.bytes())) fail();
  }
  // Returns true if all operations of the rank had the right result.
  bool receive_result() const {
    bool result = false;
    if (!receive_value(connection_, result)) fail();
    return result;
  }
#endif

  // Ends the process, and starts another one.
  void restart() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    ::close(connection_);
    start();
  }

 private:
  exporter_process() { start(); }

  void start() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail();
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    connection_ = ends[0];
    char program[] = "/proc/self/exe";
    char option[] = "--exporter";
    char descriptor[16];
    std::snprintf(descriptor, sizeof descriptor, "%d", ends[1]);
    char* arguments[] = {program, option, descriptor, nullptr};
    int const error = ::posix_spawn(&process_, program, nullptr, nullptr, arguments, environ);
    ::close(ends[1]);
    if (error != 0) fail();
  }
  [[noreturn]] static void fail() {
    std::fputs("the exporting process has ended\n", stderr);
    std::abort();
  }

  pid_t process_ = 0;
  int connection_ = -1;
};

void opened_arrays(context& c) {
  words& to = c.target(count);
  auto const& exporter = exporter_process::instance();
  offer const offered = exporter.receive_offer();
  stream s;
  bool right = false;
  if (!c.run([&] {
        matrix a = open_ipc_array<word, 2>(offered.matrix, s);
        a.copy_to_host(matrix_of(to), s);
        matrix const again = open_ipc_array<word, 2>(offered.matrix);
        matrix const part = open_ipc_array<word, 2>(offered.part);
        ipc_event const filled(offered.filled);
        stream_ref().wait(filled);
        filled.synchronize();
        s.synchronize();
        right = again(7, 7).get() == value_at(7 * side + 7, 1) && filled.query();
        part.fill(5, s);
        ipc_event written;
        written.record(s);
        right = exporter.check_filled(written.ipc_handle()) && right;
        // The array of another process is not exported again.
        right = is_refused(std::errc::invalid_argument,
                           [&] { static_cast<void>(get_ipc_handle(a)); }) &&
                right;
        matrix const moved = std::move(a);
      }))
    return;
  c.expect(right && is_made(to, 1), "arrays of another process");
}

// Collective operations

#if ROCARRAY_PLATFORM_HOST
constexpr bool on_host_platform = true;
#else
constexpr bool on_host_platform = false;
#endif

#if ROCARRAY_TEST_COLLECTIVES

constexpr collective_options limited{.time_limit = std::chrono::seconds(30),
                                     .destruction_limit = std::chrono::seconds(30)};

// The ranks of a communicator on the first and the last device, and a stream for each.
struct rank_set {
  explicit rank_set(collective_options const& options = limited)
      : ranks(collective_communicator::for_devices(devices(), options)) {
    for (auto const& rank : ranks) {
      device_guard const current(device(rank.device_ordinal()));
      streams.emplace_back();
    }
  }
  static std::vector<device> devices() {
    std::vector<device> result{device(0)};
    if (device::count() > 1) result.emplace_back(device::count() - 1);
    return result;
  }
  // Calls f(rank, index) for each rank on its device.
  template <class F>
  void for_each(F f) const {
    for (std::size_t i = 0; i != ranks.size(); ++i) {
      device_guard const current(device(ranks[i].device_ordinal()));
      f(ranks[i], i);
    }
  }
  // As for_each, in a group.
  template <class F>
  void in_group(F f) const {
    collective_group group;
    for_each(f);
    group.end();
  }
  void synchronize() const {
    for_each([&](auto const& rank, std::size_t i) { rank.synchronize(streams[i]); });
  }
  word size() const { return static_cast<word>(ranks.size()); }

  std::vector<collective_communicator> ranks;
  std::vector<stream> streams;
};

// Returns an array for each rank, on its device.
std::vector<array> arrays_of_ranks(rank_set const& set, std::size_t size) {
  std::vector<array> result;
  set.for_each([&](auto const&, std::size_t) { result.emplace_back(shape<1>{size}); });
  return result;
}

// Returns true if new communicators work, without a time limit and with one.
bool do_new_ranks_work() {
  try {
    bool right = true;
    for (collective_options const& options : {collective_options{}, limited}) {
      rank_set const set(options);
      auto const numbers = arrays_of_ranks(set, 10);
      for (array const& item : numbers) item.fill(3);
      set.in_group(
          [&](auto const& rank, std::size_t i) { rank.all_reduce(numbers[i], reduction::sum); });
      for (array const& item : numbers) right = right && item(9).get() == 3 * set.size();
    }
    return right;
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "new communicators: %s\n", problem.what());
    return false;
  }
}

// As context::run. If it fails, checks that new communicators work.
template <class F>
bool run_ranks(context& c, F f) {
  if (c.run(f)) return true;
  synchronize_devices();
  c.expect(do_new_ranks_work(), "new communicators after an error");
  return false;
}

void all_reductions(context& c) {
  bool right = false;
  if (!run_ranks(c, [&] {
        rank_set const set;
        auto const numbers = arrays_of_ranks(set, 500);
        set.for_each([&](auto const&, std::size_t i) { numbers[i].fill(2, set.streams[i]); });
        set.in_group([&](auto const& rank, std::size_t i) {
          rank.all_reduce(numbers[i], reduction::sum, set.streams[i]);
        });
        set.in_group([&](auto const& rank, std::size_t i) {
          rank.all_reduce(numbers[i](slice(0, none, 2)), reduction::sum, set.streams[i]);
        });
        set.synchronize();
        word const sum = 2 * set.size();
        right = true;
        for (array const& item : numbers) {
          right = right && item(2).get() == sum * set.size() && item(3).get() == sum;
        }
      }))
    return;
  c.expect(right, "all_reduce on streams");
}

void all_reductions_without_stream(context& c) {
  bool right = false;
  if (!run_ranks(c, [&] {
        rank_set const set({.destruction_limit = std::chrono::seconds(5)});
        auto const numbers = arrays_of_ranks(set, 500);
        auto const results = arrays_of_ranks(set, 500);
        set.for_each([&](auto const&, std::size_t i) {
          numbers[i].fill(2, set.streams[i]);
          results[i].zero();
        });
        auto const odd = slice(1, none, 2);
        set.in_group([&](auto const& rank, std::size_t i) {
          rank.all_reduce(numbers[i], results[i], reduction::product);
        });
        set.in_group([&](auto const& rank, std::size_t i) {
          rank.all_reduce(results[i](odd), numbers[i](odd), reduction::max);
        });
        word const product = set.size() == 2 ? 4 : 2;
        right = true;
        for (array const& item : numbers) {
          right = right && item(2).get() == 2 && item(3).get() == product;
        }
      }))
    return;
  c.expect(right, "all_reduce without a stream");
}

void messages(context& c) {
  bool right = false;
  if (!run_ranks(c, [&] {
        rank_set const set;
        int const size = static_cast<int>(set.size());
        auto const sent = arrays_of_ranks(set, 500);
        auto const received = arrays_of_ranks(set, 500);
        set.for_each([&](auto const&, std::size_t i) {
          sent[i].fill(static_cast<word>(i) + 1, set.streams[i]);
          received[i].zero(set.streams[i]);
        });
        set.in_group([&](auto const& rank, std::size_t i) {
          rank.send(sent[i], (rank.rank() + 1) % size, set.streams[i]);
          rank.receive(received[i], (rank.rank() + size - 1) % size, set.streams[i]);
        });
        set.synchronize();
        right = received[0](499).get() == set.size();
        auto const odd = slice(1, none, 2);
        set.in_group([&](auto const& rank, std::size_t i) {
          rank.receive(sent[i](odd), (rank.rank() + size - 1) % size);
          rank.send(received[i](odd), (rank.rank() + 1) % size);
        });
        right = right && sent[0](0).get() == 1 && sent[0](1).get() == 1;
      }))
    return;
  c.expect(right, "messages");
}

void exchanges(context& c) {
  bool right = false;
  if (!run_ranks(c, [&] {
        rank_set const set;
        auto const block = arrays_of_ranks(set, 100);
        auto const all = arrays_of_ranks(set, 100 * set.ranks.size());
        auto const other = arrays_of_ranks(set, 100 * set.ranks.size());
        set.for_each([&](auto const&, std::size_t i) {
          block[i].fill(static_cast<word>(i) + 1, set.streams[i]);
        });
        auto const each = [&](auto f) {
          set.in_group([&](auto const& rank, std::size_t i) { f(rank, i, set.streams[i]); });
        };
        each([&](auto const& rank, std::size_t i, stream const& s) {
          rank.all_gather(block[i], all[i], s);
        });
        each([&](auto const& rank, std::size_t i, stream const& s) {
          rank.all_to_all(all[i], other[i], s);
        });
        each([&](auto const& rank, std::size_t i, stream const& s) {
          rank.reduce_scatter(all[i], block[i], reduction::sum, s);
        });
        each([&](auto const& rank, std::size_t i, stream const& s) {
          rank.broadcast(all[i], 0, s);
          rank.reduce(block[i], 0, reduction::min, s);
        });
        set.synchronize();
        // Rank r has had its block from each: r + 1. Then block r of the sum is size * (r + 1).
        right = other.back()(0).get() == set.size() && block[0](99).get() == set.size() &&
                all.back()(-1).get() == set.size();
      }))
    return;
  c.expect(right, "exchanges of all ranks");
}

// A rank waits for another one that never comes.
void time_limits(context& c) {
  if (device::count() < 2) return;
  bool right = false;
  std::vector<array> numbers;
  if (!run_ranks(c, [&] {
        // Each poll until then is a call of HIP that fails in turn.
        constexpr auto short_time = std::chrono::milliseconds(2);
        {
          rank_set const set({.time_limit = short_time});
          numbers = arrays_of_ranks(set, 500);
          device_guard const current(device(set.ranks[0].device_ordinal()));
          try {
            set.ranks[0].all_reduce(numbers[0], reduction::sum, set.streams[0]);
            set.ranks[0].synchronize(set.streams[0]);
          } catch (collective_timeout_error const&) {
            right = true;
          }
          try {
            set.ranks[0].check();
            right = false;
          } catch (collective_abort_error const&) {
          }
          set.streams[0].synchronize();
        }
        rank_set set({.destruction_limit = short_time});
        {
          device_guard const current(device(set.ranks[0].device_ordinal()));
          set.ranks[0].all_reduce(numbers[0], reduction::sum, set.streams[0]);
        }
        set.ranks.clear();  // waits, aborts the operation, and logs that
        numbers[0].fill(2, set.streams[0]);
        set.streams[0].synchronize();
        right = right && numbers[0](7).get() == 2;
      }))
    return;
  c.expect(right, "time limits");
}

// A rank in this process and one in another.
void ranks_of_two_processes(context& c) {
  // If a rank is not created, the other one waits for it.
  struct other_rank {
    exporter_process& process;
    std::optional<collective_id> id{};
    bool has_begun = false;

    void begin() {
      id = collective_id::create();
      process.join(*id);
      has_begun = true;
    }
    bool end() {
      has_begun = false;
      return process.receive_result();
    }
    ~other_rank() {
      if (has_begun) process.restart();
      // An identifier that no rank of this process has used would be a leak of the scenario.
      if (id) detail::discard_collective_id(id->bytes());
    }
  } other{exporter_process::instance()};
  bool right = false;
  if (!run_ranks(c, [&] {
        other.begin();
        stream s;
        array const numbers({500});
        numbers.fill(1, s);
        collective_communicator const rank(*other.id, 0, 2, device(0), limited);
        rank.all_reduce(numbers, reduction::sum, s);
        rank.synchronize(s);
        right = numbers(499).get() == 3;
        rank.broadcast(numbers, 1);
        right = right && numbers(0).get() == 7;
        rank.send(numbers, 1, s);
        rank.synchronize(s);
      }))
    return;
  c.finish();
  bool const is_other_right = other.end();
  // A communicator whose device can never be made current again is aborted when it is destroyed,
  // and says so. The other rank may still be in its last operation.
  bool const may_be_aborted = c.fails_from_then_on() && log_lines != 0;
  c.expect(right && (is_other_right || may_be_aborted), "ranks of two processes");
}

// Communicators that are destroyed, moved and aborted while operations are pending.
void destroyed_communicators(context& c) {
  bool right = false;
  std::vector<array> numbers;
  if (!run_ranks(c, [&] {
        {
          rank_set set;
          numbers = arrays_of_ranks(set, 500);
          set.for_each([&](auto const&, std::size_t i) { numbers[i].fill(1, set.streams[i]); });
          set.in_group([&](auto const& rank, std::size_t i) {
            rank.all_reduce(numbers[i], reduction::sum, set.streams[i]);
          });
          auto const moved = std::move(set.ranks);
          set.streams.clear();
        }
        rank_set const aborted;
        aborted.in_group([&](auto const& rank, std::size_t i) {
          rank.all_reduce(numbers[i], reduction::sum, aborted.streams[i]);
        });
        aborted.for_each([&](auto const& rank, std::size_t) { rank.abort(); });
        right = false;
        try {
          aborted.ranks[0].check();
        } catch (collective_abort_error const&) {
          right = true;
        }
        {
          rank_set const set;
          try {
            collective_group group;
            set.ranks[0].all_reduce(numbers[0], reduction::sum);
            throw std::invalid_argument("the group is cancelled");
          } catch (std::invalid_argument const&) {
          }
          for (stream const& item : aborted.streams) item.synchronize();
          set.for_each([&](auto const&, std::size_t i) { numbers[i].fill(1); });
          set.in_group([&](auto const& rank, std::size_t i) {
            rank.all_reduce(numbers[i], reduction::sum);
          });
          right = right && numbers[0](0).get() == set.size();
        }
      }))
    return;
  c.expect(right, "destroyed and aborted communicators");
}

// A rank that aborts the communicator while another one waits for it.
void aborting_rank(context& c) {
  if (device::count() < 2) return;
  bool right = false;
  if (!run_ranks(c, [&] {
        rank_set const set;
        auto const numbers = arrays_of_ranks(set, 500);
        set.for_each([&](auto const&, std::size_t i) { numbers[i].fill(1, set.streams[i]); });
        // NCCL connects the ranks at the first operation.
        set.in_group([&](auto const& rank, std::size_t i) {
          rank.all_reduce(numbers[i], reduction::sum, set.streams[i]);
        });
        set.synchronize();
        {
          device_guard const current(device(set.ranks[0].device_ordinal()));
          set.ranks[0].all_reduce(numbers[0](slice(0, none, 2)), reduction::sum, set.streams[0]);
        }
        set.ranks[1].abort();
        if constexpr (on_host_platform) {
          right = false;
          try {
            set.ranks[0].synchronize(set.streams[0]);
          } catch (collective_error const&) {
            right = true;
          }
        } else {
          right = true;  // RCCL and NCCL do not tell the other rank
          set.ranks[0].abort();
        }
        for (stream const& item : set.streams) item.synchronize();
        right = right && numbers[0](-1).get() == set.size();
      }))
    return;
  c.expect(right, "aborting rank");
}

#endif

}  // namespace

std::vector<scenario> const& exchange_scenarios() {
  static std::vector<scenario> const all{
      {"mdspans", mdspans},
      {"exported arrays", exported_arrays},
      {"opened arrays", opened_arrays},
#if ROCARRAY_TEST_COLLECTIVES
      {"all_reduce", all_reductions},
      {"all_reduce without stream", all_reductions_without_stream},
      {"messages", messages},
      {"exchanges", exchanges},
      {"destroyed communicators", destroyed_communicators},
      {"aborting rank", aborting_rank},
      {"time limits", time_limits, 150},
      {"ranks of two processes", ranks_of_two_processes, 300},
#endif
  };
  return all;
}

#if ROCARRAY_TEST_COLLECTIVES
// The rank of the other process. Returns false if that failed.
static bool run_other_rank(collective_id const& id) {
  try {
    device const own_device(device::count() - 1);
    device_guard const current(own_device);
    stream s;
    array const numbers({500});
    numbers.fill(2, s);
    collective_communicator const rank(id, 1, 2, own_device, limited);
    rank.all_reduce(numbers, reduction::sum, s);
    rank.synchronize(s);
    bool const right = numbers(499).get() == 3;
    numbers.fill(7);
    rank.broadcast(numbers, 1);
    numbers.fill(0);
    rank.receive(numbers, 0, s);
    rank.synchronize(s);
    return right && numbers(499).get() == 7;
  } catch (std::exception const&) {
    return false;
  }
}
#endif

int run_exporter(int connection) {
  matrix const a({side, side});
  auto const part = a(slice(10, none, 3), slice(0, none, 2));
  words const numbers = make_words(count, 1);
  stream s;
  std::optional<ipc_event> filled;
  char command = 0;
  while (receive_value(connection, command)) {
    try {
      if (command == 'o') {
        words from = numbers;
        a.copy_to_device(matrix_of(from), s);
        filled.emplace();  // AMD: an event may be recorded 32 times
        filled->record(s);
        send_value(connection,
                   offer{get_ipc_handle(a, s), get_ipc_handle(part, s), filled->ipc_handle()});
        continue;
      }
#if ROCARRAY_TEST_COLLECTIVES
      if (command == 'j') {
        std::array<std::byte, collective_id::byte_count> id;
        if (!receive_value(connection, id)) break;
        send_value(connection, run_other_rank(collective_id(id)));
        continue;
      }
#endif
      ipc_event_handle handle;
      if (!receive_value(connection, handle)) break;
      ipc_event const written(handle);
      s.wait(written);
      auto const found = a.copy_to_host(s);
      s.synchronize();
      send_value(connection,
                 found(10, 2) == 5 && found(13, 0) == 5 && found(11, 0) == value_at(11 * side, 1));
    } catch (std::exception const& problem) {
      std::fprintf(stderr, "exporting process: %s\n", problem.what());
      return 1;
    }
  }
  return 0;
}

}  // namespace roc::test::faults
