#include "generator/ops/scalar_ops.h"

#include "generator/ops/infer.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace warpwright::ops {
namespace {

using model::Dtype;

bool is_double(Dtype dtype) { return dtype == Dtype::Float64; }

std::string digits(double value, bool single) {
  char text[40];
  const auto end = single ? std::to_chars(text, text + sizeof text, static_cast<float>(value))
                          : std::to_chars(text, text + sizeof text, value);
  std::string result(text, end.ptr);
  if (result.find_first_of(".e") == std::string::npos)
    result += ".0";
  return result + (single ? "f" : "");
}

} // namespace

std::string compute_type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::Bool:
    return "bool";
  case Dtype::Int8:
  case Dtype::UInt8:
  case Dtype::Int16:
  case Dtype::UInt16:
  case Dtype::Int32:
    return "int";
  case Dtype::UInt32:
    return "unsigned";
  case Dtype::Int64:
    return "long long";
  case Dtype::UInt64:
    return "unsigned long long";
  case Dtype::Float64:
    return "double";
  default:
    return "float";
  }
}

std::string memory_type_of(Dtype dtype) {
  switch (dtype) {
  case Dtype::Int8:
    return "signed char";
  case Dtype::UInt8:
    return "unsigned char";
  case Dtype::Int16:
    return "short";
  case Dtype::UInt16:
    return "unsigned short";
  case Dtype::Float16:
    return "__half";
  case Dtype::BFloat16:
    return "__nv_bfloat16";
  default:
    return compute_type_of(dtype);
  }
}

std::string literal(double value, Dtype dtype) {
  if (dtype == Dtype::Bool)
    return value != 0 ? "true" : "false";
  if (!model::is_floating(dtype)) {
    const bool wide = model::size_bytes(dtype) == 8;
    const std::string text =
        std::to_string(static_cast<long long>(std::clamp(value, -9.2e18, 9.2e18))) +
        (wide ? "LL" : "");
    return value < 0 ? "(" + text + ")" : text;
  }
  const bool single = !is_double(dtype);
  if (single && std::isfinite(value) && std::isinf(static_cast<float>(value)))
    value = value > 0 ? INFINITY : -INFINITY;
  if (std::isnan(value))
    return single ? "__int_as_float(0x7fc00000)" : "__longlong_as_double(0x7ff8000000000000LL)";
  if (std::isinf(value)) {
    const std::string text =
        single ? "__int_as_float(0x7f800000)" : "__longlong_as_double(0x7ff0000000000000LL)";
    return value < 0 ? "(-" + text + ")" : text;
  }
  const std::string text = digits(value, single);
  return text.front() == '-' ? "(" + text + ")" : text;
}

std::string convert(const std::string &value, Dtype from, Dtype to, bool rounds) {
  if (rounds && to == Dtype::Float16)
    return "__half2float(__float2half_rn((float)" + value + "))";
  if (rounds && to == Dtype::BFloat16)
    return "__bfloat162float(__float2bfloat16_rn((float)" + value + "))";
  if (to == Dtype::Bool)
    return from == Dtype::Bool ? value : "(" + value + " != " + literal(0, from) + ")";
  if (!model::is_floating(to) && model::size_bytes(to) < 4 && from != to)
    return "((int)(" + memory_type_of(to) + ")(" + (model::is_floating(from) ? "(long long)" : "") +
           value + "))";
  const std::string target = compute_type_of(to);
  return target == compute_type_of(from) ? value : "((" + target + ")" + value + ")";
}

std::string from_memory(const std::string &element, Dtype dtype) {
  if (dtype == Dtype::Float16)
    return "__half2float(" + element + ")";
  if (dtype == Dtype::BFloat16)
    return "__bfloat162float(" + element + ")";
  return memory_type_of(dtype) == compute_type_of(dtype) ? element : "(int)" + element;
}

std::string to_memory(const std::string &value, Dtype dtype) {
  if (dtype == Dtype::Float16)
    return "__float2half_rn(" + value + ")";
  if (dtype == Dtype::BFloat16)
    return "__float2bfloat16_rn(" + value + ")";
  return memory_type_of(dtype) == compute_type_of(dtype)
             ? value
             : "(" + memory_type_of(dtype) + ")(" + value + ")";
}

Dtype computing_dtype(const GraphIndex &graph, const model::Node &node) {
  const Op &op = op_of(node);
  if (op.logical)
    return Dtype::Bool;
  if (!op.compares)
    return node.type().dtype;
  // As in torch.result_type, a scalar tensor counts only where its category is higher.
  std::optional<Dtype> with_dimensions, scalars;
  for (const std::string &input : node.inputs) {
    const model::TensorType &type = graph.node(input).type();
    auto &known = type.shape.empty() ? scalars : with_dimensions;
    known = known ? infer::promote(*known, type.dtype) : type.dtype;
  }
  if (!with_dimensions || !scalars)
    return with_dimensions ? *with_dimensions : *scalars;
  if (infer::category(*scalars) <= infer::category(*with_dimensions))
    return *with_dimensions;
  return infer::category(*scalars) == 2 && *scalars == Dtype::Float64 ? Dtype::Float32 : *scalars;
}

std::string pointwise_expression(const GraphIndex &graph, const model::Node &node,
                                 const std::vector<std::string> &operands) {
  const auto dtype_of = [&](std::size_t i) { return graph.node(node.inputs[i]).type().dtype; };
  const Dtype result = node.type().dtype;
  if (node.op == op::cast)
    return convert(operands[0], dtype_of(0), result, dtype_of(0) != result);
  if (node.op == op::where)
    return "(" + convert(operands[0], dtype_of(0), Dtype::Bool) + " ? " +
           convert(operands[1], dtype_of(1), result) + " : " +
           convert(operands[2], dtype_of(2), result) + ")";
  const Dtype dtype = computing_dtype(graph, node);
  std::vector<ElementText> values;
  for (std::size_t i = 0; i < operands.size(); ++i)
    values.emplace_back(convert(operands[i], dtype_of(i), dtype), dtype);
  const Op &op = op_of(node);
  const std::string text =
      op.write ? op.write(node, values.size() > 1 ? &graph.node(node.inputs[1]) : nullptr, values)
               : op.formula.text(node, values).within(ElementText::Primary);
  if (op.compares || op.logical)
    return text;
  if (dtype == Dtype::Bool) // add, mul, maximum of bools
    return "((" + text + ") != 0)";
  if (!model::is_floating(result) && model::size_bytes(result) < 4)
    return "((int)(" + memory_type_of(result) + ")" + text + ")"; // wraps as the narrow type does
  return text;
}

const char *scalar_prelude() {
  return
#include "generator/device/scalar.cuh.inc"
      ;
}

const char *fast_functions() {
  return
#include "generator/device/fast_functions.cuh.inc"
      ;
}

} // namespace warpwright::ops
