// The table of ops: docs/op-graph.md, row by row.
#include "generator/ops/op_rules.h"
#include "generator/ops/infer.h"

#include <map>

namespace warpwright::generator {
namespace {

using enum AttributeKind;
using Rules = std::map<std::string_view, OpRule>;

constexpr std::size_t kAny = 65536;

void add_leaves(Rules &rules) {
  const std::vector<AttributeRule> named = {{"torch_name", Text, false}};
  rules["input"] = rules["parameter"] = {0, 0, named, infer::stated_leaf};
  rules["constant"] = {0, 0, {{"value", Number, false}, {"values", Text, false}}, infer::constant};
  rules["iota"] = {0, 0, {{"dim", Integer}}, infer::iota};
  rules["item"] = {1, 1, {{"index", Integer}}, infer::item};
  rules["aten"] = {
      0, kAny, {{"target", Text}, {"arguments", Text}, {"keywords", Text, false}}, infer::aten};
}

void add_pointwise(Rules &rules) {
  for (const char *op : {"neg", "abs", "sign", "floor", "ceil", "round", "trunc", "relu", "square"})
    rules[op] = {1, 1, {}, infer::unary};
  for (const char *op :
       {"exp",        "expm1",   "log",  "log1p", "log2",     "sqrt",        "rsqrt",
        "reciprocal", "sin",     "cos",  "tan",   "atan",     "tanh",        "erf",
        "erfc",       "sigmoid", "silu", "mish",  "softsign", "hardsigmoid", "hardswish"})
    rules[op] = {1, 1, {}, infer::floating_unary};
  rules["logical_not"] = {1, 1, {}, infer::logical_not};
  rules["cast"] = {1, 1, {}, infer::cast};
  rules["gelu"] = {1, 1, {{"approximate", Text, false}}, infer::floating_unary};
  rules["elu"] = {
      1,
      1,
      {{"alpha", Number, false}, {"scale", Number, false}, {"input_scale", Number, false}},
      infer::floating_unary};
  rules["leaky_relu"] = {1, 1, {{"negative_slope", Number}}, infer::floating_unary};
  rules["softplus"] = {
      1, 1, {{"beta", Number, false}, {"threshold", Number, false}}, infer::floating_unary};
  for (const char *op :
       {"add", "sub", "mul", "div", "pow", "maximum", "minimum", "remainder", "atan2"})
    rules[op] = {2, 2, {}, infer::arithmetic};
  for (const char *op :
       {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"})
    rules[op] = {2, 2, {}, infer::comparison};
  rules["where"] = {3, 3, {}, infer::where};
}

void add_views(Rules &rules) {
  rules["reshape"] = {1, 1, {}, infer::reshape};
  rules["permute"] = {1, 1, {{"dims", List}}, infer::permute};
  rules["expand"] = {1, 1, {}, infer::expand};
  rules["slice"] = {
      1,
      1,
      {{"dim", Integer}, {"start", Integer}, {"stop", Integer}, {"step", Integer, false}},
      infer::slice};
  rules["flip"] = {1, 1, {{"dims", List}}, infer::flip};
  rules["roll"] = {1, 1, {{"shifts", List}, {"dims", List}}, infer::roll};
  rules["cat"] = {1, kAny, {{"dim", Integer}}, infer::cat};
  rules["pad"] = {1, 1, {{"low", List}, {"high", List}, {"value", Number, false}}, infer::pad};
  rules["gather"] = {2, 2, {{"dim", Integer}}, infer::gather};
  rules["index_select"] = {2, 2, {{"dim", Integer}}, infer::index_select};
  rules["embedding"] = {2, 2, {}, infer::embedding};
  rules["triu"] = rules["tril"] = {1, 1, {{"diagonal", Integer, false}}, infer::triangle};
  rules["diagonal"] = {
      1, 1, {{"offset", Integer, false}, {"dim1", Integer}, {"dim2", Integer}}, infer::diagonal};
  rules["diag_embed"] = {1, 1, {}, infer::diag_embed};
  rules["scatter_add"] = {3, 3, {{"dim", Integer}}, infer::scatter_add};
}

void add_rows(Rules &rules) {
  const std::vector<AttributeRule> dims = {{"dims", List, false}, {"keepdim", Flag, false}};
  for (const char *op : {"sum", "amax", "amin", "prod"})
    rules[op] = {1, 1, dims, infer::reduction};
  rules["mean"] = rules["logsumexp"] = {1, 1, dims, infer::floating_reduction};
  rules["any"] = rules["all"] = {1, 1, dims, infer::truth_reduction};
  rules["argmax"] = rules["argmin"] = {1, 1, dims, infer::arg_reduction};
  rules["var"] = {
      1, 1, {dims[0], dims[1], {"correction", Number, false}}, infer::floating_reduction};
  rules["norm"] = {1, 1, {dims[0], dims[1], {"p", Number}}, infer::floating_reduction};
  rules["softmax"] = rules["log_softmax"] = {1, 1, {{"dim", Integer}}, infer::softmax};
  rules["cumsum"] = rules["cumprod"] = {1, 1, {{"dim", Integer}}, infer::scan};
  const AttributeRule absent = {"absent", Text, false}, eps = {"eps", Number};
  rules["layer_norm"] = {1, 3, {{"dims", List}, eps, absent}, infer::layer_norm};
  rules["group_norm"] = {1, 3, {{"groups", Integer}, eps, absent}, infer::group_norm};
  rules["batch_norm"] = {
      1, 5, {{"training", Flag}, eps, {"momentum", Number, false}, absent}, infer::batch_norm};
}

void add_windows(Rules &rules) {
  const AttributeRule stride = {"stride", List, false}, padding = {"padding", List, false},
                      dilation = {"dilation", List, false}, ceil = {"ceil", Flag, false};
  rules["matmul"] = {2,
                     2,
                     {{"fill", Text, false}, {"a_fill", Text, false}, {"b_fill", Text, false}},
                     infer::matmul};
  rules["attention"] = {3, 4, {{"causal", Flag}, {"scale", Number}}, infer::attention};
  rules["conv"] = {2,
                   3,
                   {stride,
                    padding,
                    dilation,
                    {"groups", Integer, false},
                    {"transposed", Flag, false},
                    {"output_padding", List, false}},
                   infer::conv};
  rules["max_pool"] = {1, 1, {{"kernel", List}, stride, padding, dilation, ceil}, infer::max_pool};
  rules["avg_pool"] = {1,
                       1,
                       {{"kernel", List},
                        stride,
                        padding,
                        ceil,
                        {"count_include_pad", Flag, false},
                        {"divisor", Integer, false}},
                       infer::avg_pool};
  rules["adaptive_avg_pool"] = rules["adaptive_max_pool"] = {1, 1, {}, infer::adaptive_pool};
  rules["upsample_nearest"] = {1, 1, {{"scales", List}}, infer::upsample_nearest};
}

const Rules &all_rules() {
  static const Rules rules = [] {
    Rules made;
    add_leaves(made);
    add_pointwise(made);
    add_views(made);
    add_rows(made);
    add_windows(made);
    return made;
  }();
  return rules;
}

} // namespace

const OpRule *find_op_rule(std::string_view op) {
  const auto found = all_rules().find(op);
  return found == all_rules().end() ? nullptr : &found->second;
}

std::vector<std::string_view> op_names() {
  std::vector<std::string_view> names;
  for (const auto &[name, rule] : all_rules())
    names.push_back(name);
  return names;
}

} // namespace warpwright::generator
