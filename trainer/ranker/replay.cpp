#include "trainer/ranker/replay.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>

namespace warpwright::trainer {
namespace {

constexpr double kPairsApart = 0.1;
constexpr std::size_t kLeastForCorrelation = 5;

/// BeamPolicy over recorded states: its queues hold lists of moves.
class SearchReplay {
public:
  SearchReplay(const RankedTask &task, const std::set<std::string> &templates)
      : task_(task), templates_(templates) {
    for (std::size_t i = 0; i < task.candidates.size(); ++i)
      by_text_[task.candidates[i].text_hash] = i;
  }

  Order order() {
    expand({});
    for (;;) {
      const Moves *next = preferred_.empty() ? fastest() : nullptr;
      if (next)
        expand(Moves(*next));
      else if (!preferred_.empty())
        take(preferred_);
      else if (!remaining_.empty())
        take(remaining_);
      else
        return order_;
    }
  }

private:
  /// The fastest measured state that was not expanded; null: there is none.
  const Moves *fastest() const {
    const Moves *best = nullptr;
    double score = 0;
    for (const auto &[moves, index] : measured_) {
      const double one = task_.candidates[index].score;
      if (one > score && !expanded_.contains(task_.candidates[index].text_hash)) {
        best = &moves;
        score = one;
      }
    }
    return best;
  }

  void expand(const Moves &moves) {
    const auto state = task_.states.find(moves);
    if (state == task_.states.end())
      return;
    expanded_.insert(state->second.text_hash);
    std::set<std::string> seen;
    std::vector<Moves> others;
    for (const std::string &move : state->second.legal) {
      Moves next = moves;
      next.push_back(move);
      const std::string name(parsed_move(move).name);
      const bool first = seen.insert(name).second, is_template = templates_.contains(name);
      if (!is_template && first)
        others.push_back(std::move(next));
      else
        (is_template ? preferred_ : remaining_).push_back(std::move(next));
    }
    preferred_.insert(preferred_.end(), others.begin(), others.end());
  }

  void take(std::deque<Moves> &queue) {
    const Moves moves = std::move(queue.front());
    queue.pop_front();
    const auto state = task_.states.find(moves);
    if (state == task_.states.end())
      return;
    const auto found = by_text_.find(state->second.text_hash);
    if (found == by_text_.end() || !proposed_.insert(found->second).second)
      return;
    order_.push_back(found->second);
    measured_.emplace_back(moves, found->second);
  }

  const RankedTask &task_;
  const std::set<std::string> &templates_;
  std::map<std::string, std::size_t> by_text_;
  std::deque<Moves> preferred_, remaining_;
  std::vector<std::pair<Moves, std::size_t>> measured_;
  std::set<std::string> expanded_;
  std::set<std::size_t> proposed_;
  Order order_;
};

double log_of(const RecordedCandidate &candidate) {
  return candidate.score > 0 ? std::log(candidate.score) : 0;
}

/// Ranks from 0; equal values share their mean rank.
std::vector<double> ranks(const std::vector<double> &values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]])
      ++end;
    for (std::size_t j = i; j < end; ++j)
      result[order[j]] = double(i + end - 1) / 2;
    i = end;
  }
  return result;
}

/// Pearson's correlation; nullopt: one side is constant.
std::optional<double> correlation(const std::vector<double> &a, const std::vector<double> &b) {
  const auto count = double(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double product = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += (a[i] - mean_a) * (b[i] - mean_b);
    square_a += (a[i] - mean_a) * (a[i] - mean_a);
    square_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return square_a > 0 && square_b > 0 ? std::optional(product / std::sqrt(square_a * square_b))
                                      : std::nullopt;
}

} // namespace

std::vector<double> best_logs(const RankedTask &task, const Order &order) {
  std::vector<double> logs;
  for (const std::size_t k : kReplayed) {
    double best = 0;
    for (std::size_t i = 0; i < std::min(k, order.size()); ++i)
      best = std::max(best, log_of(task.candidates[order[i]]));
    logs.push_back(best);
  }
  return logs;
}

std::vector<double> random_best_logs(const RankedTask &task) {
  std::vector<double> values;
  for (const RecordedCandidate &candidate : task.candidates)
    values.push_back(std::max(0.0, log_of(candidate)));
  std::ranges::sort(values, std::greater());
  std::vector<double> logs;
  for (const std::size_t k : kReplayed) {
    // The i-th best is the best of k drawn ones if it is drawn and none of the better ones is.
    double mean = 0, none_better = 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double left = double(values.size() - i), chance = std::min(1.0, double(k) / left);
      mean += none_better * chance * values[i];
      none_better *= 1 - chance;
    }
    logs.push_back(mean);
  }
  return logs;
}

Order search_order(const RankedTask &task, const std::set<std::string> &templates) {
  return SearchReplay(task, templates).order();
}

Order order_by(const RankedTask &task,
               const std::function<double(const RecordedCandidate &)> &score) {
  std::vector<double> scores;
  for (const RecordedCandidate &candidate : task.candidates)
    scores.push_back(score(candidate));
  Order order(task.candidates.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

Replay replay(const std::string &policy, const std::vector<const RankedTask *> &tasks,
              const OrderOf &order) {
  Replay result{.policy = policy};
  for (const RankedTask *task : tasks) {
    const Order chosen = order(*task);
    result.logs.push_back(best_logs(*task, chosen));
    result.best.push_back(std::log(task->best));
    const double first = chosen.empty() ? 1 : task->candidates[chosen.front()].score;
    result.first_verified.push_back(first > 0);
    result.first_faster.push_back(first > 1.02);
  }
  return result;
}

Replay random_replay(const std::vector<const RankedTask *> &tasks) {
  Replay result{.policy = "random order"};
  for (const RankedTask *task : tasks) {
    result.logs.push_back(random_best_logs(*task));
    result.best.push_back(std::log(task->best));
  }
  return result;
}

Agreement
agreement(const std::vector<const RankedTask *> &tasks,
          const std::function<double(const RankedTask &, const RecordedCandidate &)> &score) {
  Agreement result;
  for (const RankedTask *task : tasks) {
    std::vector<double> expected, measured;
    for (const RecordedCandidate &candidate : task->candidates)
      if (candidate.score > 0) {
        expected.push_back(score(*task, candidate));
        measured.push_back(candidate.log_speedup);
      }
    const auto found = expected.size() < kLeastForCorrelation
                           ? std::nullopt
                           : correlation(ranks(expected), ranks(measured));
    if (found) {
      result.rank_correlation += *found;
      ++result.tasks;
    }
    double right = 0, pairs = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      for (std::size_t j = 0; j < expected.size(); ++j)
        if (measured[i] > measured[j] + std::log1p(kPairsApart)) {
          ++pairs;
          right += expected[i] > expected[j] ? 1 : expected[i] == expected[j] ? 0.5 : 0;
        }
    if (pairs > 0) {
      result.pairs += right / pairs;
      ++result.tasks_with_pairs;
    }
  }
  result.rank_correlation /= std::max(1.0, double(result.tasks));
  result.pairs /= std::max(1.0, double(result.tasks_with_pairs));
  return result;
}

} // namespace warpwright::trainer
