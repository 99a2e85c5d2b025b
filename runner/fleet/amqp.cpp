// Calls of librabbitmq. amqp_faults translates their errors.
#include "runner/fleet/amqp.h"
#include "runner/fleet/amqp_faults.h"

#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>

namespace warpwright::runner::fleet {
namespace {

/// kQuestions is a separate channel, because a question for a missing queue closes its channel.
constexpr amqp_channel_t kChannel = 1, kQuestions = 2;
constexpr int kFrameBytes = 131'072;
constexpr int kHeartbeatSeconds = 10;
constexpr timeval kConnectLimit{3, 0};
/// A quorum queue that is being recovered answers late.
constexpr timeval kReplyLimit{5, 0};
/// The broker waits for all nodes of the queue before it deletes the queue without them.
constexpr timeval kRemoveLimit{120, 0};
constexpr timeval kCloseLimit{1, 0};

/// Returns a view; `text` must outlive it.
amqp_bytes_t bytes(const std::string &text) {
  return {text.size(), const_cast<char *>(text.data())};
}

std::string text(const amqp_bytes_t &bytes) {
  return {static_cast<const char *>(bytes.bytes), bytes.len};
}

amqp_table_entry_t entry(const std::string &key, const std::string &value) {
  amqp_table_entry_t entry{bytes(key), {}};
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = bytes(value);
  return entry;
}

amqp_table_entry_t entry(const std::string &key, std::int32_t value) {
  amqp_table_entry_t entry{bytes(key), {}};
  entry.value.kind = AMQP_FIELD_KIND_I32;
  entry.value.value.i32 = value;
  return entry;
}

amqp_table_entry_t entry(const std::string &key, bool value) {
  amqp_table_entry_t entry{bytes(key), {}};
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = value;
  return entry;
}

amqp_table_entry_t entry(const std::string &key, amqp_table_t value) {
  amqp_table_entry_t entry{bytes(key), {}};
  entry.value.kind = AMQP_FIELD_KIND_TABLE;
  entry.value.value.table = value;
  return entry;
}

Delivery decode(const amqp_envelope_t &envelope) {
  Delivery delivery;
  const amqp_basic_properties_t &properties = envelope.message.properties;
  // consume() uses the queue's name as the consumer tag.
  delivery.queue = text(envelope.consumer_tag);
  if (properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG)
    delivery.message_id = text(properties.message_id);
  if (properties._flags & AMQP_BASIC_REPLY_TO_FLAG)
    delivery.reply_to = text(properties.reply_to);
  delivery.body = text(envelope.message.body);
  delivery.tag = envelope.delivery_tag;
  return delivery;
}

} // namespace

void AmqpConnection::Closer::operator()(amqp_connection_state_t_ *connection) const {
  amqp_destroy_connection(connection);
}

AmqpConnection::AmqpConnection(amqp_connection_state_t_ *connection, std::string place)
    : connection_(connection), place_(std::move(place)) {}
AmqpConnection::AmqpConnection(AmqpConnection &&) noexcept = default;
AmqpConnection &AmqpConnection::operator=(AmqpConnection &&) noexcept = default;
AmqpConnection::~AmqpConnection() = default;

LineResult<void> AmqpConnection::last_reply(const std::string &attempt) {
  return check_reply(amqp_get_rpc_reply(connection_.get()), attempt, place_);
}

LineResult<void> AmqpConnection::status(int code, const std::string &attempt) {
  return check_status(code, attempt, place_);
}

LineResult<AmqpConnection> AmqpConnection::open(const BrokerAddress &address,
                                                const std::string &name) {
  AmqpConnection connection(amqp_new_connection(), address.place());
  if (!connection.connection_)
    return std::unexpected(LineFault{{"out of memory while connecting to the broker", ""}});
  TRY(connection.open_socket(address));
  TRY(connection.log_in(address, name));
  return connection;
}

LineResult<void> AmqpConnection::open_socket(const BrokerAddress &address) {
  amqp_socket_t *socket = nullptr;
  if (!address.tls)
    socket = amqp_tcp_socket_new(connection_.get());
  else if ((socket = amqp_ssl_socket_new(connection_.get()))) {
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
    TRY(set_certificates(socket, address));
  }
  if (!socket)
    return std::unexpected(LineFault{{"out of memory while connecting to the broker", ""}});
  const std::string attempt = "cannot connect to the broker at " + place_;
  return status(
      amqp_socket_open_noblock(socket, address.host.c_str(), address.port, &kConnectLimit),
      attempt);
}

LineResult<void> AmqpConnection::log_in(const BrokerAddress &address, const std::string &name) {
  amqp_set_handshake_timeout(connection_.get(), &kConnectLimit);
  amqp_set_rpc_timeout(connection_.get(), &kReplyLimit);
  const std::string name_key = "connection_name", abilities_key = "capabilities",
                    cancel_key = "consumer_cancel_notify", nack_key = "basic.nack";
  // Without these capabilities, the broker would not report that a queue and its consumer are gone.
  amqp_table_entry_t abilities[] = {entry(cancel_key, true), entry(nack_key, true)};
  amqp_table_entry_t entries[] = {entry(name_key, name), entry(abilities_key, {2, abilities})};
  const amqp_table_t properties{2, entries};
  TRY(check_reply(amqp_login_with_properties(connection_.get(), address.vhost.c_str(), 0,
                                             kFrameBytes, kHeartbeatSeconds, &properties,
                                             AMQP_SASL_METHOD_PLAIN, address.user.c_str(),
                                             address.password.c_str()),
                  "the broker at " + place_ + " refused user " + address.user +
                      " on virtual host " + address.vhost,
                  place_));
  amqp_channel_open(connection_.get(), kChannel);
  TRY(last_reply("cannot open a channel at the broker"));
  amqp_confirm_select(connection_.get(), kChannel);
  return last_reply("the broker confirms no messages");
}

LineResult<std::vector<QueueState>> AmqpConnection::set_up(const Topology &topology) {
  for (const std::string &exchange : topology.exchanges)
    TRY(declare_fanout(exchange));
  std::vector<QueueState> states;
  for (const QueueSpec &queue : topology.queues)
    states.push_back(TRY(declare(queue)));
  for (const ConsumerSpec &consumer : topology.consumers)
    TRY(consume(consumer));
  return states;
}

LineResult<void> AmqpConnection::remove(const std::string &queue) {
  amqp_set_rpc_timeout(connection_.get(), &kRemoveLimit);
  amqp_queue_delete(connection_.get(), kChannel, bytes(queue), false, false);
  auto removed = last_reply("cannot delete the queue " + queue);
  amqp_set_rpc_timeout(connection_.get(), &kReplyLimit);
  return removed;
}

LineResult<bool> AmqpConnection::exists(const std::string &queue) {
  amqp_channel_open(connection_.get(), kQuestions);
  TRY(last_reply("cannot open a channel at the broker"));
  amqp_queue_declare(connection_.get(), kQuestions, bytes(queue), true, false, false, false,
                     amqp_empty_table);
  const amqp_rpc_reply_t reply = amqp_get_rpc_reply(connection_.get());
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
      reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
    amqp_channel_close_ok_t closed{};
    TRY(status(
        amqp_send_method(connection_.get(), kQuestions, AMQP_CHANNEL_CLOSE_OK_METHOD, &closed),
        "lost the broker at " + place_));
    return false;
  }
  TRY(check_reply(reply, "cannot ask for the queue " + queue, place_));
  amqp_channel_close(connection_.get(), kQuestions, AMQP_REPLY_SUCCESS);
  return true;
}

