// SPDX-License-Identifier: MIT
// rocbench-mpi measures messages between two ranks of MPI: ping-pong, windows of messages and the
// faces of a cube, by roc::mpi_communicator and by MPI's own calls. A program of its own, so that
// rocbench does not need MPI.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fnmatch.h>
#include <mpi.h>
#include <CLI/CLI.hpp>

#include <roc/interop/mpi.hpp>
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "format.hpp"
#include "measure.hpp"
#include "platform/call.hpp"
#include "result_file.hpp"
#include "result_table.hpp"
#include "stopwatch.hpp"

namespace rocbench {
namespace {

constexpr std::size_t guard_elements = 1024;
constexpr float poison = -1;
constexpr int messages_per_window = 16;

enum class message_pattern : unsigned char { ping_pong, window, halo };

struct mpi_case {
  char const* name;
  char const* description;
  message_pattern pattern;
  accounting counted;
  int axis;                          // of halos: the axis that the face is perpendicular to
  std::vector<std::uint64_t> sizes;  // bytes of a message
};

std::vector<mpi_case> const& mpi_cases() {
  using enum message_pattern;
  using enum accounting;
  static std::vector<mpi_case> const cases{
      {"mpi/latency", "8 bytes there and back, half of the time", ping_pong, time, 0, {8}},
      {"mpi/ping_pong",
       "an array there and back",
       ping_pong,
       payload,
       0,
       {std::uint64_t{4} << 10, std::uint64_t{256} << 10, std::uint64_t{16} << 20}},
      {"mpi/bandwidth",
       "windows of 16 arrays, one way",
       window,
       payload,
       0,
       {std::uint64_t{256} << 10, std::uint64_t{4} << 20}},
      {"mpi/halo/0", "planes of a cube, both ways", halo, payload, 0, {std::uint64_t{256} << 10}},
      {"mpi/halo/1", "rows of a cube, both ways", halo, payload, 1, {std::uint64_t{256} << 10}},
      {"mpi/halo/2", "columns of a cube, both ways", halo, payload, 2, {std::uint64_t{256} << 10}},
  };
  return cases;
}

void check_mpi(int result, char const* call) {
  if (result != MPI_SUCCESS) throw std::runtime_error(fmt::format("{}: error {}", call, result));
}

// The elements of a message in an array of floats.
struct message_layout {
  roc::shape<3> extents;
  roc::strides<3> strides;
  std::size_t span;  // elements from the first to the end of the last one

