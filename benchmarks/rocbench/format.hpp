// SPDX-License-Identifier: MIT
// Numbers as the table and the report write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace rocbench {

/// "256 MiB", "1.5 KiB", "17 B".
std::string format_size(double bytes);
/// In GB/s, without the unit: "55.4", "0.0123".
std::string format_rate(double bytes_a_second);
/// With a unit that suits: "12.3 µs", "4.56 ms".
std::string format_time(double seconds);
/// "87 %"; more than the whole is marked: "104 % !".
std::string format_share(double share);
/// "[########  ]": ten signs for the whole.
std::string text_bar(double share);

}  // namespace rocbench
