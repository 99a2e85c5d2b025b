// JSON documents in files named on a command line. Thread: any.
#pragma once

#include "support/model/json.h"

namespace warpwright::runner {

/// Reads a JSON file; "-" is stdin. Errors: the file cannot be opened, or it is not JSON.
Result<nlohmann::json> read_json_file(const std::string &path);

/// Reads a file and decodes it with model::task_from_json or a similar function. Errors name the
/// path.
template <class Decode>
auto load_json_file(const std::string &path, Decode decode) -> decltype(decode(nlohmann::json())) {
  auto document = TRY(read_json_file(path));
  auto decoded = decode(document);
  if (!decoded)
    return fail(path + ": " + decoded.error().message, decoded.error().remedy);
  return decoded;
}

} // namespace warpwright::runner
