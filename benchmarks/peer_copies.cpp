// SPDX-License-Identifier: MIT
// Measures copies between all pairs of devices, in layouts of several kinds, beside HIP's own
// calls: rates, times of short copies, and both directions at once. Then an array that is split
// over all devices, gathered, and copied to each of them, beside a loop of hipMemcpyAsync. Every
// copy is verified.
//
//   peer_copies [ROWS [SECONDS [several]]]
//
// ROWS is the side of the square matrices of float, a power of two and 64 or more (default 16384:
// 1 GiB), SECONDS the time of each measurement (default 0.3). With `several` the pairs are left
// out. Without two devices the exit code is 77.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <roc/native.hpp>
#include <roc/roc.hpp>

namespace {

using clock_type = std::chrono::steady_clock;
using matrix = roc::device_array<float, 2>;
using view = roc::device_view<float, 2>;

double measured_seconds = 0.3;

void check(hipError_t result) {
  if (result != hipSuccess) throw std::runtime_error(hipGetErrorString(result));
}

// Returns the median time of f() in seconds, after two calls that are not measured.
double median_seconds(std::function<void()> const& f) {
  constexpr std::size_t min_samples = 11;
  for (int i = 0; i < 2; ++i) f();
  std::vector<double> samples;
  double total = 0;
  while (samples.size() < min_samples || total < measured_seconds) {
    auto const begin = clock_type::now();
    f();
    samples.push_back(std::chrono::duration<double>(clock_type::now() - begin).count());
    total += samples.back();
    if (samples.size() >= 100'000) break;
  }
  std::nth_element(samples.begin(), samples.begin() + samples.size() / 2, samples.end());
  return samples[samples.size() / 2];
}

matrix matrix_on(int device, std::size_t rows, std::size_t columns) {
  roc::device_guard const guard{roc::device(device)};
  return matrix({rows, columns});
}

roc::stream stream_on(int device) {
  roc::device_guard const guard{roc::device(device)};
  return roc::stream();
}

// Two matrices on two devices, and a stream of each device.
struct device_pair {
  device_pair(int from_device, int to_device, std::size_t rows)
      : from(from_device),
        to(to_device),
        side(rows),
        source(matrix_on(from, side, side)),
        destination(matrix_on(to, side, side)),
        source_stream(stream_on(from)),
        destination_stream(stream_on(to)) {
    numbers.resize(side * side);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(i % 16'777'213);  // exact in a float
    }
    roc::copy(roc::host_view<float const, 2>(numbers.data(), {side, side}), source);
  }

  int from;
  int to;
  std::size_t side;
  matrix source;
  matrix destination;
  roc::stream source_stream;
  roc::stream destination_stream;
  std::vector<float> numbers;  // of the source
};

// Exits with an error unless the destination has the elements of the source, and no others have
// changed.
void verify(device_pair& pair, view const& from, view const& to,
            std::function<void()> const& copy) {
  pair.destination.fill(-1);
  copy();
  roc::host_array<float, 2> expected_part(from.shape());
  roc::copy(from, expected_part);
  roc::host_array<float, 2> expected({pair.side, pair.side});
  std::fill_n(expected.data(), expected.size(), -1.0f);
  auto const offset = to.data() - pair.destination.data();
  for (std::size_t i = 0; i < to.extent(0); ++i) {
    for (std::size_t j = 0; j < to.extent(1); ++j) {
      expected.data()[offset + static_cast<std::ptrdiff_t>(i) * to.stride(0) +
                      static_cast<std::ptrdiff_t>(j) * to.stride(1)] = expected_part(i, j);
    }
  }
  auto const seen = pair.destination.copy_to_host();
  if (std::equal(seen.data(), seen.data() + seen.size(), expected.data())) return;
  std::printf("WRONG RESULT\n");
  std::exit(1);
}

void print(device_pair const& pair, char const* name, double ours, double reference,
           char const* unit) {
  std::printf("%d -> %d  %-54s %9.2f %9.2f %s  %5.2f\n", pair.from, pair.to, name, ours, reference,
              unit, reference > 0 ? ours / reference : 0);
  std::fflush(stdout);
}

// Measures the copy of a view on a stream of each device, and by a call of HIP if there is one, or
// else beside `reference_rate`, in GB/s. Returns HIP's rate.
double measure_rate(device_pair& pair, char const* name, view const& from, view const& to,
                    roc::copy_options const& options, std::function<void(hipStream_t)> const& raw,
                    double reference_rate) {
  double const gigabytes = static_cast<double>(from.size_bytes()) / 1e9;
  if (raw) {
    roc::device_guard const guard{roc::device(pair.from)};
    auto const run = [&] {
      raw(roc::native(pair.source_stream));
      pair.source_stream.synchronize();
    };
    verify(pair, from, to, run);
    reference_rate = gigabytes / median_seconds(run);
  }
  for (bool const by_source : {true, false}) {
    roc::stream const& stream = by_source ? pair.source_stream : pair.destination_stream;
    roc::device_guard const guard{roc::device(by_source ? pair.from : pair.to)};
    auto const run = [&] {
      roc::copy(from, to, stream, options);
      stream.synchronize();
    };
    verify(pair, from, to, run);
    std::string const title =
        std::string(name) + (by_source ? ", from the source" : ", from the destination");
    print(pair, title.c_str(), gigabytes / median_seconds(run), reference_rate, "GB/s");
  }
  return reference_rate;
}

std::function<void(hipStream_t)> raw_rows(view const& from, view const& to) {
  return [=](hipStream_t stream) {
    check(hipMemcpy2DAsync(to.data(), static_cast<std::size_t>(to.stride(0)) * sizeof(float),
                           from.data(), static_cast<std::size_t>(from.stride(0)) * sizeof(float),
                           from.extent(1) * sizeof(float), from.extent(0), hipMemcpyDeviceToDevice,
                           stream));
  };
}

// Times of a short copy, with a stream and without. The ratio is that of the times.
void measure_time(device_pair& pair, char const* name, view const& from, view const& to,
                  std::function<void(hipStream_t)> const& raw) {
  roc::device_guard const guard{roc::device(pair.from)};
  auto const on_stream = [&] {
    roc::copy(from, to, pair.source_stream);
    pair.source_stream.synchronize();
  };
  auto const without_stream = [&] { roc::copy(from, to); };
  auto const by_hip = [&] {
    raw(roc::native(pair.source_stream));
    pair.source_stream.synchronize();
  };
  verify(pair, from, to, on_stream);
  verify(pair, from, to, without_stream);
  verify(pair, from, to, by_hip);
  double const reference = median_seconds(by_hip) * 1e6;
  std::string const title(name);
  print(pair, (title + ", on a stream").c_str(), median_seconds(on_stream) * 1e6, reference,
        "us  ");
  print(pair, (title + ", no stream").c_str(), median_seconds(without_stream) * 1e6, reference,
        "us  ");
}

void measure_pair(int from_device, int to_device, std::size_t side) {
  device_pair pair(from_device, to_device, side);
  auto const part = [&](std::size_t columns) {
    return roc::slice(0, static_cast<std::ptrdiff_t>(columns));
  };
  view const source = pair.source;
  view const destination = pair.destination;
  double const contiguous = measure_rate(
      pair, "contiguous", source, destination, {},
      [&](hipStream_t stream) {
        check(hipMemcpyAsync(destination.data(), source.data(), source.size_bytes(),
                             hipMemcpyDeviceToDevice, stream));
      },
      0);
  auto const left = [&](view const& whole, std::size_t columns) {
    return view(whole(roc::all, part(columns)));
  };
  measure_rate(pair, "half of the columns", left(source, side / 2), left(destination, side / 2), {},
               raw_rows(left(source, side / 2), left(destination, side / 2)), 0);
  std::printf("        (reference: the contiguous copy)\n");
  measure_rate(pair, "half of the columns by a kernel", left(source, side / 2),
               left(destination, side / 2), {.path = roc::copy_path::kernel}, {}, contiguous);
  measure_rate(pair, "transposed", source, destination.transpose(), {}, {}, contiguous);
  measure_rate(pair, "rows of 4094 of 4096 floats, shifted",
               source.reshape(side * side / 4096, 4096)(roc::all, roc::slice(1, 4095)),
               destination.reshape(side * side / 4096, 4096)(roc::all, roc::slice(2, 4096)), {}, {},
               contiguous);
  std::printf("        (times: below 1 is faster than HIP)\n");
  view const few_from = source(roc::slice(0, 1), part(std::min<std::size_t>(1024, side)));
  view const few_to = destination(roc::slice(0, 1), part(std::min<std::size_t>(1024, side)));
  measure_time(pair, "4 KiB contiguous", few_from, few_to, [&](hipStream_t stream) {
    check(hipMemcpyAsync(few_to.data(), few_from.data(), few_from.size_bytes(),
                         hipMemcpyDeviceToDevice, stream));
  });
  measure_time(pair, "one column", left(source, 1), left(destination, 1),
               raw_rows(left(source, 1), left(destination, 1)));
}

// Rows at twice their length: a kernel and the copy engines, beside HIP's call.
void measure_rows(int from_device, int to_device, std::size_t side) {
  device_pair pair(from_device, to_device, std::min<std::size_t>(side, 8192));
  view const source = pair.source;
  view const destination = pair.destination;
  std::printf("        (rows at twice their length: kernel and copy engine, reference: HIP)\n");
  for (std::size_t bytes : {64u, 256u, 512u, 1024u, 2048u, 4096u, 16384u}) {
    std::size_t const columns = bytes / sizeof(float);
    if (2 * columns > pair.side) break;
    std::size_t const rows = pair.side * pair.side / (2 * columns);
    view const from = source.reshape(rows, 2 * columns)(
        roc::all, roc::slice(0, static_cast<std::ptrdiff_t>(columns)));
    view const to = destination.reshape(rows, 2 * columns)(
        roc::all, roc::slice(0, static_cast<std::ptrdiff_t>(columns)));
    for (roc::copy_path const path : {roc::copy_path::kernel, roc::copy_path::dma_2d}) {
      std::string const name = "rows of " + std::to_string(bytes) + " B, " + to_string(path);
      measure_rate(pair, name.c_str(), from, to, {.path = path}, raw_rows(from, to), 0);
    }
  }
}

// Exits with an error unless both views have the same elements, whatever their layouts.
void verify_equal(view const& expected, view const& seen) {
  roc::host_array<float, 2> left(expected.shape());
  roc::host_array<float, 2> right(seen.shape());
  roc::copy(expected, left);
  roc::copy(seen, right);
  if (std::equal(left.data(), left.data() + left.size(), right.data())) return;
  std::printf("WRONG RESULT\n");
  std::exit(1);
}

// Both directions at once, on a stream of each device.
void measure_both_ways(int first, int second, std::size_t side) {
  device_pair there(first, second, side);
  device_pair back(second, first, side);
  auto const on_both = [&](std::function<void(device_pair&)> const& f) {
    for (device_pair* pair : {&there, &back}) {
      roc::device_guard const guard{roc::device(pair->from)};
      f(*pair);
    }
  };
  using part = std::function<view(matrix const&)>;
  using copy_function = std::function<void(view const& from, view const& to, roc::stream const&)>;
  // Returns the sum of the rates of copies from `from` of a source to `to` of a destination.
  auto const rate = [&](part const& from, part const& to, copy_function const& copy) {
    on_both([](device_pair& pair) { pair.destination.fill(-1); });
    double const seconds = median_seconds([&] {
      on_both([&](device_pair& pair) {
        copy(from(pair.source), to(pair.destination), pair.source_stream);
      });
      there.source_stream.synchronize();
      back.source_stream.synchronize();
    });
    on_both([&](device_pair& pair) { verify_equal(from(pair.source), to(pair.destination)); });
    return 2 * static_cast<double>(from(there.source).size_bytes()) / 1e9 / seconds;
  };
  part const whole = [](matrix const& array) { return array.view(); };
  part const half = [&](matrix const& array) {
    return view(array(roc::all, roc::slice(0, static_cast<std::ptrdiff_t>(side / 2))));
  };
  part const transposed = [](matrix const& array) { return array.transpose(); };
  double const contiguous =
      rate(whole, whole, [](view const& from, view const& to, roc::stream const& stream) {
        check(hipMemcpyAsync(to.data(), from.data(), from.size_bytes(), hipMemcpyDeviceToDevice,
                             roc::native(stream)));
      });
  std::printf("        (both directions at once, sum; reference: the contiguous copy by HIP)\n");
  auto const measure = [&](char const* name, part const& from, part const& to,
                           roc::copy_options const& options) {
    double const ours =
        rate(from, to, [&](view const& source, view const& destination, roc::stream const& stream) {
          roc::copy(source, destination, stream, options);
        });
    print(there, name, ours, contiguous, "GB/s");
  };
  measure("contiguous, both ways", whole, whole, {});
  measure("half of the columns, both ways", half, half, {});
  measure("half of the columns by kernels, both ways", half, half,
          {.path = roc::copy_path::kernel});
  measure("transposed, both ways", whole, transposed, {});
}

// Copies of a matrix to or from several devices: by rocarray, with and without streams, and by one
// hipMemcpyAsync for each device. Rates count the bytes of all devices.
class several_devices {
 public:
  // Parts, and whole copies, on the devices [first_device, count); the whole matrix is on device 0.
  several_devices(int first_device, std::size_t rows, std::size_t columns)
      : whole_(matrix_on(0, rows, columns)),
        pinned_({rows, columns}, roc::order::c, roc::host_memory::pinned),
        pageable_(rows * columns),
        name_(std::to_string(rows * columns * sizeof(float) >> 10) + " KiB") {
    for (int i = first_device; i < roc::device::count(); ++i) devices_.emplace_back(i);
    for (std::size_t i = 0; i != pageable_.size(); ++i) {
      pageable_[i] = static_cast<float>(i % 16'777'213);  // exact in a float
    }
    std::copy(pageable_.begin(), pageable_.end(), pinned_.data());
    parts_ = roc::split_to_devices(pinned_, devices_);
    for (roc::device const& device : devices_) {
      streams_.push_back(stream_on(device.ordinal()));
      copies_.push_back(matrix_on(device.ordinal(), rows, columns));
    }
  }