  std::size_t count() const { return extents[0] * extents[1] * extents[2]; }
  std::size_t position(std::size_t index) const {
    std::size_t const plane = extents[1] * extents[2];
    return index / plane * static_cast<std::size_t>(strides[0]) +
           index % plane / extents[2] * static_cast<std::size_t>(strides[1]) + index % extents[2];
  }
  bool is_contiguous() const { return span == count(); }
};

message_layout layout_of(mpi_case const& entry, std::size_t bytes) {
  std::size_t const elements = std::max<std::size_t>(bytes / sizeof(float), 1);
  if (entry.pattern != message_pattern::halo) {
    auto const stride = static_cast<std::ptrdiff_t>(elements);
    return {{1, 1, elements}, {stride, stride, 1}, elements};
  }
  auto const edge = static_cast<std::size_t>(std::sqrt(static_cast<double>(elements)));
  roc::shape<3> extents{edge, edge, edge};
  extents[static_cast<std::size_t>(entry.axis)] = 1;
  auto const row = static_cast<std::ptrdiff_t>(edge);
  std::size_t const span = (extents[0] - 1) * edge * edge + (extents[1] - 1) * edge + extents[2];
  return {extents, {row * row, row, 1}, span};
}

int messages_of(message_pattern pattern) {
  return pattern == message_pattern::window ? messages_per_window : 1;
}

// Returns the elements of an array of messages, with gaps before, between and after them.
std::size_t array_elements(message_pattern pattern, message_layout const& layout) {
  return (layout.span + guard_elements) * static_cast<std::size_t>(messages_of(pattern)) +
         guard_elements;
}

// Returns an element that a rank sends.
float source_value(int rank, int message, std::size_t index, std::uint64_t sample) {
  return static_cast<float>((index * 7 + static_cast<std::size_t>(rank * 31 + message * 17) +
                             static_cast<std::size_t>(sample) * 13) %
                            1021);
}

// The arrays of one rank, and the messages that it exchanges with the other one.
class message_exchange {
 public:
  message_exchange(mpi_case const& entry, std::size_t bytes, api_kind api,
                   roc::mpi_communicator const& library)
      : pattern_(entry.pattern),
        layout_(layout_of(entry, bytes)),
        messages_(messages_of(entry.pattern)),
        api_(api),
        library_(library),
        rank_(library.rank()),
        other_(1 - library.rank()) {
    std::size_t const elements = array_elements(pattern_, layout_);
    source_ = roc::device_array<float>(roc::shape<1>{elements});
    destination_ = roc::device_array<float>(roc::shape<1>{elements});
    if (api == api_kind::library || passes_device_memory()) return;
    // As a program without the library does it: pinned memory, or packed arrays if MPI takes them.
    std::size_t const staged = layout_.count() * static_cast<std::size_t>(messages_);
    if (library.takes_device_pointers()) {
      packed_ = roc::device_array<float>(roc::shape<1>{2 * staged});
      staging_ = packed_.data();
    } else {
      pinned_ = roc::host_array<float>(roc::shape<1>{2 * staged}, roc::order::c,
                                       roc::host_memory::pinned);
      staging_ = pinned_.data();
    }
  }

  std::size_t message_bytes() const { return layout_.count() * sizeof(float); }
  // Returns the bytes that one execution counts.
  std::size_t counted_bytes() const {
    std::size_t const factor =
        pattern_ == message_pattern::halo ? 2 : static_cast<std::size_t>(messages_);
    return message_bytes() * factor;
  }
  std::string path() const {
    bool const direct = library_.takes_device_pointers();
    if (api_ == api_kind::library) return direct ? "device pointers" : "staged";
    return passes_device_memory() ? "MPI, device pointers" : direct ? "MPI, packed" : "MPI, pinned";
  }

  void prepare(std::uint64_t sample) {
    upload(source_, contents([&](int message, std::size_t index) {
             return source_value(rank_, message, index, sample);
           }));
    upload(destination_, std::vector<float>(destination_.size(), poison));
  }

  // Returns a description of the first wrong element, or an empty string.
  std::string check(std::uint64_t sample, bool inject) {
    bool const receives = pattern_ != message_pattern::window || rank_ == 1;
    if (!receives) return "";
    std::vector<float> actual(destination_.size(), poison - 1);
    ROCARRAY_HIP(hipMemcpy, actual.data(), destination_.data(), actual.size() * sizeof(float),
                 hipMemcpyDeviceToHost);
    if (inject) actual[guard_elements + layout_.position(layout_.count() / 2)] += 1;
    auto const expected = contents([&](int message, std::size_t index) {
      return source_value(other_, message, index, sample);
    });
    auto const [wrong, right] = std::ranges::mismatch(actual, expected);
    if (wrong == actual.end()) return "";
    return fmt::format("rank {}, sample {}: element {} is {}, not {}", rank_, sample,
                       wrong - actual.begin(), *wrong, *right);
  }

  void run(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      switch (pattern_) {
        case message_pattern::ping_pong:
          rank_ == 0 ? send(0) : receive(0);
          rank_ == 0 ? receive(0) : send(0);
          break;
        case message_pattern::window: run_window(); break;
        case message_pattern::halo: run_halo(); break;
      }
    }
    stream_.synchronize();
  }

