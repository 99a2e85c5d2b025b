#include "trainer/ranker/candidate_pool.h"

#include <algorithm>
#include <utility>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kBeam = 16;    ///< lists of one length that are followed at the beginning
constexpr std::size_t kAtOnce = 3;   ///< lists that are followed further for each candidate
constexpr std::size_t kFirst = 2;    ///< length of the lists at the beginning
constexpr std::size_t kLongest = 8;  ///< of any list
constexpr std::size_t kNewMoves = 8; ///< moves without records of which a list is looked at
constexpr double kKnownWidth = 0.02; ///< of a verdict: two measurements differ by as much

Moves sorted(Moves moves) {
  std::ranges::sort(moves);
  return moves;
}

bool contains(const Moves &moves, const Moves &part) {
  return std::ranges::includes(sorted(moves), sorted(part));
}

} // namespace

CandidatePool::CandidatePool(const Ranker &ranker, TaskFacts task, Correction correction,
                             Legal legal, const std::vector<Tried> &known)
    : ranker_(ranker), rows_(ranker.rows(std::move(task))), correction_(std::move(correction)),
      legal_(std::move(legal)) {
  for (const Tried &one : known)
    known_.emplace(sorted(one.moves), one.log_speedup);
}

void CandidatePool::begin() {
  entries_.push_back({.is_taken = true});
  places_.emplace(Moves(), 0);
  expand(0);
  for (std::size_t length = 1; length < kFirst; ++length)
    expand_best(kBeam, length);
}

void CandidatePool::expand(std::size_t entry) {
  if (std::exchange(entries_[entry].is_expanded, true))
    return;
  const Moves moves = entries_[entry].moves;
  const auto legal = legal_(moves);
  if (!legal) {
    entries_[entry].is_taken = true; // it leads nowhere, so it is no candidate either
    return;
  }
  for (const std::string &move : *legal) {
    Moves next = moves;
    next.push_back(move);
    if (places_.emplace(sorted(next), entries_.size()).second) {
      const double order = ranker_.order(rows_, next);
      entries_.push_back({.moves = std::move(next), .order = order});
    }
  }
}

void CandidatePool::expand_best(std::size_t count, std::size_t longest) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (!entries_[i].is_expanded && entries_[i].moves.size() <= longest)
      open.push_back(i);
  std::ranges::stable_sort(open, std::greater(), [&](std::size_t i) { return entries_[i].order; });
  open.resize(std::min(open.size(), count));
  for (const std::size_t i : open)
    expand(i);
}

const Prediction &CandidatePool::prediction_of(Entry &entry) {
  if (entry.prediction)
    return *entry.prediction;
  Prediction prediction = ranker_.predict(rows_, entry.moves, nullptr, &correction_);
  if (const auto known = known_.find(sorted(entry.moves)); known != known_.end()) {
    prediction.verifies = known->second ? 1 : 0;
    prediction.log_speedup = known->second.value_or(0);
    prediction.half_width = kKnownWidth;
    prediction.supported = true;
  }
  return entry.prediction.emplace(prediction);
}

std::optional<Moves> CandidatePool::next(const std::vector<Tried> &tried) {
  if (entries_.empty())
    begin();
  double best = 0;
  std::vector<const Moves *> failed;
  const Tried *fastest = nullptr;
  for (const Tried &one : tried) {
    if (!one.log_speedup)
      failed.push_back(&one.moves);
    else if (!fastest || *one.log_speedup > *fastest->log_speedup)
      fastest = &one;
  }
  if (fastest) {
    best = std::max(best, *fastest->log_speedup);
    const auto place = places_.find(sorted(fastest->moves));
    if (place != places_.end() && fastest->moves.size() < kLongest)
      expand(place->second);
    expand_best(kAtOnce, kLongest - 1);
  }
  std::vector<std::size_t> open;
  std::vector<Scored> pool, taken;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (!entries_[i].is_taken && std::ranges::none_of(failed, [&](const Moves *moves) {
          return contains(entries_[i].moves, *moves);
        }))
      open.push_back(i);
    else if (entries_[i].is_taken && entries_[i].prediction)
      taken.push_back({&entries_[i].moves, *entries_[i].prediction});
  std::ranges::stable_sort(open, std::greater(), [&](std::size_t i) { return entries_[i].order; });
  std::vector<std::size_t> looked_at(open.begin(), open.begin() + std::min(open.size(), kLookedAt));
  add_new_moves(open, looked_at);
  for (const std::size_t i : looked_at)
    pool.push_back({&entries_[i].moves, prediction_of(entries_[i])});
  const auto chosen = choose(pool, best, taken);
  if (!chosen)
    return std::nullopt;
  entries_[looked_at[*chosen]].is_taken = true;
  return entries_[looked_at[*chosen]].moves;
}

void CandidatePool::add_new_moves(const std::vector<std::size_t> &sorted, std::vector<std::size_t> &looked_at) const {
  std::set<std::string> added;
  for (std::size_t i = 0; i < sorted.size() && added.size() < kNewMoves; ++i)
    for (const std::string &move : entries_[sorted[i]].moves)
      if (const std::string name(parsed_move(move).name); !ranker_.knows(name) && added.insert(name).second)
        if (std::ranges::find(looked_at, sorted[i]) == looked_at.end())
          looked_at.push_back(sorted[i]);
}

std::optional<Prediction> CandidatePool::expected(const Moves &moves) const {
  const auto place = places_.find(sorted(moves));
  return place == places_.end() ? std::nullopt : entries_[place->second].prediction;
}

} // namespace warpwright::trainer
