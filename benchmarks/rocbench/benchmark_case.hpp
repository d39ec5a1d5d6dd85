// SPDX-License-Identifier: MIT
// A benchmark case: its name, how its rate is counted and limited, and the experiment that
// prepares, runs and checks its work. The list of all cases, and their selection by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <roc/stream.hpp>

namespace rocbench {

/// The place at which --inject corrupts a byte, to show that verification finds it.
enum class injection_site : unsigned char {
  none,
  data,    ///< the middle of the payload
  gap,     ///< between rows, or between the copies of a batch
  before,  ///< the last byte of the guard band before the payload
  after,   ///< the first byte of the guard band after the payload
};

/// The clock that times an experiment.
enum class timing_method : unsigned char {
  device_events,  ///< events before and after the work that run() enqueues on stream()
  wall_clock,     ///< the host's steady clock; run() returns after the work has finished
  own_clock,      ///< timed_seconds() of the experiment; run() returns after the work has finished
};

/// Thrown if the device, or a case, does not support the request; what() names the reason.
struct case_not_supported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The properties of a measurement: its timing, the bytes it counts and the path it takes.
struct experiment_properties {
  timing_method timing;
  std::size_t bytes;          ///< payload; the case rounds the requested size to what it can copy
  std::size_t counted_bytes;  ///< bytes that one execution counts towards the rate
  std::string path;           ///< path that the work takes, for tables and result files
  std::size_t max_batch = std::size_t{1} << 16;  ///< executions that run() supports per prepare()
};

/// The rate of one of several devices, in bytes per second.
struct device_rate {
  int device;
  double rate;
};

/// The two devices of a case of copies between devices.
struct device_pair {
  int from;
  int to;
  bool both_ways = false;  ///< true: copies run in both directions at once
};

/// The work of a case, and the memory that it uses on the current device. Errors of HIP are thrown
/// as roc::error.
class experiment {
 public:
  explicit experiment(experiment_properties properties) : properties_(std::move(properties)) {}
  virtual ~experiment() = default;

  experiment_properties const& properties() const { return properties_; }
  /// Returns the stream that run() enqueues on.
  virtual roc::stream_ref stream() const { return {}; }

  /// Writes the pattern of `sample` to the source and poison to the destination. Blocks until both
  /// are written.
  virtual void prepare(std::uint64_t sample) = 0;
  /// Executes the work `times` times in sequence; this part is timed. Only enqueues it if the
  /// timing is device_events, else blocks until it has finished.
  virtual void run(std::size_t times) = 0;
  /// Returns the seconds of the last run() that count. Called only if the timing is own_clock.
  virtual double timed_seconds() const { return 0; }
  /// Returns the rate of each device during the last run(); empty if the work is not divided among
  /// devices.
  virtual std::vector<device_rate> device_rates() const { return {}; }
  /// Compares the destination, its gaps and guard bands with what the sample prepared last must
  /// leave there. Returns a description of the first difference; nullopt if there is
  /// none.
  /// Corrupts one byte at `inject` before the comparison; throws case_not_supported if the case
  /// has no such byte.
  virtual std::optional<std::string> check(std::uint64_t sample, injection_site inject) = 0;