 private:
  std::size_t slot() const { return layout_.span + guard_elements; }
  bool passes_device_memory() const {
    return library_.takes_device_pointers() && layout_.is_contiguous();
  }
  int count() const { return static_cast<int>(layout_.count()); }

  // Returns the elements of an array: value(message, index) in the messages, else poison.
  template <class Value>
  std::vector<float> contents(Value const& value) const {
    std::vector<float> result(source_.size(), poison);
    for (int message = 0; message < messages_; ++message) {
      float* const first =
          result.data() + guard_elements + static_cast<std::size_t>(message) * slot();
      for (std::size_t index = 0; index < layout_.count(); ++index)
        first[layout_.position(index)] = value(message, index);
    }
    return result;
  }
  static void upload(roc::device_array<float>& array, std::vector<float> const& elements) {
    ROCARRAY_HIP(hipMemcpy, array.data(), elements.data(), elements.size() * sizeof(float),
                 hipMemcpyHostToDevice);
    // The copy may return before the device has the elements.
    ROCARRAY_HIP(hipDeviceSynchronize);
  }

  float* first_element(roc::device_array<float>& array, int message) const {
    return array.data() + guard_elements + static_cast<std::size_t>(message) * slot();
  }
  roc::device_view<float, 3> view(roc::device_array<float>& array, int message) const {
    return {first_element(array, message), layout_.extents, layout_.strides,
            array.device_ordinal()};
  }

  // ---- By MPI's own calls ----

  float* staging(bool receives, int message) const {
    std::size_t const place = static_cast<std::size_t>(message + (receives ? messages_ : 0));
    return staging_ + place * layout_.count();
  }
  // Copies the rows of a message between the array and packed memory, and waits.
  void copy_rows(roc::device_array<float>& array, int message, bool packs) {
    float* const element = first_element(array, message);
    float* const packed = staging(!packs, message);
    bool const is_row = layout_.extents[2] != 1;
    std::size_t const rows = layout_.is_contiguous() ? 1
                             : is_row                ? layout_.extents[0]
                                                     : layout_.extents[0] * layout_.extents[1];
    std::size_t const width = layout_.count() / rows * sizeof(float);
    std::size_t const pitch = layout_.is_contiguous() ? width
                              : is_row
                                  ? static_cast<std::size_t>(layout_.strides[0]) * sizeof(float)
                                  : static_cast<std::size_t>(layout_.strides[1]) * sizeof(float);
    if (packs)
      ROCARRAY_HIP(hipMemcpy2DAsync, packed, width, element, pitch, width, rows, hipMemcpyDefault,
                   roc::native(stream_));
    else
      ROCARRAY_HIP(hipMemcpy2DAsync, element, pitch, packed, width, width, rows, hipMemcpyDefault,
                   roc::native(stream_));
    stream_.synchronize();
  }
  // Returns the memory that MPI sends, after the message has been packed.
  float* packed_message(int message) {
    if (passes_device_memory()) return first_element(source_, message);
    copy_rows(source_, message, true);
    return staging(false, message);
  }
  // Returns the memory that MPI receives into.
  float* arriving_message(int message) {
    return passes_device_memory() ? first_element(destination_, message) : staging(true, message);
  }
  void unpack(int message) {
    if (!passes_device_memory()) copy_rows(destination_, message, false);
  }

  void send(int message) {
    if (api_ == api_kind::library) return library_.send(view(source_, message), other_, 0, stream_);
    check_mpi(MPI_Send(packed_message(message), count(), MPI_FLOAT, other_, 0, MPI_COMM_WORLD),
              "MPI_Send");
  }
  void receive(int message) {
    if (api_ == api_kind::library) {
      library_.receive(view(destination_, message), other_, 0, stream_);
      return;
    }
    check_mpi(MPI_Recv(arriving_message(message), count(), MPI_FLOAT, other_, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE),
              "MPI_Recv");
    unpack(message);
  }

