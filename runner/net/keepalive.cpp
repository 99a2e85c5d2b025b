// The timer expires when continued silence would require the next step.
#include "runner/net/keepalive.h"

#include <boost/asio/steady_timer.hpp>

namespace warpwright::runner::net {

using std::chrono::steady_clock;

struct Keepalive::State : std::enable_shared_from_this<State> {
  State(boost::asio::any_io_executor executor, std::weak_ptr<rpc::Connection> connection,
        KeepaliveTimes times)
      : timer(executor), connection(std::move(connection)), times(times) {}

  void wait(steady_clock::time_point until) {
    timer.expires_at(until);
    timer.async_wait([weak = weak_from_this()](boost::system::error_code error) {
      if (const auto self = weak.lock(); !error && self)
        self->look();
    });
  }

  void look() {
    const auto peer = connection.lock();
    if (!peer || !peer->is_open())
      return;
    const auto heard = peer->last_received();
    const auto silence = steady_clock::now() - heard;
    if (silence >= times.drop_after)
      return peer->abort("nothing was heard from the peer for " +
                         std::to_string(times.drop_after.count()) + " ms");
    if (silence < times.ping_after)
      return wait(heard + times.ping_after);
    // Any answer shows that the peer is alive.
    peer->request("ping", nullptr, [](const rpc::Outcome &) {});
    wait(std::min(steady_clock::now() + times.ping_after, heard + times.drop_after));
  }

  boost::asio::steady_timer timer;
  std::weak_ptr<rpc::Connection> connection;
  KeepaliveTimes times;
};

Keepalive::Keepalive(boost::asio::any_io_executor executor,
                     std::weak_ptr<rpc::Connection> connection, KeepaliveTimes times)
    : state_(std::make_shared<State>(executor, std::move(connection), times)) {
  state_->wait(steady_clock::now() + times.ping_after);
}

Keepalive::~Keepalive() { state_->timer.cancel(); }

} // namespace warpwright::runner::net
