#include "trainer/ranker/own_records.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace warpwright::trainer {
namespace {

constexpr double kShrinkage = 4;  ///< records that an offset must have to count half
constexpr double kMostMiss = 2; ///< larger ones say that something else is wrong
constexpr std::size_t kLeastRecords = 8, kLeastSources = 2;
constexpr std::size_t kTreeRecords = 200, kTreeSources = 8;
constexpr std::size_t kMostFolds = 8;
constexpr int kPasses = 20; ///< of the coordinate descent
const double kApart = std::log(1.1);

double miss_of(const OwnRecord &record) {
  return std::clamp(record.measured - record.expected, -kMostMiss, kMostMiss);
}

std::set<std::string> names_of(const OwnRecord &record) {
  std::set<std::string> names;
  for (const std::string &move : record.moves)
    names.emplace(parsed_move(move).name);
  return names;
}

using Records = std::vector<const OwnRecord *>;

/// Ridge regression of the misses on the names of moves.
std::map<std::string, double> offsets_of(const Records &records) {
  std::map<std::string, std::vector<std::size_t>> having;
  std::vector<double> left;
  for (std::size_t i = 0; i < records.size(); ++i) {
    left.push_back(miss_of(*records[i]));
    for (const std::string &name : names_of(*records[i]))
      having[name].push_back(i);
  }
  std::map<std::string, double> offsets;
  for (int pass = 0; pass < kPasses; ++pass)
    for (const auto &[name, places] : having) {
      double &offset = offsets[name], sum = 0;
      for (const std::size_t i : places)
        sum += left[i] + offset;
      const double next = sum / (double(places.size()) + kShrinkage);
      for (const std::size_t i : places)
        left[i] += offset - next;
      offset = next;
    }
  return offsets;
}

Correction fit(const Records &records) {
  Correction correction{.moves = offsets_of(records), .trees = {}};
  std::set<std::string> sources;
  for (const OwnRecord *record : records)
    sources.insert(record->source);
  if (records.size() < kTreeRecords || sources.size() < kTreeSources)
    return correction;
  Matrix32 rows{.columns = records.front()->row.size(), .values = {}};
  std::vector<float> targets;
  for (const OwnRecord *record : records) {
    rows.add(record->row);
    targets.push_back(float(miss_of(*record) - corrected(correction, record->moves, record->row)));
  }
  correction.trees = boost(rows, huber_loss(targets, std::vector<float>(targets.size(), 1), 0.5),
                           {.trees = 50, .depth = 3, .rate = 0.1, .least_rows = 10});
  return correction;
}

/// Right pairs, and all pairs over 10% apart, of the records' tasks.
struct Pairs {
  double right = 0, all = 0;
  double share() const { return all > 0 ? right / all : 0; }
};

void count_pairs(Pairs &pairs, const Records &records,
                 const std::function<double(const OwnRecord &)> &value) {
  for (const OwnRecord *a : records)
    for (const OwnRecord *b : records)
      if (a->task == b->task && a->measured > b->measured + kApart) {
        const double difference = value(*a) - value(*b);
        ++pairs.all;
        pairs.right += difference > 0 ? 1 : difference == 0 ? 0.5 : 0;
      }
}

/// Pairs of records whose source the correction did not see, without and with it.
std::pair<Pairs, Pairs> unseen_pairs(const std::vector<OwnRecord> &records,
                                     const std::set<std::string> &sources) {
  std::map<std::string, std::size_t> folds;
  for (const std::string &source : sources)
    folds.emplace(source, folds.size() % kMostFolds);
  Pairs before, after;
  for (std::size_t fold = 0; fold < std::min(kMostFolds, sources.size()); ++fold) {
    Records seen, unseen;
    for (const OwnRecord &record : records)
      (folds.at(record.source) == fold ? unseen : seen).push_back(&record);
    const Correction correction = fit(seen);
    count_pairs(before, unseen, [](const OwnRecord &one) { return one.expected; });
    count_pairs(after, unseen, [&](const OwnRecord &one) {
      return one.expected + corrected(correction, one.moves, one.row);
    });
  }
  return {before, after};
}

} // namespace

std::optional<OwnRecord> own_record(const Ranker &ranker, const Ranker::Rows &rows,
                                    std::string source, std::string task, const Moves &moves,
                                    const model::Verdict &verdict) {
  if (moves.empty() || verdict.outcome != model::Outcome::Verified || !verdict.speedup ||
      verdict.speedup->ratio <= 0)
    return std::nullopt;
  return OwnRecord{std::move(source),
                   std::move(task),
                   rows.row(moves),
                   moves,
                   ranker.predict(rows, moves).log_speedup,
                   std::log(verdict.speedup->ratio)};
}

Learned learn(const std::vector<OwnRecord> &records) {
  std::set<std::string> sources;
  Records all;
  for (const OwnRecord &record : records) {
    sources.insert(record.source);
    all.push_back(&record);
  }
  Learned learned{.records = records.size(), .sources = sources.size()};
  if (records.size() < kLeastRecords || sources.size() < kLeastSources) {
    learned.why = "there are too few records";
    return learned;
  }
  const auto [before, after] = unseen_pairs(records, sources);
  learned.pairs_before = before.share();
  learned.pairs_after = after.share();
  if (after.right <= before.right) {
    learned.why = "they would not order kernels better that they do not have";
    return learned;
  }
  learned.correction = fit(all);
  return learned;
}

} // namespace warpwright::trainer
