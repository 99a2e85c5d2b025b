// One connection to a RabbitMQ broker: a wrapper of librabbitmq's C interface with ownership,
// results and readable errors.
//
// librabbitmq is synchronous, so every call may block. A connection belongs to one thread, that of
// BrokerLine, its only user. One channel carries all messages; another one only asks whether a
// queue exists. A connection cannot be used after an error: AMQP closes a channel on the first
// mistake, and the only recovery is a new connection.
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
  std::vector<std::string> exchanges; ///< exchanges that the queue is bound to
  bool notice_new = false;            ///< whether QueueState::is_new is needed
  /// Whether the queue may be deleted and made anew when the broker cannot serve it, because its
  /// content can be obtained again.
  bool replaceable = false;
};

struct QueueState {
  std::uint32_t ready = 0; ///< messages that wait
  bool is_new = false;     ///< the queue did not exist before
};

struct ConsumerSpec {
  std::string queue;
  int prefetch = 0; ///< limit of unacknowledged deliveries; 0: no limit
  int priority = 0; ///< consumers with a higher priority are served first
};

/// Exchanges, queues and consumers that are set up for each connection.
struct Topology {
  std::string connection_name;        ///< shown to the broker's operator
  std::vector<std::string> exchanges; ///< durable fanouts
  std::vector<QueueSpec> queues;
  std::vector<ConsumerSpec> consumers;
};

struct Message {
  std::string exchange; ///< empty: straight to the queue named `routing_key`
  std::string routing_key, body;
  std::string message_id, reply_to;
  bool persistent = false;
  bool mandatory = false; ///< returned when no queue takes it
};

struct Delivery {
  std::string queue;
  std::string message_id, reply_to, body;
  std::uint64_t tag = 0; ///< for ack and reject, within this connection
};

struct Confirmation {
  std::uint64_t sequence = 0; ///< as returned by publish()
  bool multiple = false;      ///< also covers all earlier messages
  bool accepted = true;
};

struct Returned {
  std::string message_id, routing_key;
};

using Event = std::variant<Delivery, Confirmation, Returned>;

/// Why a connection failed.
struct LineFault {
  Error error;
  bool refused = false;    ///< a retry will not help: wrong password, unknown authority, ...
  bool no_service = false; ///< the broker is reachable, but failed or did not answer
  std::string queue = {};  ///< name of the queue that the broker has but cannot serve
};

template <class T>
using LineResult = std::expected<T, LineFault>;

/// The largest message of a broker with default settings, less some room.
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
  /// Deletes the queue with all its messages.
  LineResult<void> remove(const std::string &queue);
  /// @return the sequence number of the message's Confirmation
  LineResult<std::uint64_t> publish(const Message &message);
  LineResult<void> acknowledge(std::uint64_t tag);
  LineResult<void> reject(std::uint64_t tag, bool requeue);
  /// The next event; nullopt: none has arrived. Also maintains the heartbeats, so it must be called
  /// every few seconds.
  LineResult<std::optional<Event>> next();
  /// Descriptor that becomes readable when next() may have an event.
  int descriptor() const;
  /// Closes the connection with AMQP's handshake; the destructor closes without it.
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
