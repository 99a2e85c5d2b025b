// What an endpoint is and how it may be used: the table [endpoint] of a run's configuration, and the key.
//
//   [endpoint]
//   url = "https://api.example.com/v1"      # .../chat/completions is added
//   model = "some-model"
//   key_env = "WARPWRIGHT_ENDPOINT_KEY"     # or key_file, which only its owner may read (mode 0600)
//
// A key is a Secret: it is put into one header, and no message, log or described configuration holds it. Thread: values, any.
#pragma once

#include "trainer/config/table_reader.h"

namespace warpwright::trainer {

/// Text that is never shown. There is no operator<<, and no way to JSON.
class Secret {
public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  bool empty() const { return text_.empty(); }
  /// For the Authorization header alone.
  const std::string &reveal() const { return text_; }

private:
  std::string text_;
};

struct EndpointConfig {
  std::string url, model;
  std::string key_env = "WARPWRIGHT_ENDPOINT_KEY", key_file;
  std::string ca; ///< PEM file of the server's authority; empty: the system's
  double temperature = 0.8;
  int max_tokens = 8192; ///< of one answer
  std::string token_field =
      "max_tokens";   ///< or "max_completion_tokens", as newer models of some houses want it
  bool stream = true; ///< answers as server-sent events
  int attempts = 6;   ///< of one request
  int idle_s = 120;   ///< without a byte
  int answer_s = 900; ///< for one whole answer
  int requests_per_minute = 0;            ///< 0: no limit of our own
  int tokens_per_minute = 0;              ///< prompt and answer; 0: no limit of our own
  std::uint64_t token_budget = 2'000'000; ///< prompt and answer, of the whole run; 0: no limit
};

/// Reads [endpoint]. Errors: as TableReader; no URL or model; http:// to another machine.
Result<EndpointConfig> read_endpoint(const TomlFile &file);

/// The table [endpoint] of a file. Errors: no file named, or one that cannot be read; as read_endpoint().
Result<EndpointConfig> read_endpoint_file(const std::string &path);

/// The configuration of `--policy endpoint:URL`; the model after a `#`: "endpoint:https://host/v1#model".
Result<EndpointConfig> endpoint_from_policy(const std::string &policy);

/// Errors: no key is there; a key file that others may read, or that is empty. Loopback addresses need none.
Result<Secret> load_key(const EndpointConfig &config);

/// Parts of "https://host:8443/v1".
struct EndpointUrl {
  bool tls = true;
  std::string host, port, path; ///< path: "/v1", without a slash at its end
  bool loopback() const { return host == "localhost" || host.starts_with("127.") || host == "::1"; }
};
/// Errors: neither https:// nor http:// to this machine, a user name or password in it.
Result<EndpointUrl> parse_endpoint_url(const std::string &url);

} // namespace warpwright::trainer
