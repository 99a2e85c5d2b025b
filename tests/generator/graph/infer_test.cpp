// Graphs in their text form: what is stated must be what the ops give.
#include "generator/ops/infer.h"
#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/text.h"
#include "generator/ops/verify_graph.h"

#include <doctest/doctest.h>

#include <set>

namespace warpwright::test {
namespace {

/// Beside those of examples.
constexpr std::string_view kLeaves = R"(
%n: f32[6,5] = input
%w: f32[3,6,3,3] = parameter
%t: f32[6,2,3,3] = parameter
%q: f32[2,3,5,4] = input
%k: f32[2,3,7,4] = input
%s: f32[] = constant {value=2.0}
%h: f16[4,6] = input
)";

/// Ops that these tests have seen.
std::set<std::string, std::less<>> &seen_ops() {
  static std::set<std::string, std::less<>> ops;
  return ops;
}

Result<void> verify_line(std::string_view line) {
  auto graph = ops::parse_graph(std::string(ops::kExampleLeaves) + std::string(kLeaves) +
                                std::string(line) + "\n");
  if (!graph)
    return std::unexpected(graph.error());
  graph->outputs = {graph->nodes.back().name};
  for (const model::Node &node : graph->nodes)
    seen_ops().insert(node.op);
  return ops::verify_graph(*graph);
}

void check_good(std::string_view line) {
  const auto verified = verify_line(line);
  CHECK_MESSAGE(verified.has_value(), (verified ? "" : verified.error().message));
}

void check_bad(std::string_view line, std::string_view words) {
  const auto verified = verify_line(line);
  REQUIRE_MESSAGE(!verified.has_value(), line);
  CHECK_MESSAGE(verified.error().message.find(words) != std::string::npos,
                verified.error().message);
}

TEST_CASE("pointwise ops broadcast and promote") {
  for (const ops::Op *op : ops::all_ops()) {
    if (op->kind != ops::Kind::Pointwise ||
        std::ranges::any_of(op->attributes, &ops::AttributeRule::required))
      continue;
    const std::string call = " = " + std::string(op->name);
    const bool truth = op->compares || op->logical;
    if (op->integral)
      check_good("%y: i64[4,2]" + call + (op->most_operands == 1 ? "(%i)" : "(%i, %i)"));
    else if (op->most_operands == 1 && op->name != op::cast)
      check_good((truth ? "%y: bool[4,6]" : "%y: f16[4,6]") + call + "(%h)");
    else if (op->most_operands == 2)
      check_good((truth ? "%y: bool[4,6]" : "%y: f32[4,6]") + call + "(%m, %v)");
  }
  check_good("%y: f32[4,6] = leaky_relu(%m) {negative_slope=0.1}");
  check_good("%y: f32[4,6] = cast(%b)");
  check_good("%y: f16[4,6] = mul(%h, %s)"); // a scalar does not widen
  check_good("%y: f32[4,6] = mul(%h, %m)");
  check_good("%y: f32[4,6] = where(%b, %m, %s)");
  check_bad("%y: f32[4,6] = add(%m, %n)", "do not broadcast");
  check_bad("%y: f32[6] = add(%m, %v)", "it is stated as float32[6] and gives float32[4, 6]");
  check_bad("%y: f32[4,6] = eq(%m, %v)", "gives bool");
  check_bad("%y: f32[4,6] = mul(%h, %s)", "gives float16");
  check_bad("%y: f32[4,6] = where(%m, %m, %s)", "not bool");
  check_bad("%y: f32[4,6] = bitwise_and(%m, %m)", "must be integers");
  check_bad("%y: i64[4,2] = exp(%i)", "a cast to a floating type is missing");
  check_bad("%y: f32[4,6] = leaky_relu(%m)", "the attribute negative_slope is missing");
}

TEST_CASE("each operator's example has the type that it states") {
  for (const ops::Op *op : ops::all_ops())
    if (!op->example.empty()) {
      check_good(op->example);
      CHECK(op->example.contains(std::string(op->name) + "("));
    }
}

TEST_CASE("views keep the elements and say where they go") {
  check_bad("%y: f32[23] = reshape(%m)", "has not the elements");
  check_bad("%y: f32[6,4] = permute(%m) {dims=[1,1]}", "is not an order");
  check_bad("%y: f32[6,4] = permute(%m) {dims=[1,2]}", "dimension 2 of a value with 2");
  check_bad("%y: f32[4,7] = expand(%m)", "does not expand");
  check_bad("%y: f32[4,2] = slice(%m) {dim=1, start=1, stop=7, step=3}", "stop 7");
  check_bad("%y: f32[4,6] = flip(%m) {dims=[2]}", "dimension 2");
  check_bad("%y: f32[4,6] = roll(%m) {shifts=[1], dims=[0,1]}", "differ in length");
  check_bad("%y: f32[4,11] = cat(%m, %n) {dim=1}", "does not go with");
  check_bad("%y: f32[4,6] = pad(%m) {low=[0], high=[0]}", "one number a dimension");
}

TEST_CASE("what picks elements takes integers") {
  check_bad("%y: f32[4,6] = gather(%m, %m) {dim=1}", "not of integers");
  check_bad("%y: f32[4,2] = gather(%x, %i) {dim=0}", "an index [4, 2] into");
  check_bad("%y: f32[3,6] = index_select(%m, %i) {dim=0}", "not a vector");
  check_bad("%y: f32[6,6] = embedding(%v, %j)", "not a matrix");
  check_bad("%y: f32[6] = triu(%v)", "a triangle");
  check_bad("%y: f32[4] = diagonal(%m) {dim1=1, dim2=1}", "dim1 is dim2");
  check_bad("%y: f32[4,6] = scatter_add(%m, %i, %i) {dim=1}", "it combines");
}

TEST_CASE("reductions drop dimensions or keep them as one") {
  for (const char *op : {"sum", "mean", "amax", "amin", "prod", "logsumexp"}) {
    check_good("%y: f32[2,8,9] = " + std::string(op) + "(%x) {dims=[1]}");
    check_good("%y: f32[1,6,1,9] = " + std::string(op) + "(%x) {dims=[0,2], keepdim=true}");
  }
  check_good("%y: f32[] = sum(%x) {dims=[0,1,2,3], keepdim=false}");
  check_bad("%y: f32[4] = sum(%m) {dims=[2]}", "dimension 2");
  check_bad("%y: i64[] = sum(%b)", "a cast to int64 is missing");
  check_bad("%y: i64[4] = mean(%i) {dims=[1]}", "a cast to a floating type is missing");
  check_bad("%y: i64[] = argmax(%m) {dims=[0,1]}", "one dimension");
  check_bad("%y: f32[4,6] = softmax(%m) {dim=2}", "dimension 2");
  check_bad("%y: f32[4,6] = cumsum(%m) {dim=-1}", "dimension -1");
}

TEST_CASE("normalisation takes weights of what it normalises") {
  check_good("%y: f32[4,6] = layer_norm(%m, %v) {dims=[1], eps=1e-5, absent=\"weight\"}");
  check_good("%y: f32[2,6,8,9] = batch_norm(%x) {training=true, eps=1e-5, momentum=0.1, "
             "absent=\"weight,bias,running_mean,running_var\"}");
  check_good("%y: (f32[2,6,8,9], f32[6], f32[6]) = batch_norm(%x, %v, %v, %v, %v) {training=true, "
             "eps=1e-5, momentum=0.1}");
  check_good("%y: f32[2,6,8,9] = batch_norm(%x, %v, %v) {training=false, eps=1e-5, "
             "absent=\"weight,bias\"}");
  check_bad("%y: f32[4,6] = layer_norm(%m) {dims=[0], eps=1e-5}", "are not the last");
  check_bad("%y: f32[4,6] = layer_norm(%m, %m) {dims=[1], eps=1e-5}", "weight is");
  check_bad("%y: f32[4,6] = layer_norm(%m, %v, %v) {dims=[1], eps=1e-5, absent=\"bias\"}",
            "more operands");
  check_bad("%y: f32[2,6,8,9] = group_norm(%x) {groups=4, eps=1e-5}", "4 groups");
  check_bad("%y: f32[2,6,8,9] = batch_norm(%x) {training=false, eps=1e-5, "
            "absent=\"weight,bias,running_mean,running_var\"}",
            "needs running statistics");
  check_bad("%y: f32[2,6,8,9] = batch_norm(%x, %v, %v) {training=true, eps=1e-5, "
            "absent=\"weight,bias\"}",
            "states 1 results and gives 3");
}

TEST_CASE("products, convolutions and windows follow PyTorch's formulas") {
  check_good("%y: f32[4,5] = matmul(%m, %n)");
  check_good("%y: f32[2,3,5,4] = attention(%q, %k, %k) {causal=false, scale=0.5}");
  check_good("%y: f32[2,3,6,7] = conv(%x, %w)");
  check_good(
      "%y: f32[2,3,4,5] = conv(%x, %w) {stride=[2,2], padding=[1,1], dilation=[1,1], groups=1}");
  check_good("%y: f32[2,2,18,20] = conv(%x, %t) {stride=[2,2], padding=[0,0], dilation=[1,1], "
             "groups=1, transposed=true, output_padding=[1,1]}");
  check_good("%y: f32[2,6,4,4] = max_pool(%x) {kernel=[2,2]}");
  check_good("%y: f32[2,6,4,5] = avg_pool(%x) {kernel=[2,2], stride=[2,2], ceil=true}");
  check_good("%y: f32[2,6,2,2] = adaptive_avg_pool(%x)");
  check_good("%y: f32[2,6,1,1] = adaptive_max_pool(%x)");
  check_good("%y: f32[2,6,16,27] = upsample_nearest(%x) {scales=[2,3]}");
  check_good("%y: f32[2,6,16,27] = upsample_nearest(%x) {scales=[1,1,2,3]}");
  check_bad("%y: f32[4,4] = matmul(%m, %m)", "times");
  check_bad("%y: f32[4] = matmul(%m, %v)", "vectors must be reshaped");
  check_bad("%y: f16[4,5] = matmul(%h, %n)", "times");
  check_bad("%y: f32[2,3,5,4] = attention(%q, %k, %q) {causal=true, scale=0.5}", "query");
  check_bad("%y: f32[2,3,6,7] = conv(%x, %t)", "channels");
  check_bad("%y: f32[2,3,6,7] = conv(%x, %w, %v)", "a bias");
  check_bad("%y: f32[2,3,6,7] = conv(%x, %w) {stride=[1,1,1]}", "for 2 spatial dimensions");
  check_bad("%y: f32[2,6,4,4] = max_pool(%x) {kernel=[2,2,2]}", "spatial dimensions");
  check_bad("%y: f32[2,6,1,1] = max_pool(%x) {kernel=[20,20]}", "a window larger");
  check_bad("%y: f32[2,5,2,2] = adaptive_avg_pool(%x)", "pooled to");
  check_bad("%y: f32[2,6,16,18] = upsample_nearest(%x) {scales=[2]}", "1 scales");
}

TEST_CASE("leaves and opaque nodes state their types") {
  check_good("%y: i64[3,4] = iota {dim=1}");
  check_good("%y: (f32[4,2], i64[4,2]) = aten(%m) {target=\"aten::topk\", "
             "arguments=\"[{\\\"tensor\\\": 0}, 2]\", keywords=\"{}\"}");
  check_good("%y: (f32[4,2], i64[4,2]) = aten(%m) {target=\"aten::topk\", arguments=\"[]\"}\n"
             "%z: i64[4,2] = item(%y) {index=1}");
  check_bad("%y: i64[3] = iota {dim=1}", "dimension 1");
  check_bad("%y: f32[2] = constant {values=\"[1]\"}", "1 values");
  check_bad("%y: f32[2] = constant {values=\"[a, b]\"}", "not a JSON list");
  check_bad("%y: f32[2] = constant {value=1.0}", "gives float32[]");
  check_bad("%y: f32[] = constant", "a value or values");
  check_bad("%y: f32[4] = aten(%m) {target=\"rm\", arguments=\"[]\"}", "not an ATen operator");
  check_bad("%y: f32[4] = aten(%m) {target=\"aten::sum\", arguments=\"[{\\\"tensor\\\": 1}]\"}",
            "names an operand that it does not have");
  check_bad("%y: f32[4] = aten(%m) {target=\"aten::sum\", arguments=\"[\"}", "a JSON list");
  check_bad("%y: f32[4,6] = item(%m) {index=1}", "result 1 of a node with 1");
}

TEST_CASE("every op of the table is inferred by one of these tests: give its row an example") {
  for (const ops::Op *op : ops::all_ops())
    CHECK_MESSAGE((!op->infer || seen_ops().contains(std::string(op->name))), op->name);
}

} // namespace
} // namespace warpwright::test
