// SPDX-License-Identifier: MIT
// Cases of collective operations between all devices, in one process: contiguous arrays and views
// with gaps between the rows, beside the calls of RCCL, NCCL or the host platform's own library.
// Sizes and bus bandwidths are those of NCCL's tests.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <roc/interop/collectives.hpp>
#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "verification.hpp"

namespace rocbench {
namespace {

#if ROCARRAY_PLATFORM_HOST
using namespace roc::host_ccl;
#endif

enum class collective : unsigned char {
  all_reduce,
  broadcast,
  reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  send_receive,
};

void check_call(ncclResult_t result, char const* call) {
  if (result == ncclSuccess) return;
  throw std::runtime_error(fmt::format("{} failed: {}", call, ncclGetErrorString(result)));
}

// Calls f() between ncclGroupStart and ncclGroupEnd.
template <class F>
void in_raw_group(F const& f) {
  check_call(ncclGroupStart(), "ncclGroupStart");
  f();
  check_call(ncclGroupEnd(), "ncclGroupEnd");
}

// A communicator of the library that roc::collective_communicator uses, with a rank for each
// device.
class raw_communicator {
 public:
  explicit raw_communicator(int size) : ranks_(static_cast<std::size_t>(size), nullptr) {
    ncclUniqueId id{};
    check_call(ncclGetUniqueId(&id), "ncclGetUniqueId");
    in_raw_group([&] {
      for (int rank = 0; rank < size; ++rank) {
        roc::device_guard const guard{roc::device(rank)};
#ifdef NCCL_CONFIG_INITIALIZER
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
#else
        ncclConfig_t config{};
#endif
        check_call(ncclCommInitRankConfig(&ranks_[static_cast<std::size_t>(rank)], size, id, rank,
                                          &config),
                   "ncclCommInitRankConfig");
      }
    });
  }
  raw_communicator(raw_communicator const&) = delete;
  raw_communicator& operator=(raw_communicator const&) = delete;
  ~raw_communicator() {
    for (ncclComm_t rank : ranks_) {
      if (rank != nullptr) static_cast<void>(ncclCommDestroy(rank));
    }
  }

  ncclComm_t operator[](std::size_t rank) const { return ranks_[rank]; }

 private:
  std::vector<ncclComm_t> ranks_;
};

// An operand: a matrix of floats, whose rows are `pitch` elements apart.
struct matrix_layout {
  std::size_t rows;
  std::size_t columns;
  std::size_t pitch;

  std::size_t count() const { return rows * columns; }
  std::size_t span_bytes() const { return ((rows - 1) * pitch + columns) * sizeof(float); }
  // Returns the position of an element, in elements.
  std::size_t position(std::size_t index) const {
    return index / columns * pitch + index % columns;
  }
  image_layout positions() const {
    return rows_layout(count() * sizeof(float), columns * sizeof(float), pitch * sizeof(float))
        .destination.positions;
  }
};

// Returns an element of a rank's source. Sums over all ranks are exact.
float source_value(std::size_t rank, std::size_t index, std::uint64_t sample) {
  return static_cast<float>((index * 7 + rank * 31 + sample * 13) % 1021);
}

struct rank_state {
  rank_state(int device_ordinal, matrix_layout const& from, matrix_layout const& to)
      : device(device_ordinal),
        source(memory_kind::device, from.span_bytes(), api_kind::library, device_ordinal),
        destination(memory_kind::device, to.span_bytes(), api_kind::library, device_ordinal),
        stream(stream_on(device)) {}

  static roc::stream stream_on(roc::device const& device) {
    roc::device_guard const guard(device);
    return roc::stream();
  }

