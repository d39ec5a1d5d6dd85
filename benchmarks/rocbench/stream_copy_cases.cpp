// SPDX-License-Identifier: MIT
// Cases of copies on streams and in several threads: rates of pageable memory on one stream, on two
// and in a pipeline of tiles, and the time until the call returns.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <roc/native.hpp>
#include <roc/roc.hpp>

#include "platform/call.hpp"
#include "stopwatch.hpp"
#include "transfer.hpp"

namespace rocbench {
namespace {

using enum memory_kind;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

// ---- One copy on a stream, then a wait ----

constexpr struct {
  operand_pair operands;
  char const* description;
  call_kind call;
  bool has_rows = false;
} stream_copies[] = {
    {{"async/h2d/pageable", pageable, device},
     "pageable host to device, on a stream",
     call_kind::on_stream},
    {{"async/h2d/borrowed", pageable, device, false},
     "pageable host to device, borrowed",
     call_kind::borrowed},
    {{"async/d2h/pageable", device, pageable},
     "device to pageable host, on a stream",
     call_kind::on_stream},
    {{"async/rows/h2d/borrowed", pageable, device, false},
     "rows, pageable host to device, borrowed",
     call_kind::borrowed,
     true},
    {{"async/rows/d2h/pageable", device, pageable, false},
     "rows, device to pageable host",
     call_kind::on_stream,
     true},
};

// ---- Both directions ----

// One thread enqueues half of the bytes to the device on one stream, then half to the host on
// another.
std::unique_ptr<experiment> make_both_ways(api_kind api, call_kind to_device, std::size_t bytes) {
  copy_layout const half = contiguous_layout(std::max<std::size_t>(bytes / 2, 1));
  std::vector<std::unique_ptr<buffer_experiment>> transfers;
  transfers.push_back(make_transfer({"", pageable, device}, api, to_device, half));
  transfers.push_back(make_transfer({"", device, pageable}, api, call_kind::enqueued, half));
  return make_concurrent(std::move(transfers), concurrency::streams);
}

// ---- A pipeline of tiles ----

// Arrays that are larger than device memory are processed in tiles: a stream copies a tile to the
// device and back to another array while two other streams do the same with the next tiles.
struct tile_pipeline {
  static constexpr std::size_t tiles = 32;

  tile_pipeline(std::size_t array_bytes)
      : bytes(array_bytes), tile_bytes((array_bytes + tiles - 1) / tiles) {
    for (auto& tile : device_tiles) tile.emplace(device, tile_bytes);
  }

  // Calls f(stream, host offset, device memory, bytes) for each tile, then waits for the streams.
  template <class F>
  void for_each_tile(F const& f) {
    std::size_t index = 0;
    for (std::size_t offset = 0; offset < bytes; offset += tile_bytes, ++index) {
      std::size_t const slot = index % streams.size();
      f(streams[slot], offset, device_tiles[slot]->payload(), std::min(tile_bytes, bytes - offset));
    }
    for (roc::stream const& stream : streams) stream.synchronize();
  }

  std::size_t bytes;
  std::size_t tile_bytes;
  std::array<roc::stream, 3> streams;
  std::array<std::optional<guarded_buffer>, 3> device_tiles;
};

void copy_tiles_by_hip(tile_pipeline& pipeline, std::byte const* source, std::byte* destination) {
  pipeline.for_each_tile([&](roc::stream const& stream, std::size_t offset, std::byte* tile,
                             std::size_t bytes) {
    hipStream_t const hip_stream = roc::native(stream);
    ROCARRAY_HIP(hipMemcpyAsync, tile, source + offset, bytes, hipMemcpyHostToDevice, hip_stream);
    ROCARRAY_HIP(hipMemcpyAsync, destination + offset, tile, bytes, hipMemcpyDeviceToHost,
                 hip_stream);
  });
}

void copy_tiles_by_library(tile_pipeline& pipeline, bool borrows, std::byte const* source,
                           std::byte* destination) {
  int const ordinal = roc::device().ordinal();
  pipeline.for_each_tile([&](roc::stream const& stream, std::size_t offset, std::byte* tile,
                             std::size_t bytes) {
    roc::shape<1> const shape{bytes};
    roc::host_view<std::byte const> const from(source + offset, shape);
    roc::device_view<std::byte> const there(tile, shape, roc::order::c, ordinal);
    roc::host_view<std::byte> const to(destination + offset, shape);
    borrows ? roc::copy(from, there, stream, roc::borrow_source) : roc::copy(from, there, stream);
    roc::copy(there, to, stream);
  });
}

std::unique_ptr<experiment> make_tiles(memory_kind host_memory, bool borrows, api_kind api,
                                       std::size_t bytes) {
  std::size_t const half = std::max<std::size_t>(bytes / 2, 1);
  buffer_layout const array{host_memory, half, {{}, half}};
  auto result = std::make_unique<buffer_experiment>(
      experiment_properties{timing_method::wall_clock, 2 * half, 2 * half,
                            api == api_kind::raw ? "hipMemcpyAsync" : "3 streams"},
      array, array, api);
  auto const pipeline = std::make_shared<tile_pipeline>(half);
  result->work = [=, &subject = *result](std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      std::byte const* const source = subject.source.payload();
      std::byte* const destination = subject.destination.payload();
      api == api_kind::raw ? copy_tiles_by_hip(*pipeline, source, destination)
                           : copy_tiles_by_library(*pipeline, borrows, source, destination);
    }
  };
  return result;
}

constexpr struct {
  char const* name;
  char const* description;
  memory_kind host_memory;
  bool borrows;
  bool by_default = false;
} tile_cases[] = {
    {"async/tiles/pinned", "tiles up and back on 3 streams, pinned", pinned, false},
    {"async/tiles/pageable", "tiles up and back on 3 streams, pageable", pageable, false, true},
    {"async/tiles/borrowed", "tiles up and back on 3 streams, borrowed", pageable, true},
};

// ---- The call alone ----

// Times the calls that enqueue copies. The stream is idle before the first of a group of calls, and
// no group fills its queue.
class enqueue_experiment final : public experiment {
 public:
  enqueue_experiment(std::unique_ptr<buffer_experiment> transfer, std::size_t calls_per_group)
      : experiment(transfer->properties()),
        transfer_(std::move(transfer)),
        calls_per_group_(calls_per_group) {
    properties_.timing = timing_method::own_clock;
  }

