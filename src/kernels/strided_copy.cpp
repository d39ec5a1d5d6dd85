// SPDX-License-Identifier: MIT
#include "kernels/strided_copy.hpp"

#include <cstdint>

#include "kernels/launch.hpp"
#include "kernels/unit.hpp"
#include "platform/call.hpp"

namespace roc::kernels {
namespace {

using transfer::normal_form;
using transfer::piece;

// A side of the job: real steps, or those of packed memory.
struct side_steps {
  std::uintptr_t base;
  bool packed;
};

void launch(normal_form const& form, piece part, side_steps source, side_steps destination,
            hipStream_t stream) {
  std::uintptr_t bits = source.base | destination.base | form.run;
  for (std::size_t i = 0; i < form.rank; ++i) {
    if (!source.packed) bits |= static_cast<std::uintptr_t>(form.axes[i].source);
    if (!destination.packed) bits |= static_cast<std::uintptr_t>(form.axes[i].destination);
  }
  std::size_t const unit = widest_unit(bits);

  strided_job job;
  job.source = source.base;
  job.destination = destination.base;
  job.first = part.begin / unit;
  job.count = (part.end - part.begin) / unit;
  auto packed_step = static_cast<std::ptrdiff_t>(form.bytes());
  for (std::size_t i = 0; i < form.rank; ++i) {
    transfer::axis const& axis = form.axes[i];
    packed_step /= static_cast<std::ptrdiff_t>(axis.extent);
    job.extents[i] = axis.extent;
    job.source_steps[i] = source.packed ? packed_step : axis.source;
    job.destination_steps[i] = destination.packed ? packed_step : axis.destination;
  }
  job.rank = static_cast<unsigned>(form.rank);
  if (form.run != unit) {
    job.extents[job.rank] = form.run / unit;
    job.source_steps[job.rank] = static_cast<std::ptrdiff_t>(unit);
    job.destination_steps[job.rank] = static_cast<std::ptrdiff_t>(unit);
    ++job.rank;
  }
  platform::check_launch("strided copy kernel", launch_strided_copy(job, unit, stream));
}

std::uintptr_t address(std::byte const* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace

void permute(normal_form const& form, hipStream_t stream) {
  launch(form, {0, form.bytes()}, {address(form.source), false},
         {address(form.destination), false}, stream);
}

void gather(normal_form const& form, piece part, std::byte* packed, hipStream_t stream) {
  launch(form, part, {address(form.source), false}, {address(packed) - part.begin, true}, stream);
}

void scatter(normal_form const& form, piece part, std::byte const* packed, hipStream_t stream) {
  launch(form, part, {address(packed) - part.begin, true}, {address(form.destination), false},
         stream);
}

}  // namespace roc::kernels