  roc::device device;
  guarded_buffer source;
  guarded_buffer destination;
  roc::stream stream;
};

class collective_experiment final : public experiment {
 public:
  collective_experiment(collective operation, api_kind api, bool has_gaps,
                        case_parameters const& parameters)
      : experiment({timing_method::wall_clock, 0, 0,
                    api == api_kind::raw ? raw_path
                    : has_gaps           ? "packed"
                                         : raw_path,
                    max_executions}),
        operation_(operation),
        size_(static_cast<std::size_t>(roc::device::count())) {
    // All blocks of a rank have as many rows.
    std::size_t const elements = parameters.bytes / sizeof(float);
    std::size_t const columns =
        std::max<std::size_t>(std::min(parameters.row / sizeof(float), elements / size_), 1);
    std::size_t const rows = std::max(elements / columns / size_, std::size_t{1}) * size_;
    std::size_t const pitch = has_gaps ? columns + std::max<std::size_t>(columns / 8, 1) : columns;
    whole_ = {rows, columns, pitch};
    block_ = {rows / size_, columns, pitch};
    properties_.bytes = whole_.count() * sizeof(float);
    properties_.counted_bytes = properties_.bytes;
    for (std::size_t rank = 0; rank < size_; ++rank)
      ranks_.push_back(std::make_unique<rank_state>(static_cast<int>(rank), from(), to()));
    if (api == api_kind::raw) {
      raw_.emplace(static_cast<int>(size_));
    } else {
      std::vector<roc::device> devices;
      for (auto const& rank : ranks_) devices.push_back(rank->device);
      library_ = roc::collective_communicator::for_devices(devices);
    }
  }

  roc::stream_ref stream() const override { return ranks_.front()->stream; }

  void prepare(std::uint64_t sample) override {
    for (std::size_t rank = 0; rank < size_; ++rank) {
      rank_state& state = *ranks_[rank];
      write(state.source, from(), sample,
            [&](std::size_t index) { return std::optional(source_value(rank, index, sample)); });
      bool const is_root_of_broadcast = operation_ == collective::broadcast && rank == 0;
      write(state.destination, to(), sample, [&](std::size_t index) {
        return is_root_of_broadcast ? std::optional(source_value(rank, index, sample))
                                    : std::nullopt;
      });
    }
  }

  void run(std::size_t times) override {
    for (std::size_t i = 0; i < times; ++i) {
      if (raw_) {
        in_raw_group([&] {
          for (std::size_t rank = 0; rank < size_; ++rank) call_raw(rank);
        });
      } else {
        roc::collective_group group;
        for (std::size_t rank = 0; rank < size_; ++rank) call_library(rank);
        group.end();
      }
    }
    for (auto const& rank : ranks_) rank->stream.synchronize();
  }

  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    for (std::size_t rank = 0; rank < size_; ++rank) {
      if (auto difference = check_rank(rank, sample, inject)) return difference;
    }
    return std::nullopt;
  }

 private:
#if ROCARRAY_PLATFORM_AMD
  static constexpr char const* raw_path = "RCCL";
#elif ROCARRAY_PLATFORM_NVIDIA
  static constexpr char const* raw_path = "NCCL";
#else
  static constexpr char const* raw_path = "host";
#endif
  // So many operations can be enqueued without a wait, on the host platform too.
  static constexpr std::size_t max_executions = 256;

  matrix_layout const& from() const {
    return operation_ == collective::all_gather ? block_ : whole_;
  }
  matrix_layout const& to() const {
    return operation_ == collective::reduce_scatter ? block_ : whole_;
  }

  // Returns the element that the operation leaves at a rank; nullopt if it writes nothing there.
  std::optional<float> expected_value(std::size_t rank, std::size_t index,
                                      std::uint64_t sample) const {
    auto const sum = [&](std::size_t position) {
      float result = 0;
      for (std::size_t other = 0; other < size_; ++other)
        result += source_value(other, position, sample);
      return result;
    };
    std::size_t const block = block_.count();
    switch (operation_) {
      case collective::all_reduce: return sum(index);
      case collective::broadcast: return source_value(0, index, sample);
      case collective::reduce: return rank == 0 ? std::optional(sum(index)) : std::nullopt;
      case collective::all_gather: return source_value(index / block, index % block, sample);
      case collective::reduce_scatter: return sum(rank * block + index);
      case collective::all_to_all:
        return source_value(index / block, rank * block + index % block, sample);
      case collective::send_receive: return source_value((rank + size_ - 1) % size_, index, sample);
    }
    return std::nullopt;
  }

