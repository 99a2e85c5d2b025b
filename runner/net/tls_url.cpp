// Parsing of tls:// URLs, with defaults from the environment.
#include "runner/net/tls_url.h"
#include "runner/net/token.h"
#include "runner/net/url_query.h"

#include <charconv>

namespace warpwright::runner::net {
namespace {

constexpr std::string_view kScheme = "tls://";
constexpr const char *kForm =
    "Write tls://[TOKEN@]HOST:PORT?ca=FILE&token-file=FILE&cert=FILE&key=FILE&server-name=NAME";

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

Result<std::string> find_token(const std::string &in_url, const std::string &file) {
  if (!in_url.empty())
    return in_url;
  if (!file.empty())
    return read_token(file);
  if (auto token = environment("WARPWRIGHT_RUNNER_TOKEN"); !token.empty())
    return token;
  if (const auto path = environment("WARPWRIGHT_RUNNER_TOKEN_FILE"); !path.empty())
    return read_token(path);
  return fail("a remote runner wants a token and there is none",
              "Add ?token-file=FILE to the URL, or set WARPWRIGHT_RUNNER_TOKEN_FILE");
}

} // namespace

bool is_port(const std::string &text) {
  std::uint16_t value = 0;
  const char *last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  return error == std::errc() && end == last && !text.empty();
}

Result<HostPort> parse_host_port(const std::string &text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || !is_port(text.substr(colon + 1)))
    return fail("'" + text + "' is no HOST:PORT", "Write 10.0.0.7:4433 or [::1]:4433");
  HostPort parsed{text.substr(0, colon), text.substr(colon + 1)};
  if (parsed.host.starts_with('[') && parsed.host.ends_with(']'))
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  else if (parsed.host.find(':') != std::string::npos)
    return fail("'" + text + "' is no HOST:PORT", "Write an IPv6 address in brackets: [::1]:4433");
  return parsed;
}

Result<RemoteUrl> parse_tls_url(const std::string &url) {
  std::string_view rest = std::string_view(url).substr(kScheme.size());
  const auto question = rest.find('?');
  const std::string_view query =
      question == std::string_view::npos ? std::string_view() : rest.substr(question + 1);
  rest = rest.substr(0, question);
  const auto at = rest.rfind('@');
  auto token = TRY(percent_decoded(at == std::string_view::npos ? "" : rest.substr(0, at)));
  auto address =
      TRY(parse_host_port(std::string(rest.substr(at == std::string_view::npos ? 0 : at + 1))));
  RemoteUrl remote;
  TlsTarget &target = remote.target;
  target.host = address.host;
  target.port = address.port;
  target.ca = environment("WARPWRIGHT_RUNNER_CA");
  std::string token_file, retry_s;
  TRY(read_query(query, {{"ca", &target.ca},
                         {"cert", &target.certificate},
                         {"key", &target.key},
                         {"server-name", &target.server_name},
                         {"token-file", &token_file},
                         {"retry-s", &retry_s}},
                 kForm));
  if (target.certificate.empty() != target.key.empty())
    return fail("the runner URL has one of cert and key", "A client certificate needs both");
  if (!retry_s.empty())
    remote.retry = std::chrono::seconds(TRY(to_seconds(retry_s, "retry-s", kForm)));
  remote.token = TRY(find_token(token, token_file));
  return remote;
}

std::string without_secrets(const std::string &url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos)
    return url;
  const std::size_t start = scheme + 3;
  const auto at = url.substr(0, url.find_first_of("/?", start)).rfind('@');
  return at == std::string::npos || at < start ? url : url.substr(0, start) + url.substr(at + 1);
}

} // namespace warpwright::runner::net
