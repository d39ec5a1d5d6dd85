// SPDX-License-Identifier: MIT
// Building blocks of the HTML page: escaping, page and sections.
#pragma once

#include <string>
#include <string_view>

namespace rocbench {

/// Returns the text escaped for use in an element or in a quoted attribute.
std::string escape_html(std::string_view text);

/// Returns a page without scripts or external resources. It follows the reader's light or dark
/// color scheme and the width of the window. Precondition: `body` is HTML.
std::string html_page(std::string_view title, std::string_view body);

/// Returns a section with a heading and an introduction; empty if `content` is empty.
std::string html_section(std::string_view heading, std::string_view introduction,
                         std::string const& content);

}  // namespace rocbench