  // Returns the bytes of an allocation: value(index) where it is set, and poison.
  template <class Value>
  static std::vector<std::byte> contents_of(guarded_buffer const& buffer,
                                            matrix_layout const& layout, std::uint64_t sample,
                                            Value const& value) {
    std::vector<std::byte> bytes(buffer.allocation_bytes(), std::byte{poison_byte(sample)});
    for (std::size_t index = 0; index < layout.count(); ++index) {
      std::optional<float> const element = value(index);
      if (!element) continue;
      std::memcpy(bytes.data() + guard_bytes + layout.position(index) * sizeof(float), &*element,
                  sizeof(float));
    }
    return bytes;
  }

  template <class Value>
  static void write(guarded_buffer& buffer, matrix_layout const& layout, std::uint64_t sample,
                    Value const& value) {
    auto const bytes = contents_of(buffer, layout, sample, value);
    roc::device_guard const guard{roc::device(buffer.device_ordinal())};
    ROCARRAY_HIP(hipMemcpy, buffer.allocation(), bytes.data(), bytes.size(), hipMemcpyHostToDevice);
    // The copy may return before the device has the bytes.
    ROCARRAY_HIP(hipDeviceSynchronize);
  }

  std::optional<std::string> check_rank(std::size_t rank, std::uint64_t sample,
                                        injection_site inject) {
    guarded_buffer& buffer = ranks_[rank]->destination;
    roc::device_guard const guard(ranks_[rank]->device);
    image const positions = destination_image(buffer, to().positions(), sample);
    corrupt_byte(buffer, positions, inject);
    auto const expected = contents_of(buffer, to(), sample, [&](std::size_t index) {
      return expected_value(rank, index, sample);
    });
    // If the copy back does nothing, the check must fail.
    std::vector<std::byte> actual(expected.size(), ~expected.front());
    ROCARRAY_HIP(hipMemcpy, actual.data(), buffer.allocation(), actual.size(),
                 hipMemcpyDeviceToHost);
    auto const [wrong, right] = std::ranges::mismatch(actual, expected);
    if (wrong == actual.end()) return std::nullopt;
    auto const offset = static_cast<std::uint64_t>(wrong - actual.begin());
    segment const bytes = segment_at(positions, offset);
    if (!bytes.is_payload)
      return fmt::format("rank {}, {}", rank, describe_mismatch(positions, offset, *wrong));
    return fmt::format("rank {}, sample {}: payload byte {} is 0x{:02x}, not 0x{:02x}", rank,
                       sample, bytes.index, std::to_integer<unsigned>(*wrong),
                       std::to_integer<unsigned>(*right));
  }

  roc::device_view<float, 2> view_of(guarded_buffer& buffer, matrix_layout const& layout) const {
    return {reinterpret_cast<float*>(buffer.payload()), roc::shape<2>{layout.rows, layout.columns},
            roc::strides<2>{static_cast<std::ptrdiff_t>(layout.pitch), 1}, buffer.device_ordinal()};
  }

  void call_library(std::size_t rank) {
    rank_state& state = *ranks_[rank];
    roc::collective_communicator const& communicator = library_[rank];
    auto const source = view_of(state.source, from());
    auto const destination = view_of(state.destination, to());
    constexpr auto sum = roc::reduction::sum;
    switch (operation_) {
      case collective::all_reduce:
        return communicator.all_reduce(source, destination, sum, state.stream);
      case collective::broadcast: return communicator.broadcast(destination, 0, state.stream);
      case collective::reduce:
        return communicator.reduce(source, destination, 0, sum, state.stream);
      case collective::all_gather:
        return communicator.all_gather(source, destination, state.stream);
      case collective::reduce_scatter:
        return communicator.reduce_scatter(source, destination, sum, state.stream);
      case collective::all_to_all:
        return communicator.all_to_all(source, destination, state.stream);
      case collective::send_receive:
        communicator.send(source, static_cast<int>((rank + 1) % size_), state.stream);
        communicator.receive(destination, static_cast<int>((rank + size_ - 1) % size_),
                             state.stream);
    }
  }

