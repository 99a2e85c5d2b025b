#include "generator/ops/text.h"

#include <doctest/doctest.h>

namespace warpwright::test {
namespace {

void check_round_trip(std::string_view text) {
  const auto graph = ops::parse_graph(text);
  REQUIRE_MESSAGE(graph.has_value(), (graph ? "" : graph.error().message));
  CHECK(ops::print_graph(*graph) == text);
  CHECK(ops::parse_graph(ops::print_graph(*graph)) == *graph);
}

void check_error(std::string_view text, std::string_view words) {
  const auto graph = ops::parse_graph(text);
  REQUIRE_FALSE(graph.has_value());
  CHECK_MESSAGE(graph.error().message.find(words) != std::string::npos, graph.error().message);
}

TEST_CASE("the text form of a graph reads back as it was printed") {
  check_round_trip(R"(%x: f32[16,64,32,32] = input {torch_name="x"}
%conv_weight: f32[64,64,3,3] = parameter {torch_name="conv.weight"}
%c: f32[16,64,30,30]@[57600,1,1920,64] = conv(%x, %conv_weight) {dilation=[1,1], groups=1, padding=[0,0], stride=[1,1]}
%zero: f32[] = constant {value=0.0}
%r: f32[16,64,30,30] = maximum(%c, %zero)
return %r
)");
}

TEST_CASE("several results, updates and every kind of attribute have a text form") {
  check_round_trip(R"(%x: bf16[2,3] = input
%m: f64[3] = parameter
%b: (bf16[2,3], f64[3], f64[3]) = batch_norm(%x, %m, %m) {absent="weight,bias", eps=1e-05, momentum=0.1, training=true}
%i: f64[3] = item(%b) {index=1}
%low: f32[] = constant {value=-inf}
%list: i64[2] = constant {values="[1,\"two\\\\\"]"}
%e: u8[0] = expand(%low) {shape=[]}
update %m = %i
return %b, %i
)");
}

TEST_CASE("every dtype has a short name") {
  for (const char *dtype :
       {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"})
    check_round_trip("%x: " + std::string(dtype) + "[1] = input\nreturn %x\n");
}

TEST_CASE("blank lines and comments are skipped") {
  const auto graph = ops::parse_graph("# what it is\n\n  %x: f32[] = input\n\treturn %x");
  REQUIRE(graph.has_value());
  CHECK(ops::print_graph(*graph) == "%x: f32[] = input\nreturn %x\n");
}

TEST_CASE("an integer, a number and a flag stay what they are") {
  const auto graph = ops::parse_graph("%x: f32[] = aten {a=1, b=1.0, c=true, d=1e30}\nreturn %x");
  REQUIRE(graph.has_value());
  const auto &attributes = graph->nodes[0].attributes;
  CHECK(attributes.at("a") == model::Attribute(std::int64_t{1}));
  CHECK(attributes.at("b") == model::Attribute(1.0));
  CHECK(attributes.at("c") == model::Attribute(true));
  CHECK(attributes.at("d") == model::Attribute(1e30));
}

TEST_CASE("a line that is no graph is named with what was expected") {
  check_error("%x: f32[] = input\nreturn x", "line 2 of the graph: expected '%'");
  check_error("%x f32[] = input", "expected ':'");
  check_error("%x: f31[] = input", "a dtype, not 'f31'");
  check_error("%x: f32[1 = input", "expected ','");
  check_error("%x: f32[1,] = input", "a number");
  check_error("%x: f32[a] = input", "an integer, not 'a'");
  check_error("%x: f32[] = add(%a", "expected ')'");
  check_error("%x: f32[] = add(%a) {b=\"c", "a closing quote");
  check_error("%x: f32[] = add(%a) {b=}", "a number");
  check_error("%x: f32[] = input more", "the end of the line");
  check_error("nonsense", "a node, an update or the return");
}

} // namespace
} // namespace warpwright::test
