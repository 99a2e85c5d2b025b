// Growth of the trees: bins, histograms, best splits.
#include "trainer/ranker/boosting.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kMostBins = 64; ///< per feature; bin 0 holds absent values

/// Features as small numbers, and the thresholds between them.
struct Bins {
  std::size_t rows = 0;
  std::vector<std::vector<float>>
      edges;                      ///< by feature: value > edges[b - 1] has at least bin b + 1
  std::vector<std::uint8_t> bins; ///< (columns, rows)

  std::span<const std::uint8_t> column(std::size_t feature) const {
    return std::span(bins).subspan(feature * rows, rows);
  }
};

/// Thresholds in the middle between neighboring values, at most kMostBins - 2 of them, at
/// quantiles.
std::vector<float> edges_of(std::vector<float> values) {
  std::erase_if(values, [](float value) { return std::isnan(value); });
  std::ranges::sort(values);
  std::vector<float> edges;
  const std::size_t most = kMostBins - 2;
  auto distinct = values;
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto middle = [](float low, float high) {
    const float between = low + (high - low) / 2;
    return between < high ? between : low;
  };
  if (distinct.size() <= most + 1) {
    for (std::size_t i = 0; i + 1 < distinct.size(); ++i)
      edges.push_back(middle(distinct[i], distinct[i + 1]));
    return edges;
  }
  for (std::size_t i = 1; i <= most; ++i) {
    const float high = values[i * values.size() / (most + 1)];
    const auto place = std::ranges::lower_bound(distinct, high);
    if (place == distinct.begin())
      continue;
    const float edge = middle(*(place - 1), high);
    if (edges.empty() || edge > edges.back())
      edges.push_back(edge);
  }
  return edges;
}

Bins binned(const Matrix32 &matrix) {
  Bins result{matrix.rows(), {}, {}};
  result.bins.resize(matrix.rows() * matrix.columns);
  for (std::size_t feature = 0; feature < matrix.columns; ++feature) {
    std::vector<float> values(matrix.rows());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = matrix.values[i * matrix.columns + feature];
    const std::vector<float> edges = edges_of(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      result.bins[feature * result.rows + i] =
          std::isnan(values[i])
              ? 0
              : std::uint8_t(1 + (std::ranges::lower_bound(edges, values[i]) - edges.begin()));
    result.edges.push_back(edges);
  }
  return result;
}

std::vector<std::size_t> drawn(std::size_t count, double share, std::mt19937_64 &random) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t(0));
  const auto wanted = std::max<std::size_t>(1, std::size_t(double(count) * share));
  for (std::size_t i = 0; i < wanted && i + 1 < count;
       ++i) // std::shuffle differs between libraries
    std::swap(all[i], all[i + std::size_t(random() % (count - i))]);
  all.resize(std::min(wanted, count));
  std::ranges::sort(all);
  return all;
}

/// One tree over the drawn rows.
class Grower {
public:
  Grower(const Bins &bins, std::span<const Gradient> gradients, const BoostingSettings &settings)
      : bins_(bins), gradients_(gradients), settings_(settings) {}

  std::vector<TreeNode> grow(std::vector<std::size_t> rows, std::vector<std::size_t> features) {
    features_ = std::move(features);
    rows_ = std::move(rows);
    nodes_ = {TreeNode{}};
    split(0, 0, rows_.size(), 0);
    return std::move(nodes_);
  }

private:
  struct Sum {
    double first = 0, second = 0;
    int rows = 0;
    void add(const Sum &other) { first += other.first, second += other.second, rows += other.rows; }
  };
  struct Split {
    double gain = 0;
    std::size_t feature = 0, bin = 0; ///< rows with a bin above go right
  };

  double score(const Sum &sum) const {
    return sum.first * sum.first / (sum.second + settings_.regularization);
  }

  Sum total(std::size_t begin, std::size_t end) const {
    Sum sum;
    for (std::size_t i = begin; i < end; ++i)
      sum.add({gradients_[rows_[i]].first, gradients_[rows_[i]].second, 1});
    return sum;
  }

  Split best(std::size_t begin, std::size_t end, const Sum &all) const {
    Split found;
    for (const std::size_t feature : features_) {
      if (bins_.edges[feature].empty() && begin == end)
        continue;
      Sum histogram[kMostBins];
      const auto column = bins_.column(feature);
      for (std::size_t i = begin; i < end; ++i)
        histogram[column[rows_[i]]].add(
            {gradients_[rows_[i]].first, gradients_[rows_[i]].second, 1});
      Sum left;
      for (std::size_t bin = 0; bin <= bins_.edges[feature].size(); ++bin) {
        left.add(histogram[bin]);
        const Sum right{all.first - left.first, all.second - left.second, all.rows - left.rows};
        if (left.rows < settings_.least_rows || right.rows < settings_.least_rows)
          continue;
        const double gain = score(left) + score(right) - score(all);
        if (gain > found.gain + 1e-12)
          found = {gain, feature, bin};
      }
    }
    return found;
  }

  /// A split behind bin 0 separates absent values: any number is larger than the lowest float.
  float threshold(const Split &split) const {
    return split.bin == 0 ? std::numeric_limits<float>::lowest()
                          : bins_.edges[split.feature][split.bin - 1];
  }

  void split(std::size_t node, std::size_t begin, std::size_t end, int depth) {
    const Sum all = total(begin, end);
    const Split found = depth < settings_.depth ? best(begin, end, all) : Split{};
    if (found.gain <= 0) {
      nodes_[node].threshold =
          float(-settings_.rate * all.first / (all.second + settings_.regularization));
      return;
    }
    const auto column = bins_.column(found.feature);
    const auto middle = std::stable_partition(
        rows_.begin() + std::ptrdiff_t(begin), rows_.begin() + std::ptrdiff_t(end),
        [&](std::size_t row) { return column[row] <= found.bin; });
    const auto at = std::size_t(middle - rows_.begin());
    const std::size_t left = nodes_.size();
    nodes_[node] = {threshold(found), std::uint16_t(found.feature), std::uint16_t(left)};
    nodes_.resize(left + 2);
    split(left, begin, at, depth + 1);
    split(left + 1, at, end, depth + 1);
  }

  const Bins &bins_;
  std::span<const Gradient> gradients_;
  const BoostingSettings &settings_;
  std::vector<std::size_t> features_, rows_;
  std::vector<TreeNode> nodes_;
};

} // namespace

Forest boost(const Matrix32 &rows, const Loss &loss, const BoostingSettings &settings,
             std::span<const float> start) {
  Forest forest;
  if (rows.rows() == 0)
    return forest;
  const Bins bins = binned(rows);
  std::mt19937_64 random(settings.seed);
  std::vector<float> values(rows.rows());
  std::ranges::copy(start, values.begin());
  std::vector<Gradient> gradients(values.size());
  for (int i = 0; i < settings.trees; ++i) {
    loss(values, gradients);
    auto part = drawn(rows.rows(), settings.row_share, random);
    std::erase_if(part, [&](std::size_t row) { return gradients[row].second <= 0; });
    auto features = drawn(rows.columns, settings.column_share, random);
    Forest tree;
    tree.add(Grower(bins, gradients, settings).grow(std::move(part), std::move(features)));
    forest.add(tree.nodes());
    for (std::size_t row = 0; row < values.size(); ++row)
      values[row] += tree.value(rows.row(row));
  }
  return forest;
}

} // namespace warpwright::trainer
