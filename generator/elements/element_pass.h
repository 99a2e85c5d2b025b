// Writer of the C++ statements that compute elements of a value, by a walk from the value back to memory, at several
// indices in step ("lanes"). Views change the indices, pointwise ops become one statement for each lane, region inputs
// become loads. Lanes walk together, so that consecutive elements are loaded as one vector and shared conditions are
// tested once. Equal sub-expressions are computed once in a scope. ElementWriter owns the names. Leaves out stores.
#pragma once

#include "generator/elements/region.h"
#include "generator/ops/index_map.h"

#include <functional>
#include <optional>
#include <set>
#include <unordered_map>

namespace warpwright::elements {

/// One expression for each lane.
using LaneValues = std::vector<std::string>;

/// C++ type of consecutive elements in memory that move as one access.
std::string vector_type_of(model::Dtype dtype, std::size_t count);

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

  /// @param statements text to which the statements are appended
  ElementPass(const Environment &environment, std::string &statements);

  symbolic::IndexMath &math() { return math_; }
  /// Makes the values stand for a node at every index.
  void pin(const std::string &node, LaneValues values);
  LaneValues evaluate(const std::string &value, const ops::Lanes &lanes);
  void emit(const std::string &statement) { statements_->append(statement).append("\n"); }
  /// Appends to `stores`, which follow all statements: the assembler moves no load before a store.
  void emit_store(const std::string &statement) { stores.append(statement).append("\n"); }
  std::string fresh_name();
  /// Returns the offsets, in elements, of a value laid out with `strides`.
  std::vector<symbolic::IndexForm> offsets(const model::Shape &strides, const ops::Lanes &lanes);
  /// Returns 1 where the lanes are consecutive elements that start at a multiple of their number, -1 where they end
  /// there, backwards, and 0 otherwise.
  int vector_direction(const std::vector<symbolic::IndexForm> &offsets,
                       const model::TensorType &type);
  std::string offset_text(const symbolic::IndexForm &offset, const model::TensorType &type) const;
  /// Counts of loads with differing lanes: those that were not vector loads, and those that were.
  int scalar_loads = 0, vector_loads = 0;
  std::string stores; ///< statements of emit_store()
  std::vector<symbolic::IndexForm> last_offsets; ///< of the latest load from memory
  std::set<std::string> scalar_inputs; ///< values behind scalar_loads

private:
  /// Returns what the open scopes know under this key; null: nothing.
  const LaneValues *known(const std::string &key) const;
  LaneValues memory(const model::Node &node, const ops::Lanes &lanes);
  /// Loads lanes that lie a few elements apart as the run of memory that holds them, in whole vectors.
  /// @return nullopt: they do not, or the run may leave the buffer
  std::optional<LaneValues> strided_run(const std::string &name, const model::TensorType &type,
                                        const std::vector<symbolic::IndexForm> &offsets);
  LaneValues pointwise(const model::Node &node, const ops::Lanes &lanes);
  LaneValues view(const model::Node &node, const ops::Lanes &lanes);
  LaneValues indexed(const model::Node &node, const ops::Lanes &lanes);
  LaneValues constant(const model::Node &node, const ops::Lanes &lanes);
  LaneValues cat(const model::Node &node, const ops::Lanes &lanes);
  /// Loads from parts that all lie in memory, where all lanes are in the same part: chooses the address and loads once.
  /// A branch around a load for each part would keep loads of other elements from overlapping.
  std::optional<LaneValues> cat_in_memory(const model::Node &node, const ops::Lanes &lanes);
  /// Parts of one value, in another order: chooses the place and computes the element once. Where lanes share a part,
  /// branches are better, since they keep vectors.
  std::optional<LaneValues> cat_of_one(const model::Node &node, const ops::Lanes &lanes);
  ops::Lanes broadcast(const ops::Lanes &lanes, const model::Shape &to) const;

  /// "0 <= form && form < size" without what always holds; empty: always true; "false": never.
  std::string inside(const symbolic::IndexForm &form, std::int64_t low, std::int64_t high) const;
  /// Returns the conjunction of the guards' conditions.
  std::string condition_of(const std::vector<ops::Guard> &guards) const;
  /// guarded() assigns the body's value where a lane's condition holds, and leaves the result as it was elsewhere.
  using Body = std::function<LaneValues(const ops::Lanes &)>;
  void guarded(const LaneValues &conditions, const ops::Lanes &lanes, const LaneValues &results,
               const Body &body);
  LaneValues declare(const std::string &type, const LaneValues &values);
  /// Declares the values as constants, with one statement for each distinct expression.
  LaneValues name_values(const std::string &type, const LaneValues &values);

  const Environment &environment_;
  const ops::GraphIndex &graph_;
  std::string *statements_;
  symbolic::IndexMath math_;
  std::unordered_map<std::string, LaneValues> pinned_;
  std::vector<std::unordered_map<std::string, LaneValues>> scopes_;
};

} // namespace warpwright::elements
