// Address of a fleet's broker: a URL that may be used wherever a runner's URL may.
//
//   amqps://USER:PASSWORD@HOST[:PORT]/VHOST?ca=FILE&cert=FILE&key=FILE&session=NAME&patience=SECONDS
//
// `?password_file=FILE` instead of a password keeps it out of process lists and logs.
// User, password and virtual host may be percent-encoded. Without `ca` the system's authorities are
// trusted. `amqp://` (no TLS) is only for a broker on this machine, since it would send passwords
// and kernels unencrypted. Thread: values, any.
#pragma once

#include "support/error.h"

#include <chrono>
#include <string>

namespace warpwright::runner::fleet {

struct BrokerAddress {
  bool tls = true;
  std::string user, password, host, vhost = "/";
  int port = 5671;
  std::string ca_path;             ///< PEM; empty: the system's authorities
  std::string cert_path, key_path; ///< PEM of the client's certificate; both or neither
  /// Name of the client's session. A client that reconnects with the same name gets the verdicts
  /// that finished meanwhile.
  std::string session;
  std::string password_path; ///< a file whose first line is the password
  /// Time limit of the first connection, after which requests are refused.
  std::chrono::seconds patience{20};

  /// "HOST:PORT" without the password, for messages.
  std::string place() const;
};

/// True for amqps:// and amqp://.
bool is_fleet_url(const std::string &url);

/// Parses the URL and reads the password file. Errors: what is missing or wrong in `url`; never
/// quotes the password.
Result<BrokerAddress> parse_fleet_url(const std::string &url);

} // namespace warpwright::runner::fleet
