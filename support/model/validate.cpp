// Validation against JSON schemas, by valijson, and the embedded schemas of the model.
//
// valijson reports where a document is wrong. The expected form is read from the schema, so that
// users understand the message without the schema. The schemas are parsed once and then only read.
#include "support/model/document_schema.h"
#include "support/model/json.h"
#include "support/model/schemas.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace warpwright::model {
namespace {

using nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

constexpr std::size_t kMaxReported = 3;

const DocumentSchema &schema_of(Schema schema) {
  static const auto load = [](const char *text, const std::string &name) {
    return DocumentSchema(json::parse(text), name, "See support/model/schemas/" + name + ".schema.json");
  };
  static const DocumentSchema task = load(kTaskSchema, "task"), plan = load(kPlanSchema, "plan"),
                              verdict = load(kVerdictSchema, "verdict"),
                              graph = load(kGraphSchema, "graph");
  switch (schema) {
  case Schema::Task:
    return task;
  case Schema::Plan:
    return plan;
  case Schema::Graph:
    return graph;
  case Schema::Verdict:
    break;
  }
  return verdict;
}

const json &resolve(const json &root, const json &node) {
  if (!node.contains("$ref"))
    return node;
  const std::string reference = node["$ref"]; // "#/definitions/name"
  return root.at(json::json_pointer(reference.substr(1)));
}

/// valijson's context ("<root>", "[steps]", "[0]") as "steps[0]", and the schema's node at that
/// path.
std::pair<std::string, json> locate(const json &root, const std::vector<std::string> &context) {
  std::string path;
  json node = root;
  for (const std::string &part : context) {
    if (part.size() < 3 || part.front() != '[' || part.back() != ']')
      continue;
    std::string key = part.substr(1, part.size() - 2);
    if (key.size() >= 2 && key.front() == '"' && key.back() == '"') // later versions quote names
      key = key.substr(1, key.size() - 2);
    if (node.contains("items")) {
      path += "[" + key + "]";
      node = json(resolve(root, node["items"]));
      continue;
    }
    path += (path.empty() ? "" : ".") + key;
    if (node.contains("properties") && node["properties"].contains(key))
      node = json(resolve(root, node["properties"][key]));
    else if (node.contains("additionalProperties") && node["additionalProperties"].is_object())
      node = json(resolve(root, node["additionalProperties"]));
    else
      node = json::object();
  }
  return {path.empty() ? "the document" : path, std::move(node)};
}

std::string expectation(const json &node) {
  if (node.contains("description"))
    return node["description"];
  if (node.contains("enum"))
    return "one of " + node["enum"].dump();
  std::string text;
  if (node.contains("type"))
    text = node["type"].is_string() ? node["type"].get<std::string>() : node["type"].dump();
  for (const char *limit :
       {"minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "required"})
    if (node.contains(limit))
      text += std::string(text.empty() ? "" : ", ") + limit + " " + node[limit].dump();
  return text;
}

} // namespace

struct DocumentSchema::Loaded {
  json text;
  valijson::Schema schema;
  explicit Loaded(json source) : text(std::move(source)) {
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(Adapter(text), schema);
  }
};

DocumentSchema::DocumentSchema(json schema, std::string name, std::string remedy)
    : loaded_(std::make_unique<const Loaded>(std::move(schema))), name_(std::move(name)),
      remedy_(std::move(remedy)) {}

DocumentSchema::~DocumentSchema() = default;

const json &DocumentSchema::text() const { return loaded_->text; }

Result<void> DocumentSchema::check(const json &document) const {
  valijson::ValidationResults results;
  valijson::Validator validator;
  try {
    if (validator.validate(loaded_->schema, Adapter(document), &results))
      return {};
  } catch (const std::exception &error) {
    return fail(std::string("cannot validate the document: ") + error.what());
  }
  // Only the deepest errors are reported, because valijson adds one for each level above.
  std::size_t deepest = 0;
  std::vector<valijson::ValidationResults::Error> errors(results.begin(), results.end());
  for (const auto &error : errors)
    deepest = std::max(deepest, error.context.size());
  std::string message;
  std::size_t reported = 0;
  for (const auto &error : errors) {
    if (error.context.size() != deepest || reported == kMaxReported)
      continue;
    auto [path, node] = locate(loaded_->text, error.context);
    const std::string expected = expectation(node);
    std::string problem = error.description;
    while (problem.ends_with('.'))
      problem.pop_back();
    message += (reported++ ? "; " : "") + path + ": " + problem;
    if (!expected.empty())
      message += "; expected " + expected;
  }
  return fail("the " + name_ + " does not fit its schema: " + message, remedy_);
}

Result<void> validate(const json &document, Schema schema) {
  return schema_of(schema).check(document);
}

} // namespace warpwright::model
