// SPDX-License-Identifier: MIT
#include "copy/batch/batch_alone.hpp"

#include <array>

namespace roc::transfer {

void copy_individually(batch const& contents, std::size_t index, stream_ref const* stream,
                detail::source_use use) {
  batch_copy const& p = contents.pieces[index];
  layout::canonical_layout const form = contents.form_of(p);
  std::array<std::size_t, layout::max_axes + 1> extents;
  std::array<std::ptrdiff_t, layout::max_axes + 1> from_steps;
  std::array<std::ptrdiff_t, layout::max_axes + 1> to_steps;
  for (std::size_t i = 0; i != form.rank; ++i) {
    extents[i] = form.axes[i].extent;
    from_steps[i] = form.axes[i].source;
    to_steps[i] = form.axes[i].destination;
  }
  extents[form.rank] = form.run;
  from_steps[form.rank] = to_steps[form.rank] = 1;
  auto const place_of = [](bool on_device) {
    return on_device ? detail::place::device : detail::place::host;
  };
  bool const from_device =
      p.way() == direction::device_to_host || p.way() == direction::device_to_device;
  bool const to_device =
      p.way() == direction::host_to_device || p.way() == direction::device_to_device;
  detail::region const from{const_cast<std::byte*>(form.source), 1, form.rank + 1, extents.data(),
                            from_steps.data(), place_of(from_device), p.source_device};
  detail::region const to{form.destination, 1, form.rank + 1, extents.data(), to_steps.data(),
                          place_of(to_device), p.destination_device};
  detail::copy(from, to, stream, use);
}

}  // namespace roc::transfer
