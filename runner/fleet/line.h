// A broker connection that restores itself: one thread that owns the connection, and a mailbox.
//
// librabbitmq blocks, so no strand may call it. The owner's calls only put a command into the
// mailbox, and events from the broker are posted to the owner's executor. When the connection
// breaks, the thread opens another one, with growing pauses, sets up the same topology, and sends
// unconfirmed messages again with the same message ids. So a message may arrive twice and is never
// lost while this process lives; receivers recognize copies by the id.
// Thread: all methods, and all handlers, on the owner's strand.
#pragma once

#include "runner/fleet/amqp.h"

#include <boost/asio/any_io_executor.hpp>
#include <functional>

namespace warpwright::runner::fleet {

/// Identifies a delivery for settle(). Valid only on the connection that brought the delivery.
/// After that connection ends, the broker delivers again, and settling the old receipt has no
/// effect.
struct Receipt {
  std::uint64_t connection = 0, tag = 0;
};

enum class Settlement {
  Done,  ///< the broker deletes it
  Again, ///< the broker delivers it again, to any consumer
};

struct LineHandlers {
  /// @param queues in the order of the topology
  std::function<void(const std::vector<QueueState> &queues)> on_connected;
  std::function<void(Delivery, Receipt)> on_delivery;
  /// The connection is lost and is being restored.
  std::function<void(const Error &)> on_lost;
  /// Only before the first connection: the line has given up, since a retry will not help.
  std::function<void(const Error &)> on_refused;
};

enum class Published {
  Stored,    ///< the broker has stored it
  Unroutable ///< a mandatory message that no queue takes
};

class BrokerLine {
public:
  BrokerLine(boost::asio::any_io_executor executor, BrokerAddress address, Topology topology,
             LineHandlers handlers);
  /// Sends the commands in the mailbox if the connection is up, and ends the thread. Blocks for up
  /// to one connection attempt, at most 3 s per step. No handler is called afterwards.
  ~BrokerLine();
  BrokerLine(const BrokerLine &) = delete;
  BrokerLine &operator=(const BrokerLine &) = delete;

  /// @param on_published called once the broker has answered; never if the line ends before
  void publish(Message message, std::function<void(Published)> on_published);
  /// Sends without confirmation; the message is dropped while the connection is down.
  void send(Message message);
  void settle(Receipt receipt, Settlement settlement);

private:
  class Thread;
  std::shared_ptr<LineHandlers> handlers_;
  std::unique_ptr<Thread> thread_;
};

} // namespace warpwright::runner::fleet
