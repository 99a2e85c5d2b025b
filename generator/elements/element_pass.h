// One walk from a value back to memory: the C++ statements that compute its elements at several indices in step ("lanes").
//
// Views change the indices, pointwise ops become one statement a lane, region inputs become loads. Lanes walk together, so that
// consecutive elements are loaded as one vector, and conditions that they share are tested once. Equal sub-expressions are computed
// once in a scope. ElementWriter owns the names; this leaves out stores. Thread: one.
#pragma once

#include "generator/elements/region.h"
#include "generator/ops/index_map.h"

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

namespace warpwright::elements {

/// One expression a lane.
using LaneValues = std::vector<std::string>;

class ElementPass {
public:
  struct Environment {
    const ops::GraphIndex *graph = nullptr;
    const Region *region = nullptr;
    std::unordered_map<std::string, int> input_numbers;
    std::unordered_map<std::string, LaneValues>
        bound; ///< values that a family handed over: one for all lanes, or one a lane
    std::unordered_map<std::string, symbolic::Interval> ranges; ///< of variables
    int *names = nullptr;                               ///< counter of local names
  };

  /// @param statements what is written goes behind it
  ElementPass(const Environment &environment, std::string &statements);

  symbolic::IndexMath &math() { return math_; }
  /// The values stand for a node, whatever the index.
  void pin(const std::string &node, LaneValues values);
  LaneValues evaluate(const std::string &value, const ops::Lanes &lanes);
  void emit(const std::string &statement) { statements_->append(statement).append("\n"); }
  std::string fresh_name();
  /// The offsets in elements of a value laid out with `strides`.
  std::vector<symbolic::IndexForm> offsets(const model::Shape &strides, const ops::Lanes &lanes);
  /// Whether the lanes are consecutive elements that start at a multiple of their number (1), or end there, backwards (-1), in a buffer that
  /// whole vectors fill; else 0.
  int vector_direction(const std::vector<symbolic::IndexForm> &offsets,
                       const model::TensorType &type);
  std::string offset_text(const symbolic::IndexForm &offset, const model::TensorType &type) const;
  /// Loads that were no vector although lanes differed, and those that were.
  int scalar_loads = 0, vector_loads = 0;
  std::vector<symbolic::IndexForm> last_offsets; ///< of the latest load from memory
  std::set<std::string> scalar_inputs; ///< values behind scalar_loads

private:
  LaneValues memory(const model::Node &node, const ops::Lanes &lanes);
  LaneValues pointwise(const model::Node &node, const ops::Lanes &lanes);
  LaneValues view(const model::Node &node, const ops::Lanes &lanes);
  LaneValues indexed(const model::Node &node, const ops::Lanes &lanes);
  LaneValues constant(const model::Node &node, const ops::Lanes &lanes);
  LaneValues cat(const model::Node &node, const ops::Lanes &lanes);
  /// Where all parts lie in memory and all lanes are in the same one: its address is chosen, and loaded from once. Branches around a load
  /// for each part would keep loads of other elements from being under way.
  std::optional<LaneValues> cat_in_memory(const model::Node &node, const ops::Lanes &lanes);
  ops::Lanes broadcast(const ops::Lanes &lanes, const model::Shape &to) const;

  /// "0 <= form && form < size" without what always holds; empty: always true; "false": never.
  std::string inside(const symbolic::IndexForm &form, std::int64_t low, std::int64_t high) const;
  /// The same of all of them.
  std::string condition_of(const std::vector<ops::Guard> &guards) const;
  /// Where its lane's condition holds, the body's value; elsewhere what was there.
  using Body = std::function<LaneValues(const ops::Lanes &)>;
  void guarded(const LaneValues &conditions, const ops::Lanes &lanes, const LaneValues &results,
               const Body &body);
  LaneValues declare(const std::string &type, const LaneValues &values);
  /// The values as constants, one statement for each distinct expression.
  LaneValues name_values(const std::string &type, const LaneValues &values);

  const Environment &environment_;
  const ops::GraphIndex &graph_;
  std::string *statements_;
  symbolic::IndexMath math_;
  std::unordered_map<std::string, LaneValues> pinned_;
  std::vector<std::unordered_map<std::string, LaneValues>> scopes_;
};

} // namespace warpwright::elements
