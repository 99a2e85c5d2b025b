#include "generator/ops/op_traits.h"

#include <algorithm>
#include <array>

namespace warpwright::generator {
namespace {

using namespace std::string_view_literals;

constexpr std::array kCheap = {
    "neg"sv,     "abs"sv,         "sign"sv,       "floor"sv,       "ceil"sv,      "round"sv,
    "trunc"sv,   "logical_not"sv, "relu"sv,       "hardsigmoid"sv, "hardswish"sv, "leaky_relu"sv,
    "cast"sv,    "square"sv,      "add"sv,        "sub"sv,         "mul"sv,       "maximum"sv,
    "minimum"sv, "eq"sv,          "ne"sv,         "lt"sv,          "le"sv,        "gt"sv,
    "ge"sv,      "logical_and"sv, "logical_or"sv, "logical_xor"sv, "where"sv};
constexpr std::array kDear = {
    "exp"sv,        "expm1"sv,   "log"sv,      "log1p"sv, "log2"sv,     "sqrt"sv, "rsqrt"sv,
    "reciprocal"sv, "sin"sv,     "cos"sv,      "tan"sv,   "atan"sv,     "tanh"sv, "erf"sv,
    "erfc"sv,       "sigmoid"sv, "silu"sv,     "mish"sv,  "gelu"sv,     "elu"sv,  "div"sv,
    "softsign"sv,   "pow"sv,     "softplus"sv, "atan2"sv, "remainder"sv};
constexpr std::array kViews = {"layout"sv, "reshape"sv,  "permute"sv,   "expand"sv, "slice"sv,
                               "flip"sv,   "cat"sv,      "pad"sv,       "roll"sv,   "triu"sv,
                               "tril"sv,   "diagonal"sv, "diag_embed"sv};
constexpr std::array kIndexed = {"gather"sv, "index_select"sv, "embedding"sv};

template <std::size_t N>
bool in(const std::array<std::string_view, N> &names, const std::string &op) {
  return std::ranges::find(names, op) != names.end();
}

} // namespace

bool is_buffer_leaf(const model::Node &node) {
  return node.op == "input" || node.op == "parameter";
}

bool is_generated(const model::Node &node) { return node.op == "constant" || node.op == "iota"; }

bool is_pointwise(const model::Node &node) { return in(kCheap, node.op) || in(kDear, node.op); }

bool is_view(const model::Node &node) { return in(kViews, node.op); }

bool is_strided_view(const model::Node &node) {
  return node.op == "reshape" || node.op == "permute" || node.op == "expand" || node.op == "slice";
}

bool is_indexed(const model::Node &node) { return in(kIndexed, node.op); }

bool is_inline(const model::Node &node) {
  return is_generated(node) || is_pointwise(node) || is_view(node) || is_indexed(node);
}

int recompute_cost(const model::Node &node) {
  if (in(kCheap, node.op))
    return 1;
  if (in(kDear, node.op))
    return 10;
  return is_indexed(node) ? 4 : 0;
}

} // namespace warpwright::generator
