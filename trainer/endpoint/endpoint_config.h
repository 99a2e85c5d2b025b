// Configuration of an endpoint: the table [endpoint] of a run's configuration, and the key.
//
//   [endpoint]
//   url = "https://api.example.com/v1"      # .../chat/completions is added
//   model = "some-model"
//   key_env = "WARPWRIGHT_ENDPOINT_KEY"     # or key_file, which only its owner may read (mode 0600)
//
// A key is a Secret: it goes into one header, and never into a message, a log or a printed configuration.
// Thread: values, any.
#pragma once

#include "trainer/config/table_reader.h"

namespace warpwright::trainer {

/// Text that is never shown. It has no operator<< and no conversion to JSON.
class Secret {
public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  bool empty() const { return text_.empty(); }
  /// The text, only for the Authorization header.
  const std::string &reveal() const { return text_; }

private:
  std::string text_;
};

struct EndpointConfig {
  std::string url, model;
  std::string key_env = "WARPWRIGHT_ENDPOINT_KEY", key_file;
  std::string ca; ///< PEM file of certificate authorities; empty: the system's
  double temperature = 0.8;
  int max_tokens = 8192; ///< of one answer
  std::string token_field =
      "max_tokens";   ///< or "max_completion_tokens", as newer models of some vendors require
  bool stream = true; ///< answers as server-sent events
  int attempts = 6;   ///< most tries of one request
  int idle_s = 120;   ///< longest time without a byte
  int answer_s = 900; ///< longest time for one answer
  int requests_per_minute = 0;            ///< 0: no limit
  int tokens_per_minute = 0;              ///< prompt and answer; 0: no limit
  std::uint64_t token_budget = 2'000'000; ///< prompt and answer, of the whole run; 0: no limit
  double prompt_price = 0, answer_price = 0; ///< money per million tokens; both 0: not known
  double money_budget = 0;                   ///< of the whole run, in the same money; 0: no limit
  /// Ask for an answer as JSON that fits a schema (structured output); given up where the endpoint refuses it.
  bool json_schema = true;
  int turns = 4;   ///< answers of one conversation, each with feedback on the one before
  int answers = 1; ///< asked for in each turn; the best goes on (best of n)
};

/// Reads [endpoint]. Errors: as TableReader; no URL or model; http:// to another machine.
Result<EndpointConfig> read_endpoint(const TomlFile &file);

/// Reads the table [endpoint] of a file. Errors: no path; an unreadable file; as read_endpoint().
Result<EndpointConfig> read_endpoint_file(const std::string &path);

/// Parses the argument of `--policy`: "endpoint:https://host/v1#model". The file that WARPWRIGHT_ENDPOINT_CONFIG names
/// may have a table [endpoint] with the other keys.
Result<EndpointConfig> endpoint_from_policy(const std::string &policy);

/// Loads the key from key_file or key_env. Loopback addresses need no key. Errors: no key; a key file that others may
/// use, or that is empty; a key with characters that no header may hold.
Result<Secret> load_key(const EndpointConfig &config);

/// Parts of "https://host:8443/v1".
struct EndpointUrl {
  bool tls = true;
  std::string host, port, path; ///< path: "/v1", without a slash at its end
  bool loopback() const { return host == "localhost" || host.starts_with("127.") || host == "::1"; }
};
/// Errors: neither https:// nor http:// to this machine; a user name or password; no host; a query or fragment.
Result<EndpointUrl> parse_endpoint_url(const std::string &url);

} // namespace warpwright::trainer
