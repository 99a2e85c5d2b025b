// A line to the broker that mends itself: one thread that owns the connection, and a mailbox.
//
// librabbitmq blocks, so no strand may call it. The owner's calls only leave a command in the mailbox;
// what the broker sends is posted to the owner's executor. When the connection breaks the thread opens
// another one, with growing pauses, sets the same topology up again and sends again what the broker had
// not confirmed, under the same message ids. So a message may arrive twice and is never lost while this
// process lives; receivers tell copies by the id.
// Thread: all methods, and all handlers, on the owner's strand.
#pragma once

#include "runner/fleet/amqp.h"

#include <boost/asio/any_io_executor.hpp>
#include <functional>

namespace warpwright::runner::fleet {

/// A delivery's claim to be settled. It ends with the connection that brought it: the broker then
/// delivers again, and settling the old one does nothing.
struct Receipt {
  std::uint64_t connection = 0, tag = 0;
};

enum class Settlement {
  Done,  ///< the broker forgets it
  Again, ///< the broker delivers it again, to whom it likes
};

struct LineHandlers {
  /// @param queues in the order of the topology
  std::function<void(const std::vector<QueueState> &queues)> on_connected;
  std::function<void(Delivery, Receipt)> on_delivery;
  /// The line is down and is being mended.
  std::function<void(const Error &)> on_lost;
  /// Before the first connection only: the line has given up, since trying again will not help.
  std::function<void(const Error &)> on_refused;
};

enum class Published {
  Stored,    ///< the broker answers for it
  Unroutable ///< a mandatory message that no queue takes
};

class BrokerLine {
public:
  BrokerLine(boost::asio::any_io_executor executor, BrokerAddress address, Topology topology,
             LineHandlers handlers);
  /// Sends what is in the mailbox if the line is up, and ends the thread. Blocks for as long as one
  /// attempt to connect, at most 3 s a step. No handler is called after.
  ~BrokerLine();
  BrokerLine(const BrokerLine &) = delete;
  BrokerLine &operator=(const BrokerLine &) = delete;

  /// @param on_published once, when the broker has answered for it; not when the line ends before
  void publish(Message message, std::function<void(Published)> on_published);
  /// Without confirmation; dropped while the line is down.
  void send(Message message);
  void settle(Receipt receipt, Settlement settlement);

private:
  class Thread;
  std::shared_ptr<LineHandlers> handlers_;
  std::unique_ptr<Thread> thread_;
};

} // namespace warpwright::runner::fleet
