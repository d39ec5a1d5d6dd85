// SPDX-License-Identifier: MIT
// Cases of copies between two devices, for all pairs of devices: contiguous, at a pitch,
// transposed, a column, short ones, and both ways at once. Raw calls are made with peer access
// enabled.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <roc/roc.hpp>

#include "transfer.hpp"

namespace rocbench {
namespace {

// A transfer between two devices, which the wall clock times: device events would belong to the
// current device, which may be neither of the two.
class peer_experiment final : public experiment {
 public:
  explicit peer_experiment(std::unique_ptr<buffer_experiment> transfer)
      : experiment(transfer->properties()), transfer_(std::move(transfer)) {
    properties_.timing = timing_method::wall_clock;
  }

  roc::stream_ref stream() const override { return transfer_->stream(); }
  void prepare(std::uint64_t sample) override { transfer_->prepare(sample); }
  void run(std::size_t times) override {
    roc::device_guard const guard{roc::device(transfer_->source.device_ordinal())};
    transfer_->run(times);
    stream().synchronize();
  }
  std::optional<std::string> check(std::uint64_t sample, injection_site inject) override {
    return transfer_->check(sample, inject);
  }

 private:
  std::unique_ptr<buffer_experiment> transfer_;
};

operand_pair operands_of(int from, int to) {
  return {"", memory_kind::device, memory_kind::device, false, from, to};
}

// Enables the access of both devices to the other. Throws case_not_supported if they have none, and
// HIP's call for the layout needs it.
void enable_access(int from, int to, api_kind api, copy_layout const& layout) {
  bool const is_contiguous = layout.source.is_contiguous() && layout.destination.is_contiguous();
  for (auto const& [device, peer] : {std::pair(from, to), std::pair(to, from)}) {
    if (roc::device(device).can_access(roc::device(peer))) {
      roc::device(device).enable_access(roc::device(peer));
    } else if (api == api_kind::raw && !is_contiguous) {
      throw case_not_supported(fmt::format("device {} cannot access device {}", device, peer));
    }
  }
}

constexpr std::size_t column_pitch = std::size_t{64} << 10;

// A column of a matrix of float with 16384 columns, and at most 16384 rows.
copy_layout column(case_parameters const& sizes) {
  return rows_layout(std::min(sizes.bytes, column_pitch), sizeof(float), column_pitch);
}

struct peer_family {
  char const* name;
  char const* description;
  copy_layout (*make_layout)(case_parameters const&);
  bool has_raw_call = true;
  std::size_t latency_bytes = 0;  // not 0: times each copy, which has this size by default
};

constexpr peer_family families[] = {
    {"copy", "contiguous",
     [](case_parameters const& sizes) { return contiguous_layout(sizes.bytes); }},
    {"rows", "pitched rows",
     [](case_parameters const& sizes) { return rows_layout(sizes.bytes, sizes.row, sizes.pitch); }},
    {"planes", "planes of rows",
     [](case_parameters const& sizes) {
       return planes_layout(sizes.bytes, sizes.row, sizes.pitch);
     }},
    {"transposed", "matrix, C to F order",
     [](case_parameters const& sizes) { return transposed_layout(sizes.bytes, sizes.element); },
     false},
    {"latency", "contiguous, each waited for",
     [](case_parameters const& sizes) { return contiguous_layout(sizes.bytes); }, true, 4096},
    {"column", "a column, each waited for", column, true, column_pitch},
};

void add_one_way(case_vector& cases, int from, int to) {
  for (peer_family const& family : families) {
    bool const is_latency = family.latency_bytes != 0;
    std::string const description =
        fmt::format("device {} to {}, {}", from, to, family.description);
    benchmark_case library{fmt::format("peer/{}-{}/{}", from, to, family.name), description,
                           is_latency ? accounting::time : accounting::payload,
                           is_latency ? limiting_resource::none : limiting_resource::device_link,
                           false};
    library.usual_bytes = family.latency_bytes;
    library.devices = device_pair{from, to};
    add_with_raw(cases, library, description + ", by HIP",
                 [=, &family](api_kind api, case_parameters const& parameters) {
                   copy_layout const layout = family.make_layout(parameters);
                   enable_access(from, to, api, layout);
                   return std::make_unique<peer_experiment>(make_transfer(
                       operands_of(from, to), api,
                       is_latency ? call_kind::on_stream : call_kind::enqueued, layout));
                 });
    if (!family.has_raw_call) cases.pop_back();
  }
}

// Half of the bytes in each direction, on a stream of each device.
void add_both_ways(case_vector& cases, int first, int second) {
  for (peer_family const& family : families) {
    if (family.latency_bytes != 0) continue;
    std::string const description =
        fmt::format("devices {} and {} both ways, {}", first, second, family.description);
    add_with_raw(
        cases,
        {fmt::format("peer/{}-{}/both/{}", first, second, family.name),
         description,
         accounting::payload,
         limiting_resource::device_link,
         false,
         {},
         0,
         device_pair{first, second, true}},
        description + ", by HIP", [=, &family](api_kind api, case_parameters const& parameters) {
          case_parameters half = parameters;
          half.bytes = std::max<std::size_t>(parameters.bytes / 2, 1);
          copy_layout const layout = family.make_layout(half);
          enable_access(first, second, api, layout);
          std::vector<std::unique_ptr<buffer_experiment>> transfers;
          for (auto const& [from, to] : {std::pair(first, second), std::pair(second, first)}) {
            transfers.push_back(
                make_transfer(operands_of(from, to), api, call_kind::enqueued, layout));
          }
          return make_concurrent(std::move(transfers), concurrency::streams);
        });
    if (!family.has_raw_call) cases.pop_back();
  }
}

}  // namespace

void add_peer_cases(case_vector& cases) {
  int const devices = roc::device::count();
  for (int from = 0; from < devices; ++from) {
    for (int to = 0; to < devices; ++to) {
      if (from != to) add_one_way(cases, from, to);
    }
    for (int other = from + 1; other < devices; ++other) add_both_ways(cases, from, other);
  }
}

}  // namespace rocbench