  // Rank 0 sends all messages of the window; rank 1 confirms that they are in its arrays.
  void run_window() {
    if (api_ == api_kind::library) {
      std::vector<roc::mpi_request> requests;
      for (int message = 0; message < messages_; ++message) {
        requests.push_back(
            rank_ == 0 ? library_.isend(view(source_, message), other_, message, stream_)
                       : library_.ireceive(view(destination_, message), other_, message, stream_));
      }
      for (roc::mpi_request& request : requests) request.wait();
    } else {
      std::vector<MPI_Request> requests(static_cast<std::size_t>(messages_));
      for (int message = 0; message < messages_; ++message) {
        MPI_Request& request = requests[static_cast<std::size_t>(message)];
        check_mpi(rank_ == 0 ? MPI_Isend(packed_message(message), count(), MPI_FLOAT, other_,
                                         message, MPI_COMM_WORLD, &request)
                             : MPI_Irecv(arriving_message(message), count(), MPI_FLOAT, other_,
                                         message, MPI_COMM_WORLD, &request),
                  rank_ == 0 ? "MPI_Isend" : "MPI_Irecv");
      }
      check_mpi(MPI_Waitall(messages_, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
      for (int message = 0; rank_ == 1 && message < messages_; ++message) unpack(message);
    }
    char confirmation = 0;
    constexpr int tag = messages_per_window;
    if (rank_ == 1)
      check_mpi(MPI_Send(&confirmation, 1, MPI_CHAR, other_, tag, MPI_COMM_WORLD), "MPI_Send");
    else
      check_mpi(
          MPI_Recv(&confirmation, 1, MPI_CHAR, other_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          "MPI_Recv");
  }

  void run_halo() {
    if (api_ == api_kind::library) {
      library_.sendrecv(view(source_, 0), other_, view(destination_, 0), other_, 0, stream_);
      return;
    }
    float const* const sent = packed_message(0);
    check_mpi(MPI_Sendrecv(sent, count(), MPI_FLOAT, other_, 0, arriving_message(0), count(),
                           MPI_FLOAT, other_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
              "MPI_Sendrecv");
    unpack(0);
  }

  message_pattern pattern_;
  message_layout layout_;
  int messages_;
  api_kind api_;
  roc::mpi_communicator const& library_;
  int rank_;
  int other_;
  roc::stream stream_;
  roc::device_array<float> source_;
  roc::device_array<float> destination_;
  roc::device_array<float> packed_;
  roc::host_array<float> pinned_;
  float* staging_ = nullptr;
};

// Returns the value of the rank for which it is the largest, in both ranks.
double largest_of_ranks(double value) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD),
            "MPI_Allreduce");
  return value;
}

// Returns the seconds of a number of executions, those of the slower rank, in both ranks.
double time_of(message_exchange& exchange, std::size_t times) {
  check_mpi(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
  stopwatch const elapsed_time;
  exchange.run(times);
  return std::max(largest_of_ranks(elapsed_time.seconds()), 1e-9);
}

// Throws case_not_supported in both ranks if the arrays of one of them, which has four in device
// memory and four in host memory, exceed its memory. Both may use the same memory.
void check_memory(mpi_case const& entry, std::size_t bytes) {
  std::size_t const needed = array_elements(entry.pattern, layout_of(entry, bytes)) * sizeof(float);
  std::uint64_t const allowed = std::min(roc::device().memory().total / 4, host_memory() / 16);
  if (largest_of_ranks(needed > allowed ? 1 : 0) != 0) {
    throw case_not_supported(fmt::format(
        "arrays of {} exceed a rank's memory; use a smaller --size", format_size(needed)));
  }
}

// Returns the first description that is not empty, in both ranks.
std::string first_of_ranks(std::string const& text) {
  std::array<char, 200> own{};
  std::array<char, 2 * own.size()> all{};
  std::memcpy(own.data(), text.data(), std::min(text.size(), own.size() - 1));
  check_mpi(MPI_Allgather(own.data(), own.size(), MPI_CHAR, all.data(), own.size(), MPI_CHAR,
                          MPI_COMM_WORLD),
            "MPI_Allgather");
  return all[0] != '\0' ? all.data() : all.data() + own.size();
}

// Measures a case in both ranks, which take the same decisions because they see the same times.
case_result measure(mpi_case const& entry, std::size_t bytes, api_kind api,
                    roc::mpi_communicator const& library, double max_time, bool inject) {
  constexpr double min_batch_seconds = 5e-3;
  constexpr std::size_t max_batch = 4096;
  constexpr std::size_t min_samples = 10;
  case_result result{.name = std::string(api == api_kind::raw ? "raw/" : "") + entry.name,
                     .bytes = layout_of(entry, bytes).count() * sizeof(float),
                     .counted = entry.counted};
  result.physical_limit = {std::nullopt,
                           entry.counted == accounting::time ? "software" : "not measured"};
  try {
    check_memory(entry, bytes);
  } catch (case_not_supported const& reason) {
    result.status = outcome::skipped;
    result.reason = reason.what();
    return result;
  }
  message_exchange exchange(entry, bytes, api, library);
  sample_set samples;
  samples.batch = 1;
  exchange.prepare(0);
  if (max_time > 0) {
    samples.batch = find_batch(max_batch, min_batch_seconds,
                               [&](std::size_t batch) { return time_of(exchange, batch); });
  }
  double const halves = entry.pattern == message_pattern::ping_pong ? 2 : 1;
  stopwatch const elapsed_time;
  std::string mismatch;
  do {
    std::uint64_t const sample = samples.seconds.size() + 1;
    exchange.prepare(sample);
    double const seconds = time_of(exchange, samples.batch);
    samples.seconds.push_back(seconds / halves / static_cast<double>(samples.batch));
    samples.executions += samples.batch;
    mismatch = first_of_ranks(exchange.check(sample, inject));
    samples.elapsed = largest_of_ranks(elapsed_time.seconds());
  } while (mismatch.empty() && samples.elapsed < max_time &&
           (samples.seconds.size() < min_samples || to_measurement(samples, 1).noisy));
  if (!mismatch.empty()) samples.mismatch = mismatch;
  result.path = exchange.path();
  result.measured = to_measurement(samples, exchange.counted_bytes());
  return result;
}

struct mpi_options_given {
  std::vector<std::string> cases;
  std::vector<std::uint64_t> sizes;
  double max_time = 2;
  std::string json;
  bool inject = false;
  bool list = false;
};

// Returns true if the library's case or its raw counterpart matches: both are measured.
bool is_selected(std::vector<std::string> const& globs, mpi_case const& entry) {
  std::string const raw_name = std::string("raw/") + entry.name;
  return globs.empty() || std::ranges::any_of(globs, [&](std::string const& glob) {
           return fnmatch(glob.c_str(), entry.name, 0) == 0 ||
                  fnmatch(glob.c_str(), raw_name.c_str(), 0) == 0;
         });
}

exit_code run(mpi_options_given const& options) {
  int rank = 0;
  int size = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  if (size != 2) {
    if (rank != 0) return exit_code::skipped;
    return fail(
        exit_code::skipped,
        fmt::format("the cases of MPI need two ranks, not {}; run mpirun -n 2 rocbench-mpi", size));
  }
  int const devices = roc::device::count();
  if (devices == 0)
    return rank == 0 ? fail(exit_code::nothing_to_run, "no device was found")
                     : exit_code::nothing_to_run;
  roc::device const device(rank % devices);
  device.make_current();
  case_vector planned;
  for (mpi_case const& entry : mpi_cases()) {
    if (!is_selected(options.cases, entry)) continue;
    for (char const* prefix : {"", "raw/"}) {
      planned.push_back({std::string(prefix) + entry.name, entry.description, entry.counted,
                         limiting_resource::none, true});
    }
  }
  if (planned.empty())
    return rank == 0
               ? fail(exit_code::nothing_to_run, "no case matches; rocbench-mpi --list prints all")
               : exit_code::nothing_to_run;

  if (rank == 0 && !options.json.empty()) check_writable(options.json);
  roc::mpi_communicator const library(MPI_COMM_WORLD);
  rate_limit const unknown{std::nullopt, "not measured"};
  benchmark_run results{describe_environment(device), {unknown, unknown, {}}, {}};
  std::FILE* const output = options.json == "-" ? stderr : stdout;
  if (rank == 0) {
    fmt::print(output, "rocbench-mpi: two ranks, devices 0 and {}: {}\n", 1 % devices,
               results.environment.device_name);
    if (auto const warning = device_warning(results.environment); !warning.empty())
      fmt::print(output, "{}\n", warning);
    fmt::print(output, "\"HIP\" is MPI's own call. Rates of halos count both directions.\n");
  }
  result_table table(output, planned);
  for (mpi_case const& entry : mpi_cases()) {
    if (!is_selected(options.cases, entry)) continue;
    for (std::uint64_t const bytes : options.sizes.empty() ? entry.sizes : options.sizes) {
      for (api_kind const api : {api_kind::library, api_kind::raw}) {
        results.results.push_back(
            measure(entry, bytes, api, library, options.max_time, options.inject));
        case_result const& result = results.results.back();
        if (rank != 0) continue;
        table.print_row(result);
        if (result.measured.mismatch)
          fail(exit_code::mismatch, result.name + ": " + *result.measured.mismatch);
      }
    }
  }
  if (rank == 0) {
    record_final_state(results.environment);
    table.finish(results);
    if (!options.json.empty()) write_file(options.json, to_json(results));
  }
  auto const any = [&](auto const& predicate) {
    return std::ranges::any_of(results.results, predicate);
  };
  if (any([](case_result const& result) { return result.measured.mismatch.has_value(); }))
    return exit_code::mismatch;
  return any([](case_result const& result) { return result.status == outcome::measured; })
             ? exit_code::ok
             : exit_code::skipped;
}

}  // namespace
}  // namespace rocbench

int main(int argc, char** argv) {
  using namespace rocbench;
  constexpr std::uint64_t max_message = std::uint64_t{1} << 30;
  mpi_options_given options;
  CLI::App app{
      "Measures messages of device memory between two ranks of MPI.\n"
      "mpirun -n 2 rocbench-mpi",
      "rocbench-mpi"};
  app.add_option("case", options.cases, "globs, such as 'mpi/halo/*'");
  app.add_option("--size", options.sizes, "bytes of a message, such as 4K,1M")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1}, max_message));
  app.add_option("--max-time", options.max_time, "seconds per case; 0: once, verified")
      ->check(CLI::Range(0.0, 3600.0))
      ->check([](std::string const& text) -> std::string {  // the range does not refuse NaN
        double seconds = 0;
        bool const is_number = CLI::detail::lexical_cast(text, seconds) && !std::isnan(seconds);
        return is_number ? "" : text + " is not a number";
      });
  app.add_option("--json", options.json, "file for the results; - is standard output");
  app.add_flag("--inject", options.inject, "changes an element, which must be found");
  app.add_flag("--list", options.list, "prints the cases");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : static_cast<int>(exit_code::usage);
  }
  if (options.list) {
    for (mpi_case const& entry : mpi_cases())
      fmt::print("{:<27} {}\n", entry.name, entry.description);
    return 0;
  }
  int provided = 0;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
    return static_cast<int>(fail(exit_code::usage, "MPI_Init_thread failed"));
  exit_code result = exit_code::usage;
  try {
    result = run(options);
  } catch (std::exception const& e) {
    // The other rank waits for this one.
    fail(exit_code::usage, e.what());
    MPI_Abort(MPI_COMM_WORLD, static_cast<int>(exit_code::usage));
  }
  MPI_Finalize();
  return static_cast<int>(result);
}
