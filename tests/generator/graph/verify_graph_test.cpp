#include "generator/ops/text.h"
#include "generator/ops/verify_graph.h"

#include <doctest/doctest.h>

namespace warpwright::test {
namespace {

void check_refused(std::string_view text, std::string_view words) {
  const auto graph = ops::parse_graph(text);
  REQUIRE_MESSAGE(graph.has_value(), (graph ? "" : graph.error().message));
  const auto verified = ops::verify_graph(*graph);
  REQUIRE_MESSAGE(!verified.has_value(), text);
  CHECK_MESSAGE(verified.error().message.find(words) != std::string::npos,
                verified.error().message);
}

TEST_CASE("a graph that states what its ops give is verified") {
  const auto graph = ops::parse_graph(R"(
%x: f32[2,3] = input
%count: i64[] = parameter
%one: i64[] = constant {value=1}
%more: i64[] = add(%count, %one)
%y: f32[2,3] = relu(%x)
update %count = %more
return %y, %x
)");
  REQUIRE(graph.has_value());
  const auto verified = ops::verify_graph(*graph);
  CHECK_MESSAGE(verified.has_value(), (verified ? "" : verified.error().message));
}

TEST_CASE("a broken graph is refused with the node's name") {
  check_refused("%x: f32[2] = input\n%y: f32[2] = relu(%z)\nreturn %y",
                "node y (relu): its operand z does not come before it");
  check_refused("%y: f32[2] = relu(%x)\n%x: f32[2] = input\nreturn %y", "does not come before it");
  check_refused("%x: f32[2] = input\n%x: f32[2] = input\nreturn %x", "another node has its name");
  check_refused("%1x: f32[2] = input\nreturn %1x", "not a C identifier");
  check_refused("%x: f32[2] = inputs\nreturn %x", "there is no such op");
  check_refused("%x: f32[2] = input\n%y: f32[2] = relu(%x, %x)\nreturn %y", "it has 2 operands");
  check_refused("%x: f32[2] = input\n%y: f32[2] = relu(%x) {inplace=true}\nreturn %y",
                "there is no attribute inplace");
  check_refused("%x: f32[2] = input\n%y: f32[2] = cumsum(%x) {dim=\"0\"}\nreturn %y",
                "the attribute dim must be an integer");
  check_refused("%x: f32[2]@[1,1] = input\nreturn %x", "strides [1, 1] for the shape [2]");
  check_refused("%x: f32[-2] = input\nreturn %x", "a negative extent");
  check_refused("%x: f32[2] = input\nreturn", "the graph has no output");
  check_refused("%x: f32[2] = input\nreturn %y", "the output y is no node");
}

TEST_CASE("an update goes from a value to state of its type") {
  const std::string nodes = "%x: f32[2] = input\n%p: f32[2] = parameter\n%y: f32[2] = relu(%x)\n"
                            "%s: f32[] = sum(%x)\n";
  check_refused(nodes + "update %q = %y\nreturn %y", "the update of q: it names no node");
  check_refused(nodes + "update %y = %x\nreturn %y", "it is a relu, not a parameter");
  check_refused(nodes + "update %p = %s\nreturn %y", "it is float32[2] and would become float32[]");
}

} // namespace
} // namespace warpwright::test