LineResult<void> AmqpConnection::declare_fanout(const std::string &exchange) {
  amqp_exchange_declare(connection_.get(), kChannel, bytes(exchange), amqp_cstring_bytes("fanout"),
                        false, true, false, false, amqp_empty_table);
  return last_reply("cannot declare the exchange " + exchange);
}

LineResult<QueueState> AmqpConnection::declare(const QueueSpec &queue) {
  QueueState state;
  if (queue.notice_new) {
    const auto there = TRY(exists(queue.name));
    state.is_new = !there;
  }
  std::vector<amqp_table_entry_t> arguments;
  for (const auto &[key, value] : queue.arguments)
    arguments.push_back(std::visit([&](const auto &held) { return entry(key, held); }, value));
  const amqp_queue_declare_ok_t *declared = amqp_queue_declare(
      connection_.get(), kChannel, bytes(queue.name), false, queue.durable, queue.exclusive,
      queue.auto_delete, {static_cast<int>(arguments.size()), arguments.data()});
  TRY(last_reply("cannot declare the queue " + queue.name));
  state.ready = declared->message_count;
  for (const std::string &exchange : queue.exchanges) {
    amqp_queue_bind(connection_.get(), kChannel, bytes(queue.name), bytes(exchange),
                    amqp_empty_bytes, amqp_empty_table);
    TRY(last_reply("cannot bind the queue " + queue.name));
  }
  return state;
}

