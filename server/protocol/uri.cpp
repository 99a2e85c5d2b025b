// RFC 3986 percent-encoding.
#include "server/protocol/uri.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace warpwright::server::protocol {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// With everything but letters, digits and `kept` percent-encoded.
std::string encoded(const std::string &text, std::string_view kept) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || kept.find(c) != std::string_view::npos) {
      result += c;
    } else {
      result += '%';
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
    }
  }
  return result;
}

} // namespace

std::string percent_decoded(const std::string &text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
    if (low < 0) {
      result += text[i];
    } else {
      result += static_cast<char>(16 * high + low);
      i += 2;
    }
  }
  return result;
}

std::string percent_encoded(const std::string &text) { return encoded(text, "-._~/:"); }

std::string path_of(const std::string &uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme))
    return uri;
  return percent_decoded(uri.substr(std::min(uri.find('/', kScheme.size()), uri.size())));
}

std::string uri_of(const std::string &path) { return "file://" + encoded(path, "-._~/"); }

} // namespace warpwright::server::protocol
