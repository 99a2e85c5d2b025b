// Reading and writing of files with one JSON document a line.
#pragma once

#include "support/files.h"

#include <nlohmann/json.hpp>

namespace warpwright::capture {

/// JSON on one line. Bytes that are not UTF-8, as an argument of a command may have, are replaced.
inline std::string line_of(const nlohmann::ordered_json &json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// Calls `take` with the JSON of each whole line. A last line without its end is left out. A file
/// that is missing has no lines. Errors: the file cannot be read, or `take` finds another form;
/// with the path and the line.
template <class Take>
Result<void> read_lines(const std::filesystem::path &path, Take take) {
  std::error_code missing;
  if (!std::filesystem::exists(path, missing))
    return {};
  const std::string text = TRY(read_file(path));
  std::size_t number = 1;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1, ++number)
    try {
      take(nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                 text.begin() + static_cast<std::ptrdiff_t>(end)));
    } catch (const nlohmann::json::exception &error) {
      return fail(path.string() + ", line " + std::to_string(number) + ": " + error.what(),
                  "The file is not as a capture writes it; capture the program again");
    }
  return {};
}

} // namespace warpwright::capture
