// RFC 3986 percent-encoding for file: URIs.
#include "server/protocol/uri.h"

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

} // namespace

std::string path_of(const std::string &uri) {
  constexpr std::string_view kScheme = "file://";
  if (!uri.starts_with(kScheme))
    return uri;
  std::string path;
  for (std::size_t i = uri.find('/', kScheme.size()); i < uri.size(); ++i) {
    const int high = uri[i] == '%' && i + 2 < uri.size() ? hex_digit(uri[i + 1]) : -1;
    const int low = high >= 0 ? hex_digit(uri[i + 2]) : -1;
    if (low < 0) {
      path += uri[i];
    } else {
      path += static_cast<char>(16 * high + low);
      i += 2;
    }
  }
  return path;
}

std::string uri_of(const std::string &path) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || std::string_view("-._~/").find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += '%';
      uri += kDigits[byte >> 4];
      uri += kDigits[byte & 15];
    }
  }
  return uri;
}

} // namespace warpwright::server::protocol
