#include "server/program/halving.h"

#include <algorithm>
#include <numeric>

namespace warpwright::program {
namespace {

class Search {
public:
  Search(const std::function<std::optional<std::string>(const EditSet &)> &failure, std::stop_token stop)
      : failure_(failure), stop_(std::move(stop)) {}

  /// Adds those of the edits to the kept ones that pass with them.
  void add(const EditSet &edits) {
    if (edits.empty())
      return;
    if (stop_.stop_requested()) {
      leave_out(edits, "it was not tested: the search for guilty edits was interrupted");
      return;
    }
    EditSet all = result_.kept;
    all.insert(all.end(), edits.begin(), edits.end());
    std::ranges::sort(all);
    const auto why = tested(all);
    if (!why) {
      result_.kept = std::move(all);
      return;
    }
    if (edits.size() == 1) {
      leave_out(edits, *why);
      return;
    }
    const auto middle = edits.begin() + static_cast<std::ptrdiff_t>(edits.size() / 2);
    add({edits.begin(), middle});
    add({middle, edits.end()});
  }

  Halved result() && { return std::move(result_); }

private:
  std::optional<std::string> tested(const EditSet &edits) {
    if (const auto known = known_.find(edits); known != known_.end())
      return known->second;
    ++result_.tests;
    return known_[edits] = failure_(edits);
  }
  void leave_out(const EditSet &edits, const std::string &why) {
    for (const std::size_t edit : edits)
      result_.guilty.emplace(edit, why);
  }

  const std::function<std::optional<std::string>(const EditSet &)> &failure_;
  std::stop_token stop_;
  Halved result_;
  std::map<EditSet, std::optional<std::string>> known_; ///< a half may be asked again, when the other is kept whole
};

} // namespace

Halved halve(std::size_t count, const std::function<std::optional<std::string>(const EditSet &)> &failure,
             std::stop_token stop) {
  EditSet all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  Search search(failure, std::move(stop));
  search.add(all);
  return std::move(search).result();
}

} // namespace warpwright::program
