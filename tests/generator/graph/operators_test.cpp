// Descriptions of the table of operators outside C++: its JSON, and docs/internals/op-graph.md.
#include "generator/ops/describe.h"
#include "generator/ops/op.h"

#include <doctest/doctest.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace warpwright::ops;

namespace {

std::string text_of(const std::string &path) {
  std::ifstream file(std::string(WARPWRIGHT_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace

TEST_CASE("the table for programs has a row for each operator") {
  const auto table = nlohmann::json::parse(operators_json());
  CHECK(table.size() == all_ops().size());
  for (const Op *op : all_ops())
    CHECK_MESSAGE(table.at(std::string(op->name)).at("operands").at(0) == op->least_operands,
                  op->name);
}

TEST_CASE("the document names every operator that does not say itself what it gives") {
  const std::string document = text_of("docs/internals/op-graph.md");
  for (const Op *op : all_ops()) {
    const std::string name(op->name);
    bool named = !op->meaning.empty();
    for (std::size_t at = document.find(name); !named && at != std::string::npos;
         at = document.find(name, at + 1)) {
      const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      named = !is_part(document[at - 1]) && !is_part(document[at + name.size()]);
    }
    CHECK_MESSAGE(named, name);
  }
}