  roc::stream_ref stream() const override { return transfer_->stream(); }
  void prepare(std::uint64_t sample) override { transfer_->prepare(sample); }
  void run(std::size_t times) override {
    timed_seconds_ = 0;
    for (std::size_t done = 0; done < times;) {
      std::size_t const calls = std::min(calls_per_group_, times - done);
      stopwatch const elapsed_time;
      transfer_->run(calls);
      timed_seconds_ += elapsed_time.seconds();
      stream().synchronize();
      done += calls;
    }
  }
  double timed_seconds() const override { return timed_seconds_; }
  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    return transfer_->check(sample, inject);
  }

 private:
  std::unique_ptr<buffer_experiment> transfer_;
  std::size_t calls_per_group_;
  double timed_seconds_ = 0;
};

constexpr struct {
  operand_pair operands;
  call_kind call;
  char const* attribute;
  std::size_t usual_bytes;
} enqueue_cases[] = {
    {{"enqueue/h2d/pinned", pinned, device}, call_kind::enqueued, "", 4},
    {{"enqueue/d2h/pinned", device, pinned}, call_kind::enqueued, "", 4},
    {{"enqueue/d2d/copy", device, device}, call_kind::enqueued, "", 4},
    {{"enqueue/h2d/pageable", pageable, device}, call_kind::enqueued, "", 64 * mebibyte},
    {{"enqueue/h2d/borrowed", pageable, device},
     call_kind::enqueued_borrowed,
     ", borrowed",
     64 * mebibyte},
    {{"enqueue/d2h/pageable", device, pageable}, call_kind::enqueued, "", 64 * mebibyte},
};

}  // namespace

void add_stream_copy_cases(case_vector& cases) {
  for (auto const& definition : stream_copies) {
    std::string const description = definition.description;
    add_with_raw(cases,
                 {definition.operands.name, description, accounting::payload,
                  limiting_resource::link, definition.operands.by_default},
                 description + ", by HIP", [&](api_kind api, case_parameters const& parameters) {
                   copy_layout const layout =
                       definition.has_rows
                           ? rows_layout(parameters.bytes, parameters.row, parameters.pitch)
                           : contiguous_layout(parameters.bytes);
                   return make_transfer(definition.operands, api, definition.call, layout);
                 });
  }
  for (bool const borrows : {false, true}) {
    std::string const description =
        fmt::format("pageable host, both ways, {}", borrows ? "borrowed" : "one thread");
    add_with_raw(cases,
                 {borrows ? "async/bidir/borrowed" : "async/bidir/pageable", description,
                  accounting::payload, limiting_resource::link_bidirectional, !borrows},
                 description + ", by HIP", [=](api_kind api, case_parameters const& parameters) {
                   return make_both_ways(
                       api, borrows ? call_kind::enqueued_borrowed : call_kind::enqueued,
                       parameters.bytes);
                 });
  }
  for (auto const& definition : tile_cases) {
    std::string const description = definition.description;
    add_with_raw(cases,
                 {definition.name, description, accounting::payload,
                  limiting_resource::link_bidirectional, definition.by_default},
                 description + ", by HIP", [&](api_kind api, case_parameters const& parameters) {
                   return make_tiles(definition.host_memory, definition.borrows, api,
                                     parameters.bytes);
                 });
  }
  for (std::size_t const threads : {2u, 4u, 8u}) {
    std::string const description =
        fmt::format("pageable host to device, {} threads at once", threads);
    add_with_raw(cases,
                 {fmt::format("threads_{}/h2d/pageable", threads), description, accounting::payload,
                  limiting_resource::link, false},
                 description + ", by HIP", [=](api_kind api, case_parameters const& parameters) {
                   std::vector<std::unique_ptr<buffer_experiment>> transfers;
                   copy_layout const part =
                       contiguous_layout(std::max<std::size_t>(parameters.bytes / threads, 1));
                   for (std::size_t i = 0; i < threads; ++i)
                     transfers.push_back(
                         make_transfer({"", pageable, device}, api, call_kind::blocking, part));
                   return make_concurrent(std::move(transfers), concurrency::threads);
                 });
  }
  // A call that has to read its source, or to start threads, is slower if others are pending.
  constexpr std::size_t calls_per_group = 64;
  for (auto const& definition : enqueue_cases) {
    operand_pair const& operands = definition.operands;
    std::string const description =
        fmt::format("call, {} to {}{}", description_of(operands.source),
                    description_of(operands.destination), definition.attribute);
    std::size_t const group = operands.has(pageable) ? 1 : calls_per_group;
    add_with_raw(
        cases,
        {operands.name,
         description,
         accounting::time,
         limiting_resource::none,
         false,
         {},
         definition.usual_bytes},
        description + ", by HIP", [=](api_kind api, case_parameters const& parameters) {
          return std::make_unique<enqueue_experiment>(
              make_transfer(operands, api, definition.call, contiguous_layout(parameters.bytes)),
              group);
        });
  }
}

}  // namespace rocbench
