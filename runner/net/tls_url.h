// The URLs of remote runners: tls://[TOKEN@]HOST:PORT[?ca=FILE&token-file=FILE&cert=FILE&key=FILE
// &server-name=NAME&retry-s=SECONDS].
//
// What the URL leaves open comes from the environment: WARPWRIGHT_RUNNER_TOKEN,
// WARPWRIGHT_RUNNER_TOKEN_FILE, WARPWRIGHT_RUNNER_CA. There is no tcp://: everything is encrypted.
// Thread: any.
#pragma once

#include "runner/net/tls.h"

#include <optional>

namespace warpwright::runner::net {

struct HostPort {
  std::string host, port; ///< an IPv6 address without its brackets
};

/// "HOST:PORT", "[::1]:PORT". Errors: no port, or one that is no number from 0 to 65535.
Result<HostPort> parse_host_port(const std::string &text);

struct RemoteUrl {
  TlsTarget target;
  std::string token;
  /// How long a line that was lost is tried again.
  std::chrono::seconds retry{600};
};

/// Reads the environment and the token's file. Errors: a part that is not understood, a file that
/// cannot be read, no token.
Result<RemoteUrl> parse_tls_url(const std::string &url);

/// The URL as it may be shown and logged: without its token.
std::string without_secrets(const std::string &url);

} // namespace warpwright::runner::net
