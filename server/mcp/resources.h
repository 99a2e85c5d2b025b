// Resources: the verdicts of this session as documents.
//
//   warpwright://verdict/ID   the whole verdict, with its checks, errors and evidence, as JSON
//   warpwright://source/ID    device source of the candidate
//   warpwright://sass/ID      its machine code, compiled and disassembled on this machine, by the
//                             runner beside this program (`warpwright-runner listing`)
// Thread: any; reading machine code blocks for seconds.
#pragma once

#include "server/mcp/verdicts.h"

namespace warpwright::mcp {

/// The newest verdicts, for resources/list.
Json resource_list(const Verdicts &verdicts);
/// For resources/templates/list.
Json resource_templates();
/// The contents of resources/read. Errors: no such resource.
Result<Json> read_resource(const Verdicts &verdicts, const std::string &uri);

} // namespace warpwright::mcp
