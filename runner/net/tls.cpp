// TLS streams of Asio behind rpc::Stream.
//
// A connection is closed so that a refused peer can still read the reason. The last message and the
// close_notify are sent; then data from the peer is read and discarded for a moment. Without this,
// closing the socket with unread data would reset it and lose the last message.
#include "runner/net/tls.h"
#include "runner/net/tls_context.h"
#include "support/rpc/accept_loop.h"

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <netinet/tcp.h>

namespace warpwright::runner::net {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;
namespace ssl = boost::asio::ssl;

constexpr std::chrono::seconds kConnectLimit{15};
constexpr std::chrono::seconds kFarewellLimit{2};
/// Time after which unacknowledged data, or a peer that does not read, ends the connection.
constexpr unsigned kSendStallMs = 60'000;

/// One TLS connection with the state of its pending operations, which keep it alive.
struct Channel : std::enable_shared_from_this<Channel> {
  Channel(tcp::socket socket, std::shared_ptr<ssl::context> context)
      : context(std::move(context)), stream(std::move(socket), *this->context),
        timer(stream.get_executor()) {}

  tcp::socket &socket() { return stream.next_layer(); }

  void prepare_socket() {
    error_code ignored; // these options are optional
    socket().set_option(tcp::no_delay(true), ignored);
    setsockopt(socket().native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &kSendStallMs,
               sizeof kSendStallMs);
  }

  void close_now() {
    error_code ignored; // errors while closing cannot be reported
    timer.cancel();
    socket().close(ignored);
  }

  /// Closes the connection after a TLS shutdown, within kFarewellLimit.
  void close_politely() {
    if (!socket().is_open())
      return;
    error_code ignored;
    socket().cancel(ignored); // a pending read or write ends with an error
    expire(kFarewellLimit);
    boost::asio::post(stream.get_executor(), [self = shared_from_this()] {
      self->stream.async_shutdown([self](error_code) { self->say_no_more(); });
    });
  }

  /// Closes the connection after `limit`, unless the timer is set again before.
  void expire(std::chrono::milliseconds limit) {
    timer.expires_after(limit);
    timer.async_wait([self = shared_from_this()](error_code error) {
      if (!error)
        self->close_now();
    });
  }

  std::shared_ptr<ssl::context> context;
  ssl::stream<tcp::socket> stream;
  boost::asio::steady_timer timer;

private:
  void say_no_more() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    discard();
  }

  void discard() {
    socket().async_read_some(boost::asio::buffer(discarded_),
                             [self = shared_from_this()](error_code error, std::size_t) {
                               error ? self->close_now() : self->discard();
                             });
  }

  std::array<char, 4096> discarded_;
};

class TlsStream final : public rpc::Stream {
public:
  explicit TlsStream(std::shared_ptr<Channel> channel) : channel_(std::move(channel)) {}
  ~TlsStream() override {
    if (!closed_)
      channel_->close_now();
  }

  void async_read(char *data, std::size_t size,
                  std::function<void(error_code, std::size_t)> done) override {
    if (closed_)
      return boost::asio::post(channel_->stream.get_executor(), [done = std::move(done)] {
        done(boost::asio::error::operation_aborted, 0);
      });
    channel_->stream.async_read_some(boost::asio::buffer(data, size), std::move(done));
  }
  void async_write(const std::string &data, std::function<void(error_code)> done) override {
    boost::asio::async_write(channel_->stream, boost::asio::buffer(data),
                             [channel = channel_, done = std::move(done)](
                                 error_code error, std::size_t) { done(error); });
  }
  void close() override {
    if (!std::exchange(closed_, true))
      channel_->close_politely();
  }

private:
  std::shared_ptr<Channel> channel_;
  bool closed_ = false;
};

std::string address_of(const tcp::endpoint &endpoint) {
  const std::string host = endpoint.address().to_string();
  return (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" +
         std::to_string(endpoint.port());
}

class Listener final : public TlsListener, public std::enable_shared_from_this<Listener> {
public:
  Listener(boost::asio::any_io_executor executor, TlsContext context, ListenerOptions options,
           OnStream on_stream, Log log)
      : accepting_(std::make_shared<rpc::AcceptLoop<tcp>>(executor)),
        context_(std::make_shared<ssl::context>(context.release())), options_(options),
        on_stream_(std::move(on_stream)), log_(std::move(log)) {}

  error_code open(const tcp::endpoint &endpoint) {
    tcp::acceptor &acceptor = accepting_->acceptor();
    error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error)
      acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error)
      acceptor.bind(endpoint, error);
    if (!error)
      acceptor.listen(boost::asio::socket_base::max_listen_connections, error);
    if (!error)
      accepting_->start(
          {.on_socket = [self = shared_from_this()](
                            tcp::socket socket) { self->shake_hands(std::move(socket)); },
           .may_accept = [self = shared_from_this()] {
             return self->unproved_ < self->options_.max_unproved;
           },
           .log = log_});
    return error;
  }
  void close() { accepting_->close(); }
  std::string address() const override {
    error_code ignored;
    return address_of(accepting_->acceptor().local_endpoint(ignored));
  }

