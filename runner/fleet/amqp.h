// One connection to a RabbitMQ broker: librabbitmq's C interface with owners, results and errors in
// plain words.
//
// librabbitmq is synchronous, so every call here may block, and a connection belongs to one thread:
// BrokerLine's, which is the only user. One channel carries everything. Any error ends the connection's
// use: AMQP closes a channel on the first mistake, and starting anew is the one recovery there is.
#pragma once

#include "runner/fleet/address.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

struct amqp_connection_state_t_;
struct amqp_frame_t_;

namespace warpwright::runner::fleet {

struct QueueSpec {
  std::string name;
  bool durable = false, exclusive = false, auto_delete = false;
  std::vector<std::pair<std::string, std::variant<std::string, std::int32_t>>> arguments;
  std::vector<std::string> exchanges; ///< that it is bound to
  bool notice_new = false;            ///< QueueState::is_new is wanted
  /// What it holds can be had again: it may be made anew when the broker cannot serve it.
  bool replaceable = false;
};

struct QueueState {
  std::uint32_t ready = 0; ///< messages that wait
  bool is_new = false;     ///< it was not there before
};

struct ConsumerSpec {
  std::string queue;
  int prefetch = 0; ///< unacknowledged deliveries at a time; 0: no limit
  int priority = 0; ///< higher ones are served first
};

/// What is set up anew with each connection.
struct Topology {
  std::string connection_name;        ///< for the broker's operator
  std::vector<std::string> exchanges; ///< durable fanouts
  std::vector<QueueSpec> queues;
  std::vector<ConsumerSpec> consumers;
};

struct Message {
  std::string exchange; ///< empty: straight to the queue `routing_key`
  std::string routing_key, body;
  std::string message_id, reply_to;
  bool persistent = false;
  bool mandatory = false; ///< comes back when no queue takes it
};

struct Delivery {
  std::string queue;
  std::string message_id, reply_to, body;
  std::uint64_t tag = 0; ///< for ack and reject, within this connection
};

struct Confirmation {
  std::uint64_t sequence = 0; ///< of publish()
  bool multiple = false;      ///< this one and all before it
  bool accepted = true;
};

struct Returned {
  std::string message_id, routing_key;
};

using Event = std::variant<Delivery, Confirmation, Returned>;

/// Why a connection failed.
struct LineFault {
  Error error;
  bool refused = false;    ///< trying again will not help: wrong password, unknown authority, ...
  bool no_service = false; ///< the broker is there and failed, or gave no answer
  std::string queue = {};  ///< that the broker has and cannot serve
};

template <class T>
using LineResult = std::expected<T, LineFault>;

/// The largest message a broker takes unless it was told otherwise, less some room.
inline constexpr std::size_t kMaxMessageBytes = 100u << 20;

class AmqpConnection {
public:
  /// Connects, logs in and opens the channel with publisher confirms and heartbeats.
  static LineResult<AmqpConnection> open(const BrokerAddress &address, const std::string &name);
  AmqpConnection(AmqpConnection &&) noexcept;
  AmqpConnection &operator=(AmqpConnection &&) noexcept;
  ~AmqpConnection();

  /// Declares the exchanges and queues, binds, then starts the consumers.
  /// @return each queue's state, in the order of the topology
  LineResult<std::vector<QueueState>> set_up(const Topology &topology);
  /// With all that it holds.
  LineResult<void> remove(const std::string &queue);
  /// @return the sequence number that its Confirmation will have
  LineResult<std::uint64_t> publish(const Message &message);
  LineResult<void> acknowledge(std::uint64_t tag);
  LineResult<void> reject(std::uint64_t tag, bool requeue);
  /// What has arrived; nothing when nothing has. Also keeps the heartbeats going: call it every few seconds.
  LineResult<std::optional<Event>> next();
  /// Becomes readable when next() may have something.
  int descriptor() const;
  /// Says goodbye; the destructor just closes.
  void close();

private:
  struct Closer {
    void operator()(amqp_connection_state_t_ *connection) const;
  };

  AmqpConnection(amqp_connection_state_t_ *connection, std::string place);
  LineResult<void> open_socket(const BrokerAddress &address);
  LineResult<void> log_in(const BrokerAddress &address, const std::string &name);
  LineResult<void> declare_fanout(const std::string &exchange);
  LineResult<bool> exists(const std::string &queue);
  LineResult<QueueState> declare(const QueueSpec &queue);
  LineResult<void> consume(const ConsumerSpec &consumer);
  LineResult<std::optional<Event>> other_frame();
  LineResult<void> last_reply(const std::string &attempt);
  LineResult<void> status(int code, const std::string &attempt);

  std::unique_ptr<amqp_connection_state_t_, Closer> connection_;
  std::string place_; ///< "HOST:PORT"
  std::uint64_t published_ = 0;
};

} // namespace warpwright::runner::fleet
