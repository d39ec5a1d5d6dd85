// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <system_error>

#include <fmt/format.h>

#include "limits.hpp"

namespace rocbench {
namespace {

struct port {
  double transfers = 0;  // 1e9 a second, a bit of each lane
  int lanes = 0;
};

struct generation {
  double transfers;
  char const* name;
  double encoding;  // bits that are data
};

// Of the sixth, whose data come in flits of 256 bytes, 236 of which are packets.
constexpr generation generations[] = {
    {2.5, "1.0", 8.0 / 10},   {5, "2.0", 8.0 / 10},     {8, "3.0", 128.0 / 130},
    {16, "4.0", 128.0 / 130}, {32, "5.0", 128.0 / 130}, {64, "6.0", 236.0 / 256},
};

template <class T>
bool read(std::filesystem::path const& file, T& value) {
  std::ifstream stream(file);
  return static_cast<bool>(stream >> value);  // "32.0 GT/s PCIe": the unit never changes
}

std::optional<port> read_port(std::filesystem::path const& folder) {
  port result;
  if (!read(folder / "current_link_speed", result.transfers)) return std::nullopt;
  if (!read(folder / "current_link_width", result.lanes)) return std::nullopt;
  if (result.transfers <= 0 || result.lanes <= 0) return std::nullopt;
  return result;
}

generation const* generation_of(port const& of) {
  auto const* const found = std::ranges::find(generations, of.transfers, &generation::transfers);
  return found == std::end(generations) ? nullptr : found;
}

double rate_of(port const& of, generation const& by) {
  return of.transfers * 1e9 * of.lanes * by.encoding / 8;
}

}  // namespace

limit pcie_limit(std::string const& bus_id, std::filesystem::path const& devices) {
  std::string name = bus_id;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::error_code problem;
  auto folder = std::filesystem::canonical(devices / name, problem);
  if (problem) return {std::nullopt, "the system does not show the device's link"};

  static std::regex const address("[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  limit narrowest{std::nullopt, "the system does not tell the link's speed"};
  for (; std::regex_match(folder.filename().string(), address); folder = folder.parent_path()) {
    auto const at = read_port(folder);
    if (!at) continue;
    generation const* const by = generation_of(*at);
    if (by == nullptr) {
      return {std::nullopt, fmt::format("a link of {} GT/s is of no known kind", at->transfers)};
    }
    double const rate = rate_of(*at, *by);
    if (!narrowest.rate || rate < *narrowest.rate) {
      narrowest = {rate, fmt::format("PCIe {} x{}", by->name, at->lanes)};
    }
  }
  return narrowest;
}

}  // namespace rocbench
