// Where a fleet's broker is, and how to get in: the URL that stands wherever a runner's URL may.
//
//   amqps://USER:PASSWORD@HOST[:PORT]/VHOST?ca=FILE&cert=FILE&key=FILE&session=NAME&patience=SECONDS
//
// `?password_file=FILE` in the password's place keeps it out of process lists and logs.
// User, password and virtual host may be percent-encoded. Without `ca` the system's authorities are
// trusted. `amqp://` (no TLS) is for a broker on this machine only, since passwords and kernels would
// travel readable. Thread: values, any.
#pragma once

#include "support/error.h"

#include <chrono>
#include <string>

namespace warpwright::runner::fleet {

struct BrokerAddress {
  bool tls = true;
  std::string user, password, host, vhost = "/";
  int port = 5671;
  std::string ca_path;             ///< PEM; empty: the system's
  std::string cert_path, key_path; ///< PEM of the client's certificate; both or neither
  /// A client that comes back under the same name gets the verdicts that were finished meanwhile.
  std::string session;
  std::string password_path; ///< a file whose first line is the password
  /// How long the first connection may take before requests are refused.
  std::chrono::seconds patience{20};

  /// "HOST:PORT", for messages: no password.
  std::string place() const;
};

/// True for amqps:// and amqp://.
bool is_fleet_url(const std::string &url);

/// Reads the password's file. Errors: what is missing or wrong in `url`; never quotes the password.
Result<BrokerAddress> parse_fleet_url(const std::string &url);

} // namespace warpwright::runner::fleet
