// SPDX-License-Identifier: MIT
// Cases of boxes within the device: interiors, columns, every second plane or element. Unlike
// strided/*, whose rows begin at multiples of the pitch, these boxes begin within their arrays.
#include <cstddef>
#include <string>

#include "transfer.hpp"

namespace rocbench {
namespace {

// The elements of an array before and after a box, for each axis.
struct border {
  roc::shape<3> before{};
  roc::shape<3> after{};
};

// Returns the position of the box in an array that has no elements but the box and its border.
box_position within(border const& around, roc::shape<3> const& extents) {
  roc::shape<3> array{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    array[axis] = around.before[axis] + extents[axis] + around.after[axis];
  return {array, around.before};
}

constexpr std::size_t all_rows = ~std::size_t{0};
constexpr border frame = {{1, 1, 1}, {1, 1, 1}};
constexpr border outer_columns = {{0, 0, 1}, {0, 0, 1}};
constexpr border two_left_columns = {{0, 0, 2}, {}};
// With a width that is a multiple of 4 floats, all rows begin 4 bytes after a multiple of 16 bytes.
constexpr border one_left_three_right_columns = {{0, 0, 1}, {0, 0, 3}};
constexpr border none = {};

// The rows of the names "aligned", "long" and "short" have 992, 16376 and 400 bytes if the elements
// are floats; interiors have rows of 1016 bytes, and "columns_N" rows of N elements.
constexpr struct {
  char const* name;
  char const* description;
  std::size_t rows;  // of a plane
  std::size_t width;
  border source;
  border destination;
  bool by_default = false;
} box_definitions[] = {
    {"interior", "interior of n x 512 x 256 to the same", 510, 254, frame, frame, true},
    {"compact", "interior of n x 512 x 256 to an array", 510, 254, frame, none, true},
    {"aligned",
     "248 of 256 columns, 16-byte aligned",
     510,
     248,
     {{1, 1, 4}, {1, 1, 4}},
     {{1, 1, 4}, {1, 1, 4}}},
    {"long_rows", "4094 of 4096 columns to the same", all_rows, 4094, outer_columns, outer_columns},
    {"long_rows_shifted", "4094 of 4096 columns to the next", all_rows, 4094, outer_columns,
     two_left_columns},
    {"short_rows", "100 of 102 columns to the same", all_rows, 100, outer_columns, outer_columns},
    {"short_rows_shifted", "100 of 102 columns to the next", all_rows, 100, outer_columns,
     two_left_columns},
    {"columns_64", "64 of 68 columns to the same", all_rows, 64, one_left_three_right_columns,
     one_left_three_right_columns},
    {"columns_128", "128 of 132 columns to the same", all_rows, 128, one_left_three_right_columns,
     one_left_three_right_columns},
    {"columns_256", "256 of 260 columns to the same", all_rows, 256, one_left_three_right_columns,
     one_left_three_right_columns},
    {"every_2nd_plane", "every second plane to an array", 512, 256, {{}, {0, 512, 0}}, none},
    {"every_2nd_element", "every second element to an array", all_rows, 1, {{}, {0, 0, 1}}, none},
};

}  // namespace

void add_box_cases(case_vector& cases) {
  for (auto const& definition : box_definitions) {
    std::string const description = definition.description;
    add_with_raw(cases,
                 {std::string("box/") + definition.name, description, accounting::traffic,
                  limiting_resource::device_memory, definition.by_default},
                 description + ", by HIP", [&](api_kind api, case_parameters const& parameters) {
                   roc::shape<3> const extents = fitting_box(parameters.bytes / parameters.element,
                                                             definition.rows, definition.width);
                   operand_pair const operands{"", memory_kind::device, memory_kind::device};
                   return make_transfer(
                       operands, api, usual_call(operands),
                       box_layout(parameters.element, extents, within(definition.source, extents),
                                  within(definition.destination, extents)));
                 });
  }
}

}  // namespace rocbench
