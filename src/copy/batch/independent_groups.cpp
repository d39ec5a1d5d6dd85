// SPDX-License-Identifier: MIT
// Which copies of a batch may be done at the same time.
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "copy/batch/batch.hpp"
#include "layout/overlap.hpp"
#include "copy/batch/access_range.hpp"

namespace roc::transfer {
namespace {

using base::byte_range;

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
    base::byte_range where;
    std::vector<touched> members;
  };
  std::map<std::uintptr_t, cluster> clusters_;

  std::map<std::uintptr_t, cluster>::iterator first_over(base::byte_range where) {
    auto next = clusters_.upper_bound(where.begin);
    if (next != clusters_.begin() && std::prev(next)->second.where.overlaps(where)) --next;
    return next;
  }
};

// Cuts where a copy touches what one before it in the group has.
class cutter {
 public:
  explicit cutter(batch const& contents)
      : contents_(contents), looks_(4096 + 64 * contents.pieces.size()) {
    forms_.reserve(contents.pieces.size());
    for (batch_copy const& each : contents.pieces) forms_.push_back(contents.form_of(each));
  }

  std::vector<std::size_t> cut() {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i != contents_.pieces.size(); ++i) {
      touched const source = access_range_of(contents_, i, layout::side::source);
      touched const destination = access_range_of(contents_, i, layout::side::destination);
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
    batch_copy const& first = contents_.pieces[a.piece];
    batch_copy const& second = contents_.pieces[b.piece];
    if (first.rank == 0 && second.rank == 0) return true;
    if (has_other_address(a) || has_other_address(b)) return true;
    layout::canonical_layout const& form_a = forms_[a.piece];
    layout::canonical_layout const& form_b = forms_[b.piece];
    if (layout::surely_disjoint(form_a, a.which, form_b, b.which)) return false;
    if (exact_tests_ == 0) return true;
    --exact_tests_;
    return layout::regions_overlap(form_a, a.which, form_b, b.which);
  }

  // Than the one in its form.
  bool has_other_address(touched const& which) const {
    return layout::bytes_of(forms_[which.piece], which.which) != which.where;
  }

  batch const& contents_;
  std::vector<layout::canonical_layout> forms_;
  touched_set written_;
  touched_set read_;
  std::size_t looks_;
  std::size_t exact_tests_ = 256;
};

}  // namespace

std::vector<std::size_t> independent_groups(batch const& contents) {
  if (bounds_are_disjoint(contents) || are_disjoint(contents, conflicting_ranges(contents))) {
    return {contents.pieces.size()};
  }
  return cutter(contents).cut();
}

}  // namespace roc::transfer