  void measure_split() {
    roc::copy(pinned_, whole_);
    auto const is_correct = [&] {
      auto const seen = roc::gather_to_host(parts_);
      return std::equal(pageable_.begin(), pageable_.end(), seen.data());
    };
    auto const by_hip = [&](float const* source) {
      for_each_part([&](matrix const& part, std::size_t first, hipStream_t stream) {
        check(hipMemcpyAsync(part.data(), source + first, part.size_bytes(), hipMemcpyDefault,
                             stream));
      });
    };
    auto const measure_from = [&](char const* name, auto const& source, float const* data) {
      measure(
          name, 1, [&] { clear(parts_); }, [&] { roc::split_to_devices(source, parts_); },
          [&] { roc::split_to_devices(source, parts_, 0, streams_); }, [&] { by_hip(data); },
          is_correct);
    };
    measure_from("split from a device", whole_, whole_.data());
    measure_from("split from pinned memory", pinned_, pinned_.data());
    measure_from("split from pageable memory", pageable_, pageable_.data());
  }

  void measure_gather() {
    roc::split_to_devices(pageable_, parts_);
    auto const by_hip = [&](float* destination) {
      for_each_part([&](matrix const& part, std::size_t first, hipStream_t stream) {
        check(hipMemcpyAsync(destination + first, part.data(), part.size_bytes(), hipMemcpyDefault,
                             stream));
      });
    };
    std::vector<float> pageable(pageable_.size());
    auto const measure_to = [&](char const* name, auto& destination, float* data, auto fill) {
      auto const is_correct = [&] {
        std::vector<float> seen(pageable_.size());
        roc::copy(destination, seen);
        return seen == pageable_;
      };
      measure(
          name, 1, fill, [&] { roc::gather(parts_, destination); },
          [&] { roc::gather(parts_, destination, 0, streams_); }, [&] { by_hip(data); },
          is_correct);
    };
    measure_to("gather to a device", whole_, whole_.data(), [&] { whole_.fill(-1); });
    measure_to("gather to pinned memory", pinned_, pinned_.data(),
               [&] { std::fill_n(pinned_.data(), pinned_.size(), -1.0f); });
    measure_to("gather to pageable memory", pageable, pageable.data(),
               [&] { std::fill(pageable.begin(), pageable.end(), -1.0f); });
  }

