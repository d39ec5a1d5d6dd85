// SPDX-License-Identifier: MIT
#include "pcie_limit.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>
#include <system_error>

#include <fmt/format.h>

namespace rocbench {
namespace {

struct port {
  double gigatransfers = 0;  // GT/s; one bit per lane and transfer
  int lanes = 0;
};

struct generation {
  double gigatransfers;
  char const* name;
  double encoding;  // fraction of the bits that are data
};

// PCIe 6.0 sends flits of 256 bytes, 236 of which are packets.
constexpr generation generations[] = {
    {2.5, "1.0", 8.0 / 10},   {5, "2.0", 8.0 / 10},     {8, "3.0", 128.0 / 130},
    {16, "4.0", 128.0 / 130}, {32, "5.0", 128.0 / 130}, {64, "6.0", 236.0 / 256},
};

// Reads the number at the start of a file. Returns false if there is none.
template <class T>
bool read(std::filesystem::path const& file, T& value) {
  std::ifstream stream(file);
  // A speed is for example "32.0 GT/s PCIe"; its unit is always GT/s.
  return static_cast<bool>(stream >> value);
}

std::optional<port> read_port(std::filesystem::path const& directory, link_state state) {
  std::string const prefix = state == link_state::current ? "current_link_" : "max_link_";
  port result;
  if (!read(directory / (prefix + "speed"), result.gigatransfers)) return std::nullopt;
  if (!read(directory / (prefix + "width"), result.lanes)) return std::nullopt;
  if (result.gigatransfers <= 0 || result.lanes <= 0) return std::nullopt;
  return result;
}

generation const* generation_of(port const& link) {
  auto const* const entry =
      std::ranges::find(generations, link.gigatransfers, &generation::gigatransfers);
  return entry == std::end(generations) ? nullptr : entry;
}

double rate_of(port const& link, generation const& matching) {
  return link.gigatransfers * 1e9 * link.lanes * matching.encoding / 8;
}

}  // namespace

rate_limit pcie_limit(std::string const& bus_id, std::filesystem::path const& devices,
                      link_state state) {
  std::string name = bus_id;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::error_code error;
  auto directory = std::filesystem::canonical(devices / name, error);
  if (error) return {std::nullopt, "sysfs has no entry for the device"};

  static std::regex const address("[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
  rate_limit narrowest{std::nullopt, "sysfs does not report the link's speed"};
  for (; std::regex_match(directory.filename().string(), address);
       directory = directory.parent_path()) {
    auto const link = read_port(directory, state);
    if (!link) continue;
    generation const* const matching = generation_of(*link);
    if (matching == nullptr) {
      return {std::nullopt,
              fmt::format("unknown PCIe generation with {} GT/s", link->gigatransfers)};
    }
    double const rate = rate_of(*link, *matching);
    if (!narrowest.rate || rate < *narrowest.rate) {
      narrowest = {rate, fmt::format("PCIe {} x{}", matching->name, link->lanes)};
    }
  }
  return narrowest;
}

}  // namespace rocbench
