// SPDX-License-Identifier: MIT
// The page that reports are written into: one file, no script, nothing from elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace rocbench {

/// The text as it may stand in an element or in an attribute's quotes.
std::string escape_html(std::string_view text);

/// A whole page. It follows the reader's choice of light or dark and the width of the window.
std::string html_page(std::string_view title, std::string_view body);

/// A part with a heading and a line that says how to read it; nothing where there is no content.
std::string html_section(std::string_view heading, std::string_view how_to_read,
                         std::string const& content);

}  // namespace rocbench
