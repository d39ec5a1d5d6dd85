// SPDX-License-Identifier: MIT
// Which copies of a batch may be done at the same time.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "memory/host_table.hpp"
#include "transfer/batch_contents.hpp"
#include "transfer/overlap.hpp"

namespace roc::transfer {
namespace {

using memory::range;

// Of a copy, what one of its sides touches: all between the first and the last byte.
struct touched {
  range where;
  std::size_t piece;
  side which;

  bool writes() const noexcept { return which == side::destination; }
};

// What a device knows under another address is the host memory behind it.
range touched_range(batch_contents const& contents, batch_piece const& piece, side which) {
  range const where = contents.range_of(piece, which);
  bool const on_host = which == side::source
                           ? piece.way == direction::host_to_device ||
                                 piece.way == direction::host_to_host
                           : piece.way == direction::device_to_host ||
                                 piece.way == direction::host_to_host;
  if (on_host) return where;
  return memory::host_table::instance().behind_device_address(where).value_or(where);
}

range around(range a, range b) {
  return {std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

// Reads matter only where something is written among them.
std::vector<touched> all_touched(batch_contents const& contents) {
  std::size_t const count = contents.pieces.size();
  std::vector<touched> all;
  all.reserve(2 * count);
  range written{std::numeric_limits<std::uintptr_t>::max(), 0};
  range read = written;
  for (std::size_t i = 0; i != count; ++i) {
    all.push_back({touched_range(contents, contents.pieces[i], side::destination), i,
                   side::destination});
    written = around(written, all.back().where);
    range const from = touched_range(contents, contents.pieces[i], side::source);
    read = around(read, from);
  }
  if (!written.overlaps(read)) return all;
  for (std::size_t i = 0; i != count; ++i) {
    all.push_back({touched_range(contents, contents.pieces[i], side::source), i, side::source});
  }
  return all;
}

// Whether no range that is written overlaps another one. Sorted by their beginnings, only those
// before can reach into one.
bool all_apart(std::vector<touched> all) {
  auto const earlier = [](touched const& a, touched const& b) {
    return a.where.begin < b.where.begin;
  };
  // Often they come in order.
  if (!std::is_sorted(all.begin(), all.end(), earlier)) std::sort(all.begin(), all.end(), earlier);
  std::uintptr_t written = 0;
  std::uintptr_t used = 0;
  for (touched const& each : all) {
    if (each.where.begin < (each.writes() ? used : written)) return false;
    used = std::max(used, each.where.end);
    if (each.writes()) written = std::max(written, each.where.end);
  }
  return true;
}

// What a group has read, or written, so far: clusters of ranges that overlap one another.
class touched_set {
 public:
  void clear() noexcept { clusters_.clear(); }

  void add(touched const& next) {
    cluster merged{next.where, {}};
    for (auto place = first_over(next.where);
         place != clusters_.end() && place->second.where.overlaps(next.where);
         place = clusters_.erase(place)) {
      merged.where = around(merged.where, place->second.where);
      // The fewer to the more, however often that happens.
      auto& members = place->second.members;
      if (merged.members.size() < members.size()) merged.members.swap(members);
      merged.members.insert(merged.members.end(), members.begin(), members.end());
    }
    merged.members.push_back(next);
    clusters_.emplace(merged.where.begin, std::move(merged));
  }

  // Whether some member that overlaps the range meets it by `meets`. Not known in `looks` at
  // members: it does.
  template <class Meets>
  bool any(touched const& other, std::size_t& looks, Meets meets) {
    for (auto place = first_over(other.where);
         place != clusters_.end() && place->second.where.overlaps(other.where); ++place) {
      for (touched const& member : place->second.members) {
        if (looks == 0) return true;
        --looks;
        if (member.where.overlaps(other.where) && meets(member, other)) return true;
      }
    }
    return false;
  }

 private:
  struct cluster {
    range where;
    std::vector<touched> members;
  };
  std::map<std::uintptr_t, cluster> clusters_;

  std::map<std::uintptr_t, cluster>::iterator first_over(range where) {
    auto next = clusters_.upper_bound(where.begin);
    if (next != clusters_.begin() && std::prev(next)->second.where.overlaps(where)) --next;
    return next;
  }
};

// Cuts where a copy touches what one before it in the group has.
class cutter {
 public:
  explicit cutter(batch_contents const& contents)
      : contents_(contents), looks_(4096 + 64 * contents.pieces.size()) {
    forms_.reserve(contents.pieces.size());
    for (batch_piece const& each : contents.pieces) forms_.push_back(contents.form_of(each));
  }

  std::vector<std::size_t> cut() {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i != contents_.pieces.size(); ++i) {
      batch_piece const& piece = contents_.pieces[i];
      touched const source{touched_range(contents_, piece, side::source), i, side::source};
      touched const destination{touched_range(contents_, piece, side::destination), i,
                                side::destination};
      auto const meet = [this](touched const& a, touched const& b) { return do_meet(a, b); };
      if (written_.any(destination, looks_, meet) || written_.any(source, looks_, meet) ||
          read_.any(destination, looks_, meet)) {
        ends.push_back(i);
        written_.clear();
        read_.clear();
      }
      written_.add(destination);
      read_.add(source);
    }
    ends.push_back(contents_.pieces.size());
    return ends;
  }

 private:
  // Their ranges overlap. Not known in time: they do.
  bool do_meet(touched const& a, touched const& b) {
    batch_piece const& first = contents_.pieces[a.piece];
    batch_piece const& second = contents_.pieces[b.piece];
    if (first.rank == 0 && second.rank == 0) return true;
    if (has_other_address(a) || has_other_address(b)) return true;
    normal_form const& form_a = forms_[a.piece];
    normal_form const& form_b = forms_[b.piece];
    if (surely_disjoint(form_a, a.which, form_b, b.which)) return false;
    if (exact_tests_ == 0) return true;
    --exact_tests_;
    return regions_overlap(form_a, a.which, form_b, b.which);
  }

  // Than the one in its form.
  bool has_other_address(touched const& which) const {
    return bytes_of(forms_[which.piece], which.which) != which.where;
  }

  batch_contents const& contents_;
  std::vector<normal_form> forms_;
  touched_set written_;
  touched_set read_;
  std::size_t looks_;
  std::size_t exact_tests_ = 256;
};

}  // namespace

std::vector<std::size_t> independent_groups(batch_contents const& contents) {
  if (all_apart(all_touched(contents))) return {contents.pieces.size()};
  return cutter(contents).cut();
}

}  // namespace roc::transfer
