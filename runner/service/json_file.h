// JSON documents that a command line names by path. Thread: any.
#pragma once

#include "support/model/json.h"

namespace warpwright::runner {

/// "-" is stdin. Errors: it cannot be opened; it is no JSON.
Result<nlohmann::json> read_json_file(const std::string &path);

/// Decodes with model::task_from_json and the like; its errors are told with the path.
template <class Decode>
auto load_json_file(const std::string &path, Decode decode) -> decltype(decode(nlohmann::json())) {
  auto document = TRY(read_json_file(path));
  auto decoded = decode(document);
  if (!decoded)
    return fail(path + ": " + decoded.error().message, decoded.error().remedy);
  return decoded;
}

} // namespace warpwright::runner
