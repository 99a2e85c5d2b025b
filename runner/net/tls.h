// TLS 1.3 streams, both ends: a listener that hands over streams whose handshake is done, and a
// connector that says in plain words why there is none.
//
// All of Asio's SSL is in tls.cpp, because it is slow to compile. It leaves out older TLS, session
// tickets and plain TCP: there is no way to serve without encryption. Thread: the executor's strand.
#pragma once

#include "support/error.h"
#include "support/rpc/connection.h"

#include <cstdint>

namespace warpwright::runner::net {

/// PEM files.
struct TlsServerFiles {
  std::string certificate; ///< the chain, the server's own first
  std::string key;
  std::string client_ca; ///< empty: clients need no certificate
};

struct TlsTarget {
  std::string host, port;
  std::string server_name;      ///< that the certificate must be made out to; empty: the host
  std::string ca;               ///< PEM file; empty: the system's authorities
  std::string certificate, key; ///< PEM files, where the runner asks for a client certificate

  std::string address() const { return host + ":" + port; }
};

/// Why there is no link, and whether trying again may help.
struct LinkFailure {
  Error error;
  bool is_final = false; ///< a wrong certificate or token; not a line that is down
};

/// Held for a peer that has not proved who it is; dropped when it has, or has gone.
using AdmissionSlot = std::shared_ptr<void>;

struct ListenerOptions {
  std::size_t max_unproved = 128; ///< peers in handshake or not authenticated; more wait unaccepted
  std::chrono::milliseconds handshake_limit{5'000};
};

class TlsListener {
public:
  using OnStream =
      std::function<void(std::unique_ptr<rpc::Stream>, const std::string &peer, AdmissionSlot)>;
  using Log = std::function<void(const std::string &line)>;

  virtual ~TlsListener() = default;
  /// "127.0.0.1:4433", with the port that was given where 0 was asked for.
  virtual std::string address() const = 0;
};

/// Listens until it is destroyed. Errors: files that cannot be used, an address that cannot be
/// listened on.
Result<std::unique_ptr<TlsListener>>
listen_tls(boost::asio::any_io_executor executor, const std::string &host, const std::string &port,
           const TlsServerFiles &files, ListenerOptions options, TlsListener::OnStream on_stream,
           TlsListener::Log log);

using Connected = std::function<void(std::expected<std::unique_ptr<rpc::Stream>, LinkFailure>)>;

/// Resolves, connects and shakes hands, within 15 s; calls `connected` once.
void connect_tls(boost::asio::any_io_executor executor, const TlsTarget &target,
                 Connected connected);

} // namespace warpwright::runner::net