private:
  AdmissionSlot take_slot() {
    ++unproved_;
    return AdmissionSlot(this, [weak = weak_from_this()](void *) {
      if (const auto self = weak.lock()) {
        --self->unproved_;
        self->accepting_->resume();
      }
    });
  }

  void shake_hands(tcp::socket socket) {
    error_code error;
    const tcp::endpoint endpoint = socket.remote_endpoint(error);
    if (error) // the peer has already disconnected
      return;
    auto channel = std::make_shared<Channel>(std::move(socket), context_);
    channel->prepare_socket();
    channel->expire(options_.handshake_limit);
    channel->stream.async_handshake(
        ssl::stream_base::server, [self = shared_from_this(), channel, slot = take_slot(),
                                   peer = address_of(endpoint)](error_code failed) {
          const bool late = channel->timer.cancel() == 0;
          if (!failed && !late)
            return self->on_stream_(std::make_unique<TlsStream>(channel), peer, slot);
          self->log_(
              "refused " + peer + ": " +
              (late ? "no TLS handshake in time" : "no TLS 1.3 handshake: " + failed.message()));
          channel->close_now();
        });
  }

  std::shared_ptr<rpc::AcceptLoop<tcp>> accepting_;
  std::shared_ptr<ssl::context> context_;
  ListenerOptions options_;
  OnStream on_stream_;
  Log log_;
  std::size_t unproved_ = 0;
};

/// Owner of a listener that its pending operations share.
class OwnedListener final : public TlsListener {
public:
  explicit OwnedListener(std::shared_ptr<Listener> listener) : listener_(std::move(listener)) {}
  ~OwnedListener() override { listener_->close(); }
  std::string address() const override { return listener_->address(); }

private:
  std::shared_ptr<Listener> listener_;
};

class Connector : public std::enable_shared_from_this<Connector> {
public:
  Connector(boost::asio::any_io_executor executor, TlsTarget target, Connected connected)
      : target_(std::move(target)), connected_(std::move(connected)), resolver_(executor),
        timer_(executor) {}

  void start(TlsContext context) {
    channel_ = std::make_shared<Channel>(tcp::socket(timer_.get_executor()),
                                         std::make_shared<ssl::context>(context.release()));
    timer_.expires_after(kConnectLimit);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error)
        self->finish({{"no answer from " + self->target_.address() + " within 15 s",
                       "Check the address, and that no firewall drops the port"},
                      false});
    });
    resolver_.async_resolve(target_.host, target_.port,
                            [self = shared_from_this()](error_code error, const auto &found) {
                              self->on_resolved(error, found);
                            });
  }

private:
  void on_resolved(error_code error, const tcp::resolver::results_type &found) {
    if (error)
      return finish({{"the host name " + target_.host + " cannot be resolved: " + error.message(),
                      "Check its spelling and this machine's network"},
                     false});
    boost::asio::async_connect(channel_->socket(), found,
                               [self = shared_from_this()](error_code failed, const auto &) {
                                 self->on_connected(failed);
                               });
  }

  void on_connected(error_code error) {
    if (!connected_)
      return;
    if (error == boost::asio::error::connection_refused)
      return finish({{"connection refused: nothing listens at " + target_.address(),
                      "Start a runner there: warpwright-runner serve --listen tls://HOST:" +
                          target_.port + " ..., or correct the port"},
                     false});
    if (error)
      return finish({{"cannot reach " + target_.address() + ": " + error.message(),
                      "Check the address and the network"},
                     false});
    channel_->prepare_socket();
    if (auto expected = expect_server_name(channel_->stream.native_handle(), target_); !expected)
      return finish({expected.error(), true});
    channel_->stream.async_handshake(
        ssl::stream_base::client,
        [self = shared_from_this()](error_code failed) { self->on_handshake(failed); });
  }

  void on_handshake(error_code error) {
    if (!connected_)
      return;
    if (error)
      return finish(explain_handshake(channel_->stream.native_handle(), target_, error.message()));
    timer_.cancel();
    std::exchange(connected_, nullptr)(std::make_unique<TlsStream>(channel_));
  }

  void finish(LinkFailure failure) {
    if (!connected_)
      return;
    timer_.cancel();
    resolver_.cancel();
    channel_->close_now();
    std::exchange(connected_, nullptr)(std::unexpected(std::move(failure)));
  }

  TlsTarget target_;
  Connected connected_;
  tcp::resolver resolver_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<Channel> channel_;
};

} // namespace

Result<std::unique_ptr<TlsListener>>
listen_tls(boost::asio::any_io_executor executor, const std::string &host, const std::string &port,
           const TlsServerFiles &files, ListenerOptions options, TlsListener::OnStream on_stream,
           TlsListener::Log log) {
  auto context = TRY(make_server_context(files));
  if (const std::string trouble = certificate_trouble(context.get()); !trouble.empty())
    log("the certificate " + files.certificate + " " + trouble + ": clients will refuse it");
  const std::string address = host + ":" + port;
  error_code error;
  tcp::resolver resolver(executor);
  const auto found = resolver.resolve(host, port, tcp::resolver::passive, error);
  if (error || found.empty())
    return fail("cannot listen on " + address + ": " + error.message(),
                "Name an address of this machine, or 0.0.0.0 for all of them");
  auto listener = std::make_shared<Listener>(executor, std::move(context), options,
                                             std::move(on_stream), std::move(log));
  if (const error_code failed = listener->open(*found.begin()))
    return fail("cannot listen on " + address + ": " + failed.message(),
                "Choose an address of this machine and a free port");
  return std::make_unique<OwnedListener>(std::move(listener));
}

void connect_tls(boost::asio::any_io_executor executor, const TlsTarget &target,
                 Connected connected) {
  auto context = make_client_context(target);
  if (!context)
    return connected(std::unexpected(LinkFailure{context.error(), true}));
  std::make_shared<Connector>(executor, target, std::move(connected))->start(std::move(*context));
}

} // namespace warpwright::runner::net