  void measure_broadcast() {
    std::copy(pageable_.begin(), pageable_.end(), pinned_.data());
    roc::copy(pinned_, whole_);
    auto const is_correct = [&] {
      std::vector<float> seen(pageable_.size());
      return std::all_of(copies_.begin(), copies_.end(), [&](matrix const& copy) {
        roc::copy(copy, seen);
        return seen == pageable_;
      });
    };
    auto const measure_from = [&](char const* name, auto const& source, float const* data) {
      measure(
          name, static_cast<double>(copies_.size()), [&] { clear(copies_); },
          [&] { roc::broadcast(source, copies_); },
          [&] { roc::broadcast(source, copies_, streams_); },
          [&] {
            for (std::size_t i = 0; i != copies_.size(); ++i) {
              roc::device_guard const guard{devices_[i]};
              check(hipMemcpyAsync(copies_[i].data(), data, copies_[i].size_bytes(),
                                   hipMemcpyDefault, roc::native(streams_[i])));
            }
          },
          is_correct);
    };
    measure_from("broadcast from a device", whole_, whole_.data());
    measure_from("broadcast from pinned memory", pinned_, pinned_.data());
    measure_from("broadcast from pageable memory", pageable_, pageable_.data());
  }

 private:
  static void clear(std::vector<matrix> const& arrays) {
    for (matrix const& array : arrays) array.fill(-1);
  }
  void synchronize() const {
    for (roc::stream const& stream : streams_) stream.synchronize();
  }
  // Calls f(part, index of its first element, stream), with the part's device current.
  template <class F>
  void for_each_part(F f) const {
    std::size_t first = 0;
    for (std::size_t i = 0; i != parts_.size(); ++i) {
      roc::device_guard const guard{devices_[i]};
      f(parts_[i], first, roc::native(streams_[i]));
      first += parts_[i].size();
    }
  }

