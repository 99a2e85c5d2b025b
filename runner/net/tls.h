// TLS 1.3 streams for both ends: a listener that hands over streams after the handshake, and a
// connector that explains failures in plain words.
//
// All of Asio's SSL is in tls.cpp, because it is slow to compile. Older TLS versions, session
// tickets and plain TCP are not supported, so every connection is encrypted. Thread: the executor's
// strand.
#pragma once

#include "support/error.h"
#include "support/rpc/connection.h"

#include <cstdint>

namespace warpwright::runner::net {

/// Paths of PEM files.
struct TlsServerFiles {
  std::string certificate; ///< the chain, with the server's own certificate first
  std::string key;
  std::string client_ca; ///< empty: clients need no certificate
};

struct TlsTarget {
  std::string host, port;
  std::string server_name;      ///< name that the certificate must have; empty: the host
  std::string ca;               ///< PEM file; empty: the system's authorities
  std::string certificate, key; ///< PEM files, if the runner requires a client certificate

  std::string address() const { return host + ":" + port; }
};

/// Why there is no link, and whether a retry may succeed.
struct LinkFailure {
  Error error;
  bool is_final = false; ///< no retry: a wrong certificate or token, not an unreachable peer
};

/// Slot for a peer that is not authenticated yet; released when it is, or when it disconnects.
using AdmissionSlot = std::shared_ptr<void>;

struct ListenerOptions {
  /// peers in handshake or not authenticated; further ones are not accepted yet
  std::size_t max_unproved = 128;
  std::chrono::milliseconds handshake_limit{5'000};
};

class TlsListener {
public:
  using OnStream =
      std::function<void(std::unique_ptr<rpc::Stream>, const std::string &peer, AdmissionSlot)>;
  using Log = std::function<void(const std::string &line)>;

  virtual ~TlsListener() = default;
  /// "127.0.0.1:4433", with the actual port if port 0 was requested.
  virtual std::string address() const = 0;
};

/// Listens until the listener is destroyed. Errors: unusable files; an address that cannot be
/// bound.
Result<std::unique_ptr<TlsListener>>
listen_tls(boost::asio::any_io_executor executor, const std::string &host, const std::string &port,
           const TlsServerFiles &files, ListenerOptions options, TlsListener::OnStream on_stream,
           TlsListener::Log log);

using Connected = std::function<void(std::expected<std::unique_ptr<rpc::Stream>, LinkFailure>)>;

/// Resolves the host, connects and performs the handshake within 15 s; calls `connected` once.
void connect_tls(boost::asio::any_io_executor executor, const TlsTarget &target,
                 Connected connected);

} // namespace warpwright::runner::net
