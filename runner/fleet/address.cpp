#include "runner/fleet/address.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <tuple>

namespace warpwright::runner::fleet {
namespace {

constexpr int kTlsPort = 5671, kPlainPort = 5672;
constexpr int kMaxPatienceSeconds = 86'400;
constexpr std::size_t kMaxSessionBytes = 100;
constexpr const char *kForm =
    "Write amqps://USER:PASSWORD@HOST:PORT/VHOST?ca=FILE&cert=FILE&key=FILE&session=NAME";

std::optional<std::string> percent_decoded(const std::string &text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    int value = 0;
    const char *from = text.data() + i + 1, *to = text.data() + std::min(i + 3, text.size());
    const auto [end, error] = std::from_chars(from, to, value, 16);
    if (error != std::errc() || end != text.data() + i + 3 || value == 0)
      return std::nullopt;
    decoded += static_cast<char>(value);
    i += 2;
  }
  return decoded;
}

std::optional<int> number(const std::string &text, int low, int high) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high)
    return std::nullopt;
  return value;
}

bool is_loopback(const std::string &host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Splits `text` at the first `separator`; without one, the second part is empty.
std::pair<std::string, std::string> cut(const std::string &text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string::npos)
    return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

Result<void> read_host(const std::string &text, BrokerAddress &address) {
  std::string host = text, port;
  if (text.starts_with('[')) { // an IPv6 address
    const auto end = text.find(']');
    if (end == std::string::npos)
      return fail("the broker's host has a [ without its ]", kForm);
    host = text.substr(1, end - 1);
    port = end + 1 < text.size() ? text.substr(end + 2) : "";
  } else
    std::tie(host, port) = cut(text, ':');
  if (host.empty())
    return fail("the fleet URL names no host", kForm);
  address.host = host;
  address.port = address.tls ? kTlsPort : kPlainPort;
  if (port.empty())
    return {};
  const auto value = number(port, 1, 65'535);
  if (!value)
    return fail("the broker's port is \"" + port + "\"", "Write a number from 1 to 65535");
  address.port = *value;
  return {};
}

Result<void> read_parameter(const std::string &text, BrokerAddress &address) {
  const auto [key, encoded] = cut(text, '=');
  const auto value = percent_decoded(encoded);
  if (!value || value->empty())
    return fail("the fleet URL's parameter " + key + " has no value", kForm);
  const std::pair<const char *, std::string BrokerAddress::*> texts[] = {
      {"ca", &BrokerAddress::ca_path},
      {"cert", &BrokerAddress::cert_path},
      {"key", &BrokerAddress::key_path},
      {"password_file", &BrokerAddress::password_path},
      {"session", &BrokerAddress::session}};
  for (const auto &[name, member] : texts)
    if (key == name) {
      address.*member = *value;
      return {};
    }
  if (key != "patience")
    return fail("the fleet URL has an unknown parameter " + key,
                "Known are ca, cert, key, password_file, session, patience");
  const auto seconds = number(*value, 1, kMaxPatienceSeconds);
  if (!seconds)
    return fail("the fleet URL's patience is \"" + *value + "\"",
                "Write seconds from 1 to " + std::to_string(kMaxPatienceSeconds));
  address.patience = std::chrono::seconds(*seconds);
  return {};
}

Result<void> read_password(BrokerAddress &address) {
  if (address.password_path.empty())
    return {};
  std::ifstream file(address.password_path);
  if (!std::getline(file, address.password) || address.password.empty())
    return fail("cannot read a password from " + address.password_path,
                "password_file= names a file with the password as its first line");
  return {};
}

Result<void> check(const BrokerAddress &address) {
  if (!address.tls && !is_loopback(address.host))
    return fail("amqp:// to " + address.host + " would send the password and the kernels readable",
                "Use amqps://; amqp:// is for a broker on this machine");
  if (address.user.empty() || address.password.empty())
    return fail("the fleet URL has no user or no password", kForm);
  if (address.cert_path.empty() != address.key_path.empty())
    return fail("the fleet URL has one of cert and key", "Give both, or neither");
  const bool plain_name = std::ranges::all_of(address.session, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!plain_name || address.session.size() > kMaxSessionBytes)
    return fail("the session's name is \"" + address.session + "\"",
                "Use up to 100 letters, digits, dots, dashes and underscores");
  return {};
}

} // namespace

std::string BrokerAddress::place() const { return host + ":" + std::to_string(port); }

bool is_fleet_url(const std::string &url) {
  return url.starts_with("amqps://") || url.starts_with("amqp://");
}

Result<BrokerAddress> parse_fleet_url(const std::string &url) {
  BrokerAddress address;
  address.tls = url.starts_with("amqps://");
  if (!is_fleet_url(url))
    return fail("a fleet's URL starts with amqps://", kForm);
  const auto [location, parameters] = cut(url.substr(url.find("://") + 3), '?');
  const auto [authority, vhost] = cut(location, '/');
  const auto at = authority.rfind('@');
  if (at == std::string::npos)
    return fail("the fleet URL has no user and password", kForm);
  const auto [user, password] = cut(authority.substr(0, at), ':');
  const auto plain_user = percent_decoded(user), plain_password = percent_decoded(password),
             plain_vhost = percent_decoded(vhost);
  if (!plain_user || !plain_password || !plain_vhost)
    return fail("the fleet URL has a % that is followed by no two hexadecimal digits", kForm);
  address.user = *plain_user;
  address.password = *plain_password;
  if (!plain_vhost->empty())
    address.vhost = *plain_vhost;
  TRY(read_host(authority.substr(at + 1), address));
  for (std::string rest = parameters; !rest.empty();) {
    std::string parameter;
    std::tie(parameter, rest) = cut(rest, '&');
    TRY(read_parameter(parameter, address));
  }
  TRY(read_password(address));
  TRY(check(address));
  return address;
}

} // namespace warpwright::runner::fleet
