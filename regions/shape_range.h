// The sizes that one verified plan serves, and what changes in it from size to size.
//
// The kernels are compiled once. Numbers of the plan's literal are expressions over the sizes; numbers of the kernels
// are __constant__ variables, which whoever loads the kernels sets.
#pragma once

#include "support/model/dtype.h"
#include "support/symbolic/fit.h"

#include <nlohmann/json_fwd.hpp>

namespace warpwright::regions {

/// A variable of the device code that holds a number.
struct SizeConstant {
  std::string name;
  model::Dtype dtype = model::Dtype::Int32; ///< or Int64
  symbolic::Expression value;
  bool operator==(const SizeConstant &) const = default;
};

struct ShapeRange {
  std::vector<std::string> symbols; ///< "n0", "n1", ... as in the region's program
  std::vector<std::int64_t> low, high; ///< the smallest and largest value of each symbol
  symbolic::FittedText literal; ///< the plan, as plan_literal() writes it
  std::vector<SizeConstant> constants;
};

/// A range of one point: a plan that was verified at these sizes alone.
ShapeRange range_of_one(const symbolic::Sizes &sizes, const std::string &literal);

bool holds(const ShapeRange &range, const std::vector<std::int64_t> &sizes);

/// {"plan": TEXT, "constants": [[NAME, DTYPE, N]]}. @param sizes in the order of range.symbols
/// Errors: sizes outside of the range; an expression that overflows.
Result<nlohmann::json> instance_of(const ShapeRange &range, const std::vector<std::int64_t> &sizes);

nlohmann::json to_json(const ShapeRange &range);
/// Errors: a document of another form.
Result<ShapeRange> range_from_json(const nlohmann::json &document);

} // namespace warpwright::regions
