#include "server/mcp/tool.h"

namespace warpwright::mcp {

const std::vector<Tool> &all_tools() {
  static const std::vector<Tool> tools{analyze_tool(), suggest_tool(), optimize_tool(),
                                       job_tool(),     verify_tool(),  measure_tool(),
                                       profile_tool(), explain_tool(), diff_tool()};
  return tools;
}

Json definition(const Tool &tool) {
  return {{"name", tool.name},
          {"title", tool.title},
          {"description", tool.description},
          {"inputSchema", tool.input},
          {"outputSchema", tool.output},
          {"annotations",
           {{"title", tool.title},
            {"readOnlyHint", true}, // of the user's files: no tool writes one
            {"destructiveHint", false},
            {"idempotentHint", tool.is_repeatable},
            {"openWorldHint", false}}}};
}

} // namespace warpwright::mcp
