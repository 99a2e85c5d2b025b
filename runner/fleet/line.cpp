// Thread of a BrokerLine. It owns all state except the mailbox, which wakes it through an eventfd.
#include "runner/fleet/line.h"
#include "support/exclusive.h"

#include <algorithm>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <poll.h>
#include <random>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

namespace warpwright::runner::fleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause{100}, kLongestPause{5'000};
/// Short enough for heartbeats of 10 s.
constexpr std::chrono::milliseconds kIdle{1'000};
/// Time without a confirmation after which a message counts as lost, although heartbeats are
/// answered.
constexpr std::chrono::seconds kConfirmLimit{120};
/// Consecutive failures before the queue is deleted. Each takes some seconds, during which the
/// broker may still be starting.
constexpr int kFailuresOfQueue = 3;

struct Publish {
  Message message;
  std::function<void(Published)> on_published;
};
struct Send {
  Message message;
};
struct Settle {
  Receipt receipt;
  Settlement settlement;
};
struct Stop {};
using Command = std::variant<Publish, Send, Settle, Stop>;

struct Unconfirmed {
  Publish publish;
  std::optional<std::uint64_t> sequence; ///< on this connection; nullopt: not sent on it
  Clock::time_point sent;
  bool returned = false;
};

} // namespace

class BrokerLine::Thread {
public:
  Thread(boost::asio::any_io_executor executor, BrokerAddress address, Topology topology,
         std::weak_ptr<LineHandlers> handlers)
      : executor_(boost::asio::prefer(executor, boost::asio::execution::outstanding_work.tracked)),
        address_(std::move(address)), topology_(std::move(topology)),
        handlers_(std::move(handlers)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    sigset_t all, before; // blocked in the new thread, because the main thread handles signals
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Thread() {
    post(Stop{});
    thread_.join();
    ::close(wake_);
  }

  void post(Command command) {
    mailbox_.with([&](auto &mail) { mail.push_back(std::move(command)); });
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
  }

private:
  void run() {
    std::chrono::milliseconds pause = kFirstPause;
    while (!stopped_) {
      auto fault = connect();
      if (!fault) {
        pause = kFirstPause;
        fault = serve();
        if (!fault)
          break; // stop was requested
      }
      connection_.reset();
      for (auto &[id, message] : unconfirmed_)
        message.sequence.reset();
      if (fault->refused && generation_ == 0)
        return tell([error = fault->error](LineHandlers &to) { to.on_refused(error); });
      tell([error = fault->error](LineHandlers &to) { to.on_lost(error); });
      rest(pause);
      pause = std::min(pause * 2, kLongestPause);
    }
    if (connection_)
      connection_->close();
  }

  /// nullopt: the connection is up.
  std::optional<LineFault> connect() {
    auto connection = AmqpConnection::open(address_, topology_.connection_name);
    if (!connection)
      return connection.error();
    const bool replaced = failures_ >= kFailuresOfQueue;
    if (replaced)
      if (auto removed = connection->remove(failing_queue_); !removed)
        return removed.error();
    auto queues = connection->set_up(topology_);
    if (!queues) {
      count_failure(queues.error());
      return queues.error();
    }
    failures_ = 0;
    connection_ = std::move(*connection);
    ++generation_;
    for (std::size_t i = 0; i < queues->size(); ++i)
      (*queues)[i].is_new |= replaced && topology_.queues[i].name == failing_queue_;
    tell([queues = *queues](LineHandlers &to) { to.on_connected(queues); });
    for (auto &[id, message] : unconfirmed_)
      if (auto sent = transmit(message); !sent)
        return sent.error();
    return std::nullopt;
  }

  /// A quorum queue can stay without a leader if a single broker dies just after it created the
  /// queue (seen with RabbitMQ 3.10.8). Only deleting the queue helps then.
  void count_failure(const LineFault &fault) {
    const bool same = fault.queue == failing_queue_;
    const bool counts = std::ranges::any_of(topology_.queues, [&](const QueueSpec &queue) {
      return queue.replaceable && queue.name == fault.queue;
    });
    failing_queue_ = fault.queue;
    failures_ = !counts ? 0 : same ? failures_ + 1 : 1;
  }

  /// Runs until the connection breaks; nullopt: stop was requested.
  std::optional<LineFault> serve() {
    for (;;) {
      if (auto done = take_commands(); !done)
        return done.error();
      if (stopped_)
        return std::nullopt;
      if (auto done = take_events(); !done)
        return done.error();
      if (auto done = check_confirmations(); !done)
        return done.error();
      wait(kIdle, connection_->descriptor());
    }
  }

  LineResult<void> take_commands() {
    auto commands = mailbox_.with([](auto &mail) { return std::exchange(mail, {}); });
    for (Command &command : commands)
      if (auto done = std::visit([this](auto &held) { return execute(held); }, command); !done)
        return done;
    return {};
  }

  LineResult<void> execute(Publish &publish) {
    Unconfirmed &message = unconfirmed_[next_id_++];
    message.publish = std::move(publish);
    return connection_ ? transmit(message) : LineResult<void>{};
  }
  LineResult<void> execute(Send &send) {
    if (!connection_)
      return {};
    auto sent = connection_->publish(send.message);
    return sent ? LineResult<void>{} : std::unexpected(sent.error());
  }
  LineResult<void> execute(Settle &settle) {
    if (!connection_ || settle.receipt.connection != generation_)
      return {};
    return settle.settlement == Settlement::Done ? connection_->acknowledge(settle.receipt.tag)
                                                 : connection_->reject(settle.receipt.tag, true);
  }
  LineResult<void> execute(Stop &) {
    stopped_ = true;
    return {};
  }

  LineResult<void> transmit(Unconfirmed &message) {
    message.sequence = TRY(connection_->publish(message.publish.message));
    message.sent = Clock::now();
    message.returned = false;
    return {};
  }

  LineResult<void> take_events() {
    for (;;) {
      auto event = TRY(connection_->next());
      if (!event)
        return {};
      if (auto done = std::visit([this](auto &held) { return handle(held); }, *event); !done)
        return done;
    }
  }

  LineResult<void> handle(Delivery &delivery) {
    const Receipt receipt{generation_, delivery.tag};
    tell([delivery = std::move(delivery), receipt](LineHandlers &to) mutable {
      to.on_delivery(std::move(delivery), receipt);
    });
    return {};
  }

  LineResult<void> handle(Returned &returned) { // the message's confirmation follows
    for (auto &[id, unconfirmed] : unconfirmed_) {
      const Message &message = unconfirmed.publish.message;
      if (message.mandatory && unconfirmed.sequence && message.message_id == returned.message_id &&
          message.routing_key == returned.routing_key)
        unconfirmed.returned = true;
    }
    return {};
  }

  LineResult<void> handle(Confirmation &confirmation) {
    for (auto entry = unconfirmed_.begin(); entry != unconfirmed_.end();) {
      Unconfirmed &message = entry->second;
      const bool meant =
          message.sequence && (confirmation.multiple ? *message.sequence <= confirmation.sequence
                                                     : *message.sequence == confirmation.sequence);
      if (!meant) {
        ++entry;
        continue;
      }
      if (!confirmation.accepted) { // check_confirmations sends it again after its pause
        message.sequence.reset();
        ++entry;
        continue;
      }
      tell(
          [on_published = std::move(message.publish.on_published),
           outcome = message.returned ? Published::Unroutable : Published::Stored](LineHandlers &) {
            if (on_published)
              on_published(outcome);
          });
      entry = unconfirmed_.erase(entry);
    }
    return {};
  }

  LineResult<void> check_confirmations() {
    const auto now = Clock::now();
    for (auto &[id, message] : unconfirmed_) {
      if (message.sequence && now - message.sent > kConfirmLimit)
        return std::unexpected(LineFault{
            {"the broker at " + address_.place() + " has not stored a message within two minutes",
             "See its log for memory or disk alarms"}});
      if (!message.sequence && now - message.sent > kIdle)
        TRY(transmit(message));
    }
    return {};
  }

  /// Waits while the connection is down. Still handles commands, so that messages are queued and a
  /// stop is noticed.
  void rest(std::chrono::milliseconds pause) {
    // clients of a fleet must not reconnect at the same time
    std::uniform_real_distribution<double> spread(0.5, 1.0);
    const auto until =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(pause * spread(random_));
    for (auto now = Clock::now(); !stopped_ && now < until; now = Clock::now()) {
      wait(std::chrono::ceil<std::chrono::milliseconds>(until - now), -1);
      (void)take_commands(); // no connection, so no fault
    }
  }

  void wait(std::chrono::milliseconds limit, int descriptor) {
    pollfd polled[] = {{wake_, POLLIN, 0}, {descriptor, POLLIN, 0}};
    ::poll(polled, descriptor < 0 ? 1 : 2, static_cast<int>(limit.count()));
    std::uint64_t count;
    [[maybe_unused]] const auto read = ::read(wake_, &count, sizeof count);
  }

  template <class Call>
  void tell(Call call) {
    boost::asio::post(executor_, [handlers = handlers_, call = std::move(call)]() mutable {
      if (const auto to = handlers.lock())
        call(*to);
    });
  }

  boost::asio::any_io_executor executor_;
  const BrokerAddress address_;
  const Topology topology_;
  std::weak_ptr<LineHandlers> handlers_;
  Exclusive<std::deque<Command>> mailbox_;
  int wake_;
  std::optional<AmqpConnection> connection_;
  std::uint64_t generation_ = 0; ///< number of the connection
  std::map<std::uint64_t, Unconfirmed> unconfirmed_;
  std::uint64_t next_id_ = 1;
  std::minstd_rand random_{std::random_device{}()};
  std::string failing_queue_; ///< queue at which the last attempts failed
  int failures_ = 0;
  bool stopped_ = false;
  std::thread thread_;
};

BrokerLine::BrokerLine(boost::asio::any_io_executor executor, BrokerAddress address,
                       Topology topology, LineHandlers handlers)
    : handlers_(std::make_shared<LineHandlers>(std::move(handlers))),
      thread_(std::make_unique<Thread>(std::move(executor), std::move(address), std::move(topology),
                                       handlers_)) {}

BrokerLine::~BrokerLine() {
  handlers_.reset();
  thread_.reset();
}

void BrokerLine::publish(Message message, std::function<void(Published)> on_published) {
  thread_->post(Publish{std::move(message), std::move(on_published)});
}

void BrokerLine::send(Message message) { thread_->post(Send{std::move(message)}); }

void BrokerLine::settle(Receipt receipt, Settlement settlement) {
  thread_->post(Settle{receipt, settlement});
}

} // namespace warpwright::runner::fleet
