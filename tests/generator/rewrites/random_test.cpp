// Random graphs: whatever rules match, alone or one after the other, the values stay.
#include "tests/generator/rewrites/check_rewrite.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace warpwright;
using namespace warpwright::test;

namespace {

using model::Shape;

/// Grows a graph over values of at most four small dimensions. Numbers stay moderate: no exp, no division by what may be 0.
class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    const model::Dtype dtypes[] = {model::Dtype::Float32, model::Dtype::Float64,
                                   model::Dtype::Float16};
    dtype_ = dtypes[pick(0, 2)];
    for (const char *name : {"x", "y"})
      values_.push_back(g_.input(name, {pick(1, 3), pick(1, 3), pick(2, 4)}, dtype_));
    values_.push_back(g_.parameter("p", {pick(2, 4)}, dtype_));
  }

  model::Graph grown(int nodes) {
    for (int i = 0; i < nodes; ++i)
      if (std::string value = next(); !value.empty())
        values_.push_back(value);
    std::vector<std::string> outputs(values_.end() - 2, values_.end());
    return g_.graph(outputs);
  }

private:
  std::int64_t pick(int low, int high) {
    return static_cast<std::int64_t>(low + static_cast<int>(random_() % (high - low + 1)));
  }
  /// Later values more often, so that chains grow.
  std::string any() {
    const auto count = static_cast<int>(values_.size());
    return values_[static_cast<std::size_t>(std::max(pick(0, count - 1), pick(0, count - 1)))];
  }
  const Shape &shape(const std::string &value) { return g_.type(value).shape; }

  std::string next() {
    const std::string x = any();
    const auto rank = static_cast<int>(shape(x).size());
    switch (pick(0, 9)) {
    case 0: {
      static constexpr const char *kOps[] = {"neg", "relu", "abs", "tanh", "sigmoid", "square"};
      return g_.op(kOps[pick(0, 5)], {x});
    }
    case 1:
    case 2: {
      static constexpr const char *kOps[] = {"add", "sub", "mul", "maximum", "minimum"};
      const double numbers[] = {0, 1, -1, 0.5, 2};
      return g_.op(kOps[pick(0, 4)], {x, g_.constant(numbers[pick(0, 4)], dtype_)});
    }
    case 3: {
      static constexpr const char *kOps[] = {"add", "sub", "mul", "maximum"};
      const std::string y = any();
      return fits(shape(x), shape(y)) ? g_.op(kOps[pick(0, 3)], {x, y}) : "";
    }
    case 4: {
      static constexpr const char *kOps[] = {"sum", "mean", "amax", "logsumexp"};
      return rank == 0 ? ""
                       : g_.op(kOps[pick(0, 3)], {x},
                               {{"dims", Shape{pick(0, rank - 1)}}, {"keepdim", pick(0, 1) == 1}});
    }
    case 5: {
      Shape dims;
      for (int i = 0; i < rank; ++i)
        dims.push_back(i);
      std::ranges::shuffle(dims, random_);
      return rank == 0 ? "" : g_.op("permute", {x}, {{"dims", dims}});
    }
    case 6: {
      Shape with_one = shape(x);
      with_one.insert(with_one.begin() + pick(0, rank), 1);
      return rank == 4 ? "" : g_.reshape(x, with_one);
    }
    case 7:
      return rank == 0
                 ? ""
                 : g_.op(pick(0, 1) ? "softmax" : "log_softmax", {x}, {{"dim", pick(0, rank - 1)}});
    case 8: {
      const std::int64_t dim = pick(0, std::max(rank - 1, 0));
      if (rank == 0)
        return "";
      const std::int64_t stop = pick(1, static_cast<int>(shape(x)[static_cast<std::size_t>(dim)]));
      return g_.op("slice", {x},
                   {{"dim", dim},
                    {"start", pick(0, static_cast<int>(stop) - 1)},
                    {"stop", stop},
                    {"step", std::int64_t{1}}});
    }
    default: {
      if (rank < 2)
        return "";
      const std::int64_t depth = shape(x).back();
      const std::string weight =
          g_.parameter("w" + std::to_string(values_.size()), {depth, pick(1, 4)}, dtype_);
      return g_.op("matmul", {x, weight});
    }
    }
  }

  static bool fits(const Shape &a, const Shape &b) {
    for (std::size_t i = 1; i <= std::min(a.size(), b.size()); ++i)
      if (a[a.size() - i] != b[b.size() - i] && a[a.size() - i] != 1 && b[b.size() - i] != 1)
        return false;
    return true;
  }

  std::mt19937 random_;
  model::Dtype dtype_;
  GraphBuilder g_;
  std::vector<std::string> values_;
};

TEST_CASE("rewrites keep the values of random graphs") {
  for (unsigned seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    check_rewrites(RandomGraph(seed).grown(14), {});
  }
}

} // namespace
