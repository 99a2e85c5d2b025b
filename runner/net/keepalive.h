// Notices a line that is down: pings a peer that is silent and gives up when it stays so.
//
// Any byte counts as life, so a slow transfer is no silence, and a peer that answers "unknown
// method" is alive. Thread: the connection's strand.
#pragma once

#include "support/rpc/connection.h"

#include <chrono>

namespace warpwright::runner::net {

struct KeepaliveTimes {
  std::chrono::milliseconds ping_after{15'000}; ///< silence
  std::chrono::milliseconds drop_after{45'000}; ///< silence; then the connection is aborted
};

class Keepalive {
public:
  /// Watches until it is destroyed or the connection ends.
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
