// Detection of a dead connection: pings a silent peer and aborts the connection if it stays silent.
//
// Any received byte ends the silence, so a slow transfer is not aborted, and neither is a peer that
// answers "unknown method". Thread: the connection's strand.
#pragma once

#include "support/rpc/connection.h"

#include <chrono>

namespace warpwright::runner::net {

struct KeepaliveTimes {
  std::chrono::milliseconds ping_after{15'000}; ///< silence before a ping
  std::chrono::milliseconds drop_after{45'000}; ///< silence before the connection is aborted
};

class Keepalive {
public:
  /// Watches the connection until this object is destroyed or the connection ends.
  Keepalive(boost::asio::any_io_executor executor, std::weak_ptr<rpc::Connection> connection,
            KeepaliveTimes times);
  ~Keepalive();
  Keepalive(const Keepalive &) = delete;
  Keepalive &operator=(const Keepalive &) = delete;

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace warpwright::runner::net