  // Precondition: the operands have no gaps.
  void call_raw(std::size_t rank) {
    rank_state& state = *ranks_[rank];
    roc::device_guard const guard(state.device);
    ncclComm_t const communicator = (*raw_)[rank];
    hipStream_t const stream = roc::native(state.stream);
    auto const* const source = reinterpret_cast<float const*>(state.source.payload());
    auto* const destination = reinterpret_cast<float*>(state.destination.payload());
    std::size_t const count = whole_.count();
    std::size_t const block = block_.count();
    switch (operation_) {
      case collective::all_reduce:
        return check_call(
            ncclAllReduce(source, destination, count, ncclFloat32, ncclSum, communicator, stream),
            "ncclAllReduce");
      case collective::broadcast:
        return check_call(
            ncclBroadcast(destination, destination, count, ncclFloat32, 0, communicator, stream),
            "ncclBroadcast");
      case collective::reduce:
        return check_call(
            ncclReduce(source, destination, count, ncclFloat32, ncclSum, 0, communicator, stream),
            "ncclReduce");
      case collective::all_gather:
        return check_call(
            ncclAllGather(source, destination, block, ncclFloat32, communicator, stream),
            "ncclAllGather");
      case collective::reduce_scatter:
        return check_call(ncclReduceScatter(source, destination, block, ncclFloat32, ncclSum,
                                            communicator, stream),
                          "ncclReduceScatter");
      case collective::all_to_all:
        for (std::size_t other = 0; other < size_; ++other) {
          check_call(ncclSend(source + other * block, block, ncclFloat32, static_cast<int>(other),
                              communicator, stream),
                     "ncclSend");
          check_call(ncclRecv(destination + other * block, block, ncclFloat32,
                              static_cast<int>(other), communicator, stream),
                     "ncclRecv");
        }
        return;
      case collective::send_receive:
        check_call(ncclSend(source, count, ncclFloat32, static_cast<int>((rank + 1) % size_),
                            communicator, stream),
                   "ncclSend");
        check_call(ncclRecv(destination, count, ncclFloat32,
                            static_cast<int>((rank + size_ - 1) % size_), communicator, stream),
                   "ncclRecv");
    }
  }

  collective operation_;
  std::size_t size_;
  matrix_layout whole_{};
  matrix_layout block_{};
  std::vector<std::unique_ptr<rank_state>> ranks_;
  // Declared after the memory and the streams that pending operations use.
  std::vector<roc::collective_communicator> library_;
  std::optional<raw_communicator> raw_;
};

enum class bus_use : unsigned char { as_often, without_own_block, there_and_back };

// Returns the bus bandwidth divided by the algorithm bandwidth.
double bus_factor(bus_use use, int size) {
  double const others = static_cast<double>(size - 1) / size;
  return use == bus_use::as_often ? 1 : use == bus_use::without_own_block ? others : 2 * others;
}

constexpr struct {
  collective operation;
  char const* name;
  bus_use use;
} operations[] = {
    {collective::all_reduce, "all_reduce", bus_use::there_and_back},
    {collective::broadcast, "broadcast", bus_use::as_often},
    {collective::reduce, "reduce", bus_use::as_often},
    {collective::all_gather, "all_gather", bus_use::without_own_block},
    {collective::reduce_scatter, "reduce_scatter", bus_use::without_own_block},
    {collective::all_to_all, "all_to_all", bus_use::without_own_block},
    {collective::send_receive, "send_receive", bus_use::as_often},
};

constexpr std::size_t usual_bytes = std::size_t{32} << 20;

}  // namespace

void add_collective_cases(case_vector& cases) {
  int const devices = roc::device::count();
  if (devices < 2) return;
  for (auto const& [operation, name, use] : operations) {
    for (bool const has_gaps : {false, true}) {
      std::string const description =
          fmt::format("{} of floats, {} devices{}", name, devices, has_gaps ? ", rows" : "");
      add_with_raw(cases,
                   {fmt::format("collective/{}{}", name, has_gaps ? "/rows" : ""),
                    description,
                    accounting::payload,
                    limiting_resource::device_link,
                    false,
                    {},
                    usual_bytes,
                    {},
                    bus_factor(use, devices)},
                   description + ", raw",
                   [=, operation = operation](api_kind api, case_parameters const& parameters) {
                     return std::make_unique<collective_experiment>(operation, api, has_gaps,
                                                                    parameters);
                   });
      if (has_gaps) cases.pop_back();
    }
  }
}

}  // namespace rocbench