 protected:
  experiment_properties properties_;
};

/// Which bytes a rate counts.
enum class accounting : unsigned char {
  payload,  ///< each copied or written byte once
  traffic,  ///< bytes read plus bytes written
  time,     ///< no bytes: the case reports the time of one execution
};
/// Returns the name that tables and result files use.
constexpr char const* to_string(accounting counted) noexcept {
  constexpr char const* names[] = {"payload", "traffic", "time"};
  return names[static_cast<unsigned char>(counted)];
}

/// The hardware resource that bounds the rate of a case.
enum class limiting_resource : unsigned char {
  link,                 ///< link between host and device, one direction
  link_bidirectional,   ///< link between host and device, both directions at once
  device_memory,        ///< device memory, reads and writes
  device_memory_reads,  ///< device memory, almost only reads
  device_link,          ///< links whose rate no runtime tells: between devices, or of all devices
  none,                 ///< bounded by software
};

/// The API that a case measures.
enum class api_kind : unsigned char {
  library,  ///< rocarray
  raw,      ///< HIP's own call, synchronized if rocarray's call synchronizes too
};

/// The largest element of the cases of permute, reverse and box.
inline constexpr std::size_t max_element_bytes = 16;

/// The sizes that a case is measured with.
struct case_parameters {
  std::size_t bytes = 0;     ///< payload
  std::size_t row = 4096;    ///< bytes per row of strided cases and per copy of batch cases
  std::size_t pitch = 4608;  ///< bytes from one row to the next; not less than `row`
  std::size_t element = 4;   ///< bytes per element of permute, reverse and box: 1 to 16
};

/// A case that the command line can select by name.
struct benchmark_case {
  std::string name;
  std::string description;
  accounting counted;
  limiting_resource limited_by;
  bool by_default;  ///< true: measured if the command line names no case
  /// Allocates the experiment's memory on the current device. Throws case_not_supported if the
  /// device cannot run the case, roc::error if a HIP call fails.
  std::function<std::unique_ptr<experiment>(case_parameters const&)> make_experiment = {};
  std::size_t usual_bytes = 0;  ///< size that the command run measures by default; 0: its own
  std::optional<device_pair> devices = {};  ///< set if the case belongs to a matrix of devices
  /// Bus bandwidth divided by the rate, as NCCL's tests define it; 0 if the case has none.
  double bus_factor = 0;
};

/// Bytes between two copies of a batch; verification detects writes to them.
inline constexpr std::size_t batch_gap = 256;

using case_vector = std::vector<benchmark_case>;

/// Appends a case of the library and its raw counterpart.
/// @param library the library's case, without make_experiment
/// @param raw_description description of the raw case
/// @param make make(api, parameters) returns the experiment
template <class Make>
void add_with_raw(case_vector& cases, benchmark_case library, std::string const& raw_description,
                  Make make) {
  auto const bind_api = [make](api_kind api) {
    return [=](case_parameters const& parameters) { return make(api, parameters); };
  };
  library.make_experiment = bind_api(api_kind::library);
  cases.push_back(library);
  library.name.insert(0, "raw/");
  library.description = raw_description;
  library.make_experiment = bind_api(api_kind::raw);
  cases.push_back(library);
}

// The families of cases, each in the file of its name.
void add_copy_cases(case_vector& cases);  ///< h2d, d2h, d2d, bidir, strided, permute, reverse
void add_host_memory_cases(case_vector& cases);  ///< h2d/just_written, d2h/new_*
void add_stream_copy_cases(case_vector& cases);  ///< async, threads, enqueue
void add_box_cases(case_vector& cases);          ///< box
void add_peer_cases(case_vector& cases);         ///< peer: none unless there are two devices
void add_all_devices_cases(case_vector& cases);  ///< all: none unless there are two devices
void add_collective_cases(case_vector& cases);   ///< collective: as all; needs RCCL or NCCL on GPUs
void add_for_each_cases(case_vector& cases);     ///< for_each
void add_batch_cases(case_vector& cases);        ///< batch
void add_fill_cases(case_vector& cases);         ///< fill
void add_latency_cases(case_vector& cases);      ///< latency
void add_kernel_access_cases(case_vector& cases);  ///< mapped, managed
void add_stream_cases(case_vector& cases);         ///< stream
void add_alloc_cases(case_vector& cases);          ///< alloc

/// Returns every case in the order of the table. A case of the library is followed by its raw
/// counterpart, if there is one.
case_vector const& all_cases();

/// Returns the cases that match at least one glob, in the order of all_cases(). `*` also matches
/// slashes: "*pinned" selects h2d/pinned, bidir/pinned, raw/h2d/pinned and others.
case_vector matching_cases(std::vector<std::string> const& globs);

/// Returns the cases that are measured if the command line names none.
case_vector default_cases();

}  // namespace rocbench
