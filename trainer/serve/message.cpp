#include "trainer/serve/message.h"

#include <algorithm>

namespace warpwright::trainer {
namespace {

/// Nesting of arrays and objects, without those inside of texts.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_text && c == '\\')
      ++i;
    else if (c == '"')
      is_text = !is_text;
    else if (!is_text && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!is_text && (c == ']' || c == '}'))
      --depth;
  }
  return deepest;
}

} // namespace

Result<nlohmann::json> parse_message(std::string_view text) {
  if (depth_of(text) > kMessageDepth)
    return fail("the message is nested deeper than " + std::to_string(kMessageDepth));
  nlohmann::json message = nlohmann::json::parse(text, nullptr, false);
  if (message.is_discarded())
    return fail("the message is not JSON");
  return message;
}

std::string message_text(const nlohmann::json &message) {
  return message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace warpwright::trainer
