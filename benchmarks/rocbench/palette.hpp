// SPDX-License-Identifier: MIT
// The colors of reports.
#pragma once

namespace rocbench {

struct palette {
  char const* page;
  char const* text;
  char const* quiet;  ///< secondary text
  char const* line;
  char const* track;  ///< background of a bar
  char const* library;
  char const* raw;
  char const* limit;
  char const* good;
  char const* bad;
};

inline constexpr palette light_colors{"#ffffff", "#1c2330", "#5b6577", "#d9dee7", "#e4e9f2",
                                      "#1f5fd0", "#8b95a7", "#c2261d", "#18794e", "#c2261d"};
inline constexpr palette dark_colors{"#12161d", "#e6eaf1", "#9aa5b8", "#323a48", "#222936",
                                     "#6ea2ff", "#8a94a6", "#ff7b72", "#56d39b", "#ff7b72"};

}  // namespace rocbench
