#include "server/mcp/schemas.h"

namespace warpwright::mcp {
namespace {

Json described(Json schema, const std::string &description) {
  if (!description.empty())
    schema["description"] = description;
  return schema;
}

Json time_schema(const std::string &description) {
  return described(nullable(result_schema({{"median_ns", number_schema()},
                                           {"low_ns", number_schema()},
                                           {"high_ns", number_schema()}},
                                          {"median_ns"})),
                   description);
}

Json speedup_schema() {
  return described(nullable(result_schema({{"ratio", number_schema()},
                                           {"low", number_schema()},
                                           {"high", number_schema()},
                                           {"device", text_schema()}},
                                          {"ratio", "low", "high", "device"})),
                   "Null: not measured. Then claim no speedup");
}

Json rates_schema(const std::string &description) {
  return described(nullable(result_schema({{"bound", {{"enum", {"memory", "compute", "latency"}}}},
                                           {"memory_share", nullable(number_schema())},
                                           {"compute_share", nullable(number_schema())}},
                                          {"bound"})),
                   description);
}

Json outcome_schema() {
  return {{"enum",
           {"verified", "compile_failed", "wrong_result", "timeout", "crash", "suspected_cheat",
            "unsupported"}},
          {"description", "unsupported: this device cannot run it, which says nothing about it"}};
}

} // namespace

Json text_schema(const std::string &description) {
  return described({{"type", "string"}}, description);
}

Json number_schema(const std::string &description) {
  return described({{"type", "number"}}, description);
}

Json integer_schema(int low, int high, const std::string &description) {
  return described({{"type", "integer"}, {"minimum", low}, {"maximum", high}}, description);
}

Json list_schema(Json items, const std::string &description) {
  return described({{"type", "array"}, {"items", std::move(items)}}, description);
}

Json nullable(Json schema) { return {{"anyOf", {std::move(schema), {{"type", "null"}}}}}; }

Json arguments_schema(Json properties, std::vector<std::string> required) {
  Json schema = result_schema(std::move(properties), std::move(required));
  schema["additionalProperties"] = false;
  return schema;
}

Json result_schema(Json properties, std::vector<std::string> required) {
  Json schema{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty())
    schema["required"] = std::move(required);
  return schema;
}

Json file_schema() {
  return text_schema("Path of the source file, relative to the project's folder");
}
Json kernel_schema() {
  return text_schema("Name of the CUDA kernel, or of the torch module's class or function");
}
Json edited_text_schema() {
  return text_schema("The whole edited text of the file. Without it: the text on the disk");
}
Json verdict_id_schema() { return text_schema("Id of a verdict of this session"); }

Json verdict_properties() {
  return {{"verdict", text_schema("Id, for explain, diff, profile and warpwright://verdict/ID")},
          {"outcome", outcome_schema()},
          {"message", text_schema("The reason of the outcome")},
          {"summary", text_schema("All that may be claimed of this verdict")},
          {"speedup", speedup_schema()},
          {"time", time_schema("Of the candidate, per run")},
          {"reference_time", time_schema("Of the original, per run")},
          {"before", rates_schema("Of the original: what bounds it, shares of the GPU's rates")},
          {"after", rates_schema("Of the candidate")},
          {"moves", list_schema(text_schema())},
          {"device", text_schema()},
          {"sizes", text_schema()},
          {"date", text_schema()}};
}

std::vector<std::string> verdict_required() {
  return {"verdict", "outcome", "message", "summary", "speedup"};
}

Json brief_verdict_schema() {
  return result_schema({{"verdict", text_schema()},
                        {"outcome", text_schema()},
                        {"summary", text_schema()},
                        {"moves", list_schema(text_schema())}},
                       {"verdict", "outcome", "summary"});
}

} // namespace warpwright::mcp
