#include "trainer/endpoint/endpoint_config.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

namespace warpwright::trainer {
namespace {

constexpr int kMost = 1'000'000'000;

Result<EndpointConfig> checked(EndpointConfig config) {
  if (config.url.empty())
    return fail("[endpoint] names no url", "Write url = \"https://host/v1\"");
  if (config.model.empty())
    return fail("[endpoint] names no model", "Write model = \"...\", as the endpoint calls it");
  if (config.money_budget > 0 && config.prompt_price + config.answer_price == 0)
    return fail("[endpoint] has a money_budget without prices",
                "Write prompt_price and answer_price, per million tokens");
  TRY(parse_endpoint_url(config.url));
  return config;
}

/// Reads the key file. Errors: a file that others may read or write, or that is empty.
Result<std::string> read_private(const std::string &path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0)
    return fail("cannot read the key file " + path, "Name a file that this user may read");
  if ((status.st_mode & 077) != 0)
    return fail("others than its owner may use the key file " + path, "chmod 600 " + path);
  std::ifstream file(path);
  std::string key;
  file >> key;
  if (key.empty())
    return fail("the key file " + path + " is empty or cannot be read",
                "It must hold the endpoint's key and nothing else");
  return key;
}

} // namespace

namespace {

Result<EndpointConfig> read_table(const TomlFile &file) {
  EndpointConfig config;
  auto read =
      TableReader(file, "endpoint")
          .read("url", config.url)
          .read("model", config.model)
          .read("key_env", config.key_env)
          .read("key_file", config.key_file)
          .read("ca", config.ca)
          .read("temperature", config.temperature, 0, 2)
          .read("max_tokens", config.max_tokens, 64, kMost)
          .choose("token_field", config.token_field, {"max_tokens", "max_completion_tokens"})
          .read("stream", config.stream)
          .read("attempts", config.attempts, 1, 100)
          .read("idle_s", config.idle_s, 1, 86'400)
          .read("answer_s", config.answer_s, 1, 86'400)
          .read("requests_per_minute", config.requests_per_minute, 0, kMost)
          .read("tokens_per_minute", config.tokens_per_minute, 0, kMost)
          .read("token_budget", config.token_budget)
          .read("prompt_price", config.prompt_price, 0, 1e6)
          .read("answer_price", config.answer_price, 0, 1e6)
          .read("money_budget", config.money_budget, 0, 1e9)
          .read("json_schema", config.json_schema)
          .read("turns", config.turns, 1, 64)
          .read("answers", config.answers, 1, 16)
          .finish();
  return read ? Result<EndpointConfig>(std::move(config)) : std::unexpected(read.error());
}

Result<TomlFile> open_file(const std::string &path) {
  std::ifstream input(path, std::ios::binary);
  if (path.empty() || !input)
    return fail(path.empty() ? "the policy endpoint needs a configuration file"
                             : "cannot read " + path,
                "Give one with a table [endpoint], or write endpoint:https://host/v1#model");
  return TomlFile::parse(std::string(std::istreambuf_iterator<char>(input), {}), path);
}

} // namespace

Result<EndpointConfig> read_endpoint(const TomlFile &file) {
  return checked(TRY(read_table(file)));
}

Result<EndpointConfig> read_endpoint_file(const std::string &path) {
  const TomlFile file = TRY(open_file(path));
  return read_endpoint(file);
}

Result<EndpointConfig> endpoint_from_policy(const std::string &policy) {
  constexpr std::string_view kPrefix = "endpoint:";
  if (!policy.starts_with(kPrefix))
    return fail(policy + " is no endpoint", "Write endpoint:https://host/v1#model");
  const std::string rest = policy.substr(kPrefix.size());
  const std::size_t hash = rest.find('#');
  EndpointConfig config;
  if (const char *path = std::getenv("WARPWRIGHT_ENDPOINT_CONFIG"); path && *path) {
    const TomlFile file = TRY(open_file(path));
    config = TRY(read_table(file));
    config.model.clear();
  }
  config.url = rest.substr(0, hash);
  if (hash != std::string::npos)
    config.model = rest.substr(hash + 1);
  if (const char *file = std::getenv("WARPWRIGHT_ENDPOINT_KEY_FILE"))
    config.key_file = file;
  if (const char *ca = std::getenv("WARPWRIGHT_ENDPOINT_CA"))
    config.ca = ca;
  if (config.model.empty())
    return fail(policy + " names no model", "Write endpoint:https://host/v1#model");
  return checked(std::move(config));
}

Result<Secret> load_key(const EndpointConfig &config) {
  std::string key;
  if (!config.key_file.empty()) {
    key = TRY(read_private(config.key_file));
  } else if (const char *named = std::getenv(config.key_env.c_str())) {
    key = named;
  }
  for (const char c : key)
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) > '~')
      return fail("the endpoint's key holds a character that no header may hold",
                  "Copy the key again, without spaces or line ends");
  const auto url = parse_endpoint_url(config.url);
  if (key.empty() && !(url && url->loopback()))
    return fail("there is no key for " + config.url,
                "Set " + config.key_env + ", or key_file to a file with mode 0600");
  return Secret(std::move(key));
}

Result<EndpointUrl> parse_endpoint_url(const std::string &url) {
  EndpointUrl parts;
  std::string rest;
  if (url.starts_with("https://")) {
    rest = url.substr(8);
  } else if (url.starts_with("http://")) {
    parts.tls = false;
    rest = url.substr(7);
  } else {
    return fail("the endpoint's URL must begin with https://", "Write url = \"https://host/v1\"");
  }
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string authority = rest.substr(0, slash);
  parts.path = rest.substr(slash);
  while (parts.path.ends_with('/'))
    parts.path.pop_back();
  if (authority.find('@') != std::string::npos)
    return fail("the endpoint's URL holds a user or a password", "Put the key into key_file");
  if (parts.path.find_first_of(" ?#\r\n") != std::string::npos)
    return fail("the endpoint's URL must be host, port and path alone");
  std::size_t colon = authority.rfind(':');
  if (authority.starts_with('[')) { // an IPv6 address
    const std::size_t close = authority.find(']');
    if (close == std::string::npos)
      return fail("the endpoint's URL has a [ without its ]");
    parts.host = authority.substr(1, close - 1);
    colon = close + 1 < authority.size() ? close + 1 : std::string::npos;
  } else {
    parts.host = authority.substr(0, colon);
  }
  parts.port =
      colon == std::string::npos ? (parts.tls ? "443" : "80") : authority.substr(colon + 1);
  if (parts.host.empty() || parts.port.empty() ||
      parts.port.find_first_not_of("0123456789") != std::string::npos)
    return fail("the endpoint's URL " + url + " names no host, or no number as its port");
  if (!parts.tls && !parts.loopback())
    return fail("http:// to " + parts.host + " would send prompts and key in the clear",
                "Use https://, or a server on this machine");
  return parts;
}

} // namespace warpwright::trainer