LineResult<void> AmqpConnection::consume(const ConsumerSpec &consumer) {
  amqp_basic_qos(connection_.get(), kChannel, 0, static_cast<std::uint16_t>(consumer.prefetch),
                 false);
  TRY(last_reply("cannot limit the deliveries of " + consumer.queue));
  const std::string key = "x-priority";
  amqp_table_entry_t priority = entry(key, consumer.priority);
  amqp_basic_consume(connection_.get(), kChannel, bytes(consumer.queue), bytes(consumer.queue),
                     false, false, false, {1, &priority});
  auto started = last_reply("cannot consume from the queue " + consumer.queue);
  if (!started && started.error().no_service)
    started.error().queue = consumer.queue;
  return started;
}

LineResult<std::uint64_t> AmqpConnection::publish(const Message &message) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG;
  properties.content_type = amqp_cstring_bytes("application/json");
  properties.delivery_mode =
      message.persistent ? AMQP_DELIVERY_PERSISTENT : AMQP_DELIVERY_NONPERSISTENT;
  if (!message.message_id.empty()) {
    properties._flags |= AMQP_BASIC_MESSAGE_ID_FLAG;
    properties.message_id = bytes(message.message_id);
  }
  if (!message.reply_to.empty()) {
    properties._flags |= AMQP_BASIC_REPLY_TO_FLAG;
    properties.reply_to = bytes(message.reply_to);
  }
  const int code = amqp_basic_publish(connection_.get(), kChannel, bytes(message.exchange),
                                      bytes(message.routing_key), message.mandatory, false,
                                      &properties, bytes(message.body));
  TRY(status(code, "cannot send to the broker at " + place_));
  return ++published_;
}

LineResult<void> AmqpConnection::acknowledge(std::uint64_t tag) {
  return status(amqp_basic_ack(connection_.get(), kChannel, tag, false),
                "cannot acknowledge to the broker at " + place_);
}

LineResult<void> AmqpConnection::reject(std::uint64_t tag, bool requeue) {
  return status(amqp_basic_reject(connection_.get(), kChannel, tag, requeue),
                "cannot give a message back to the broker at " + place_);
}

LineResult<std::optional<Event>> AmqpConnection::next() {
  amqp_maybe_release_buffers(connection_.get());
  amqp_envelope_t envelope;
  const timeval no_wait{0, 0};
  const amqp_rpc_reply_t reply = amqp_consume_message(connection_.get(), &envelope, &no_wait, 0);
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) {
    Delivery delivery = decode(envelope);
    amqp_destroy_envelope(&envelope);
    return delivery;
  }
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
    if (reply.library_error == AMQP_STATUS_TIMEOUT)
      return std::nullopt;
    if (reply.library_error == AMQP_STATUS_UNEXPECTED_STATE)
      return other_frame();
  }
  return std::unexpected(check_reply(reply, "lost the broker at " + place_, place_).error());
}

LineResult<std::optional<Event>> AmqpConnection::other_frame() {
  amqp_frame_t frame;
  const std::string lost = "lost the broker at " + place_;
  TRY(status(amqp_simple_wait_frame(connection_.get(), &frame), lost));
  if (frame.frame_type != AMQP_FRAME_METHOD)
    return std::nullopt;
  const void *decoded = frame.payload.method.decoded;
  switch (frame.payload.method.id) {
  case AMQP_BASIC_ACK_METHOD: {
    const auto *ack = static_cast<const amqp_basic_ack_t *>(decoded);
    return Confirmation{ack->delivery_tag, ack->multiple != 0, true};
  }
  case AMQP_BASIC_NACK_METHOD: {
    const auto *nack = static_cast<const amqp_basic_nack_t *>(decoded);
    return Confirmation{nack->delivery_tag, nack->multiple != 0, false};
  }
  case AMQP_BASIC_RETURN_METHOD: {
    Returned returned{"", text(static_cast<const amqp_basic_return_t *>(decoded)->routing_key)};
    amqp_message_t message;
    TRY(check_reply(amqp_read_message(connection_.get(), kChannel, &message, 0), lost, place_));
    if (message.properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG)
      returned.message_id = text(message.properties.message_id);
    amqp_destroy_message(&message);
    return returned;
  }
  default:
    TRY(check_close(frame.payload.method, lost));
    return std::nullopt;
  }
}

int AmqpConnection::descriptor() const { return amqp_get_sockfd(connection_.get()); }

void AmqpConnection::close() {
  amqp_set_rpc_timeout(connection_.get(), &kCloseLimit);
  amqp_connection_close(connection_.get(), AMQP_REPLY_SUCCESS);
}

} // namespace warpwright::runner::fleet
