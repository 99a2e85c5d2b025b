#include "runner/service/json_file.h"

#include <fstream>
#include <iostream>

namespace warpwright::runner {

Result<nlohmann::json> read_json_file(const std::string &path) {
  std::ifstream file;
  if (path != "-") {
    file.open(path, std::ios::binary);
    if (!file)
      return fail("cannot open " + path, "Name a JSON file that can be read");
  }
  try {
    return nlohmann::json::parse(path == "-" ? std::cin : file);
  } catch (const nlohmann::json::exception &error) {
    return fail(path + " is no JSON: " + error.what());
  }
}

} // namespace warpwright::runner