  // The functions without `by_hip` and `on_streams` are complete on return. `share` is the number
  // of bytes of the copies, in those of the matrix.
  void measure(std::string const& name, double share, std::function<void()> const& clear,
               std::function<void()> const& without_streams,
               std::function<void()> const& on_streams, std::function<void()> const& by_hip,
               std::function<bool()> const& is_correct) const {
    double const gigabytes = share * static_cast<double>(whole_.size_bytes()) / 1e9;
    auto const rate = [&](std::function<void()> const& f) {
      clear();
      f();
      if (!is_correct()) {
        std::printf("WRONG RESULT\n");
        std::exit(1);
      }
      return gigabytes / median_seconds(f);
    };
    double const reference = rate([&] {
      by_hip();
      synchronize();
    });
    print(name + ", no streams", rate(without_streams), reference);
    print(name + ", on streams", rate([&] {
            on_streams();
            synchronize();
          }),
          reference);
  }
  void print(std::string const& name, double ours, double reference) const {
    std::printf("%zu devices, %-12s %-44s %9.2f %9.2f GB/s  %5.2f\n", devices_.size(),
                name_.c_str(), name.c_str(), ours, reference, ours / reference);
    std::fflush(stdout);
  }

  std::vector<roc::device> devices_;
  matrix whole_;
  roc::host_array<float, 2> pinned_;
  std::vector<float> pageable_;
  std::string name_;
  std::vector<matrix> parts_;
  std::vector<matrix> copies_;
  std::vector<roc::stream> streams_;
};

void measure_several_devices(std::size_t rows, std::size_t columns) {
  several_devices all(0, rows, columns);
  all.measure_split();
  all.measure_gather();
  several_devices(1, rows, columns).measure_broadcast();
}

char const* name_of(roc::peer_link_type type) {
  switch (type) {
    case roc::peer_link_type::same_device: return "same device";
    case roc::peer_link_type::unknown: return "unknown link";
    case roc::peer_link_type::pcie: return "PCI Express";
    case roc::peer_link_type::gpu_fabric: return "link between GPUs";
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t const side = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 16384;
  if (argc > 2) measured_seconds = std::strtod(argv[2], nullptr);
  if (side < 64 || !std::has_single_bit(side)) {
    std::printf("peer_copies: ROWS is %s; use a power of two, 64 or more\n", argv[1]);
    return 1;
  }
  bool const several_only = argc > 3;
  if (several_only && std::string(argv[3]) != "several") {
    std::printf("peer_copies: \"%s\" is not `several`\n", argv[3]);
    return 1;
  }
  int const devices = roc::device::count();
  if (devices < 2) {
    std::printf("peer_copies needs two devices; there are %d\n", devices);
    return 77;
  }
  for (int i = 0; i < devices; ++i) {
    for (int j = 0; j < devices; ++j) {
      if (i == j) continue;
      roc::peer_link const link = roc::device(i).link_to(roc::device(j));
      std::printf("%d -> %d  %s, rank %d, access %d, atomics %d, hops %d\n", i, j,
                  name_of(link.type), link.performance_rank, link.has_access,
                  link.has_native_atomics, link.hops);
      // HIP's own calls take the direct way too then.
      if (link.has_access) roc::device(i).enable_access(roc::device(j));
    }
  }
  if (!several_only) {
    std::printf("\n%zu x %zu floats\nfrom to %-54s %9s %9s       ratio\n", side, side, "case",
                "rocarray", "reference");
  }
  for (int i = 0; i < devices && !several_only; ++i) {
    for (int j = 0; j < devices; ++j) {
      if (i == j) continue;
      measure_pair(i, j, side);
      measure_rows(i, j, side);
    }
    for (int j = i + 1; j < devices; ++j) measure_both_ways(i, j, side);
  }
  std::printf("\n%-72s %9s %9s       ratio\n",
              "several devices (reference: a loop of hipMemcpyAsync)", "rocarray", "reference");
  measure_several_devices(side, side);
  if (side > 1024) {
    measure_several_devices(64, 1024);
    measure_several_devices(4096, 1024);
  }
}
