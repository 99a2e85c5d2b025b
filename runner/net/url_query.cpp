// Parsing of queries.
#include "runner/net/url_query.h"

#include <charconv>

namespace warpwright::runner::net {

Result<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(std::min(i + 1, text.size()), 2);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (error != std::errc() || end != digits.data() + 2)
      return fail("'" + std::string(text) + "' has a % that two hexadecimal digits must follow");
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

Result<void> read_query(std::string_view query, const std::map<std::string, std::string *> &known,
                        const std::string &form) {
  while (!query.empty()) {
    const auto end = query.find('&');
    const std::string_view item = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    const auto equals = item.find('=');
    const std::string name(item.substr(0, equals));
    const auto found = known.find(name);
    if (found == known.end() || equals == std::string_view::npos)
      return fail("the runner URL has '" + name + "', which is not understood", form);
    auto value = TRY(percent_decoded(item.substr(equals + 1)));
    *found->second = std::move(value);
  }
  return {};
}

Result<unsigned> to_seconds(const std::string &text, const std::string &name,
                            const std::string &form) {
  unsigned value = 0;
  const char *last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last || text.empty() || value > 0x7fffffff)
    return fail(name + " of the runner URL is not a number of seconds: " + text, form);
  return value;
}

} // namespace warpwright::runner::net
