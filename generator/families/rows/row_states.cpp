// Choice of accumulators for reductions; see row_states.h.
#include "generator/families/rows/row_states.h"

#include "generator/ops/scalar_ops.h"

#include <algorithm>

namespace warpwright::families::rows {

RowStates::RowStates(const RowProgram &program, const ops::GraphIndex &graph)
    : program_(program), graph_(graph) {
  for (const RowReduction &reduction : program.reductions)
    accumulators_.push_back(accumulator(reduction));
}

std::string RowStates::operand_type(std::size_t reduction) const {
  return ops::compute_type_of(graph_.node(program_.reductions[reduction].operand).type().dtype);
}

int RowStates::words(int pass) const {
  int total = 0;
  for (std::size_t i = 0; i < accumulators_.size(); ++i)
    if (program_.reductions[i].pass == pass)
      total += accumulators_[i].words;
  return total;
}

bool RowStates::needs_position(std::size_t reduction) const {
  const ops::Reduction kind = program_.reductions[reduction].kind;
  return kind == ops::Reduction::ArgMaximum || kind == ops::Reduction::ArgMinimum;
}

RowStates::Accumulator RowStates::accumulator(const RowReduction &reduction) const {
  const std::string result_type = ops::compute_type_of(graph_.node(reduction.node).type().dtype);
  const std::string operand = ops::compute_type_of(graph_.node(reduction.operand).type().dtype);
  std::string field = "a_" + reduction.node;
  const auto fold = [&](const std::string &name, const std::string &type) {
    return Accumulator{"warpwright_rows::" + name + "<" + type + ">", field, "$.value", 1};
  };
  if (reduction.is_exponential_sum())
    return {"warpwright_rows::ExponentialSum<" + operand +
                (reduction.guarded ? ", true>" : ", false>"),
            field, "$.sum", 2};
  switch (reduction.kind) {
  case ops::Reduction::Sum:
    return fold("Sum", result_type);
  case ops::Reduction::Mean: {
    if (const RowReduction *variance = companion(reduction, ops::Reduction::Variance))
      return {"", "a_" + variance->node, "$.mean", 0};
    Accumulator mean = fold("Sum", result_type);
    mean.result = "($.value / " + result_type + "(" + std::to_string(program_.row_length) + "))";
    return mean;
  }
  case ops::Reduction::Maximum:
    for (const RowReduction &other : program_.reductions)
      if (other.maximum == reduction.node)
        return {"", "a_" + other.node, "$.maximum", 0};
    return fold("Maximum", operand);
  case ops::Reduction::Minimum:
    return fold("Minimum", operand);
  case ops::Reduction::Product:
    return fold("Product", result_type);
  case ops::Reduction::Any:
    return fold("Any", "bool");
  case ops::Reduction::All:
    return fold("All", "bool");
  case ops::Reduction::Variance: {
    const std::string divisor = std::to_string(static_cast<std::int64_t>(
        std::max(0.0, static_cast<double>(program_.row_length) - reduction.correction)));
    return {"warpwright_rows::Moments<" + result_type + ">", field,
            "($.squares / " + result_type + "(" + divisor + "))", 3};
  }
  case ops::Reduction::ArgMaximum:
  case ops::Reduction::ArgMinimum:
    return {"warpwright_rows::Position<" + operand +
                (reduction.kind == ops::Reduction::ArgMaximum ? ", true>" : ", false>"),
            field, "$.index", 2};
  case ops::Reduction::None:
    break;
  }
  return {};
}

const RowReduction *RowStates::companion(const RowReduction &of, ops::Reduction kind) const {
  for (const RowReduction &other : program_.reductions)
    if (other.kind == kind && other.operand == of.operand && other.pass == of.pass)
      return &other;
  return nullptr;
}

std::string RowStates::text(int pass, const std::string &name) const {
  if (!has_reductions(pass))
    return "";
  std::string fields, starts, merges, shuffles;
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    const Accumulator &a = accumulators_[i];
    if (program_.reductions[i].pass != pass || a.type.empty())
      continue;
    fields += "  alignas(8) " + a.type + " " + a.field + ";\n";
    starts += (starts.empty() ? "" : ", ") + a.type + "::identity()";
    merges += "    " + a.field + ".merge(other." + a.field + ");\n";
    shuffles += (shuffles.empty() ? "" : ", ") + a.field + ".shuffled(mask)";
  }
  return "struct " + name + " {\n" + fields + "  static __device__ __forceinline__ " + name +
         " identity() { return {" + starts +
         "}; }\n  __device__ __forceinline__ void merge(const " + name + " &other) {\n" + merges +
         "  }\n  __device__ __forceinline__ " + name + " shuffled(int mask) const { return {" +
         shuffles + "}; }\n};\n";
}

} // namespace warpwright::families::rows
