// The URLs of remote runners: tls://[TOKEN@]HOST:PORT[?ca=FILE&token-file=FILE&cert=FILE&key=FILE
// &server-name=NAME&retry-s=SECONDS].
//
// Parts that the URL leaves out come from the environment: WARPWRIGHT_RUNNER_TOKEN,
// WARPWRIGHT_RUNNER_TOKEN_FILE, WARPWRIGHT_RUNNER_CA. There is no tcp:// scheme: every connection
// is encrypted.
// Thread: any.
#pragma once

#include "runner/net/tls.h"

#include <optional>

namespace warpwright::runner::net {

struct HostPort {
  std::string host, port; ///< IPv6 addresses without brackets
};

/// Whether the text is a number from 0 to 65535.
bool is_port(const std::string &text);

/// Parses "HOST:PORT" or "[::1]:PORT". Errors: no port, or not a number from 0 to 65535.
Result<HostPort> parse_host_port(const std::string &text);

struct RemoteUrl {
  TlsTarget target;
  std::string token;
  /// How long a lost connection is tried again.
  std::chrono::seconds retry{600};
};

/// Parses the URL, with the environment and the token file. Errors: a part that is not understood;
/// no token, or a token file that cannot be read.
Result<RemoteUrl> parse_tls_url(const std::string &url);

/// The URL without its token, for display and logs.
std::string without_secrets(const std::string &url);

} // namespace warpwright::runner::net
