// Builders of the tools' JSON schemas, and the parts that several tools share. Thread: any.
#pragma once

#include "server/mcp/tool.h"

namespace warpwright::mcp {

Json text_schema(const std::string &description = {});
Json number_schema(const std::string &description = {});
Json integer_schema(int low, int high, const std::string &description);
Json list_schema(Json items, const std::string &description = {});
/// The schema, or null.
Json nullable(Json schema);
/// Arguments: no other members are allowed.
Json arguments_schema(Json properties, std::vector<std::string> required);
/// A result: other members may be added later.
Json result_schema(Json properties, std::vector<std::string> required);

Json file_schema();
Json kernel_schema();
Json edited_text_schema();
Json verdict_id_schema();

/// Members of a verdict, as verdict_json() (verdicts.h) makes it.
Json verdict_properties();
std::vector<std::string> verdict_required();
/// A verdict in a list.
Json brief_verdict_schema();

} // namespace warpwright::mcp
