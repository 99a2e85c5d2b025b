// What is not C++ knows the operators of the table.
#include "generator/ops/describe.h"
#include "generator/ops/op.h"

#include <doctest/doctest.h>
#include <fstream>
#include <sstream>

using namespace warpwright::generator;

namespace {

std::string text_of(const std::string &path) {
  std::ifstream file(std::string(WARPWRIGHT_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("the tracer's table of operators is the generator's") {
  CHECK_MESSAGE(text_of("runner/torch/python/tracing/operators.json") == operators_json(),
                "run: cmake --build build/release --target update_operators");
}

TEST_CASE("the document names every operator") {
  const std::string document = text_of("docs/internals/op-graph.md");
  for (const Op *op : all_ops()) {
    const std::string name(op->name);
    bool named = false;
    for (std::size_t at = document.find(name); !named && at != std::string::npos;
         at = document.find(name, at + 1)) {
      const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      named = !is_part(document[at - 1]) && !is_part(document[at + name.size()]);
    }
    CHECK_MESSAGE(named, name);
  }
}
