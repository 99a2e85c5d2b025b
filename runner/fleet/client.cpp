// States of a job: held (no connection, or stored verdicts are still arriving) -> published ->
// answered. The line keeps published messages; the client keeps the callers that wait.
#include "runner/fleet/client.h"
#include "runner/fleet/backlog.h"
#include "runner/fleet/line.h"
#include "runner/fleet/messages.h"
#include "runner/fleet/names.h"
#include "support/model/json.h"

#include <boost/asio/steady_timer.hpp>
#include <map>
#include <random>
#include <unistd.h>

namespace warpwright::runner::fleet {
namespace {

constexpr std::chrono::milliseconds kWhoLimit{1'000};
/// Time limit for the arrival of the stored verdicts that the broker announced.
constexpr std::chrono::seconds kBacklogLimit{5};
constexpr std::int32_t kNamedSessionMs = 24 * 3600 * 1000, kUnnamedSessionMs = 5 * 60 * 1000;
constexpr std::int32_t kProgressMessages = 1000;

std::string random_name() {
  std::random_device random;
  std::string name;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", static_cast<unsigned>(random()));
    name += part;
  }
  return name;
}

/// Orders a client's job and its cancellation; not compared between hosts.
std::int64_t microseconds_now() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The queue for a job. Errors: a name that has a meaning only on one host.
Result<std::string> route(const std::string &device) {
  if (device.empty())
    return jobs_queue(kAnyType);
  const std::string type = device == kGpuType ? kGpuType : device_type(device);
  if (type.empty() || device.starts_with("cuda:"))
    return fail("a fleet has no device " + device + ": that names a device of a single host",
                "Name a type of GPU, such as H200, or cuda, or cpu");
  return jobs_queue(type);
}

Topology client_topology(const std::string &name, bool named) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  Topology topology;
  topology.connection_name = "warpwright client " + std::string(host);
  topology.exchanges = {kControlExchange};
  // The exclusive queue is deleted with its connection, and a second client of the session is
  // refused.
  topology.queues.push_back(
      {.name = progress_queue(name),
       .exclusive = true,
       .arguments = {{"x-max-length", kProgressMessages}, {"x-overflow", "drop-head"}}});
  topology.queues.push_back(
      {.name = replies_queue(name),
       .durable = true,
       .arguments = {{"x-queue-type", "quorum"},
                     {"x-expires", named ? kNamedSessionMs : kUnnamedSessionMs}},
       .notice_new = true,
       .replaceable = true});
  topology.consumers = {{progress_queue(name)}, {replies_queue(name)}};
  return topology;
}

class FleetClient final : public Client, public std::enable_shared_from_this<FleetClient> {
public:
  FleetClient(BrokerAddress address, boost::asio::any_io_executor executor)
      : address_(std::move(address)), executor_(executor),
        name_(address_.session.empty() ? "unnamed." + random_name() : address_.session),
        timer_(executor) {}
  ~FleetClient() override {
    if (address_.session.empty()) // without a session name, no client will ask for these jobs
      for (const auto &[key, job] : jobs_)
        send_cancel(key);
  }

  void start() {
    LineHandlers handlers;
    handlers.on_connected = [this](const auto &queues) { on_connected(queues); };
    handlers.on_delivery = [this](Delivery delivery, Receipt receipt) {
      if (delivery.queue == replies_queue(name_))
        on_reply(delivery, receipt);
      else
        on_progress(delivery, receipt);
    };
    handlers.on_lost = [this](const Error &error) {
      connected_ = false;
      last_fault_ = error;
    };
    handlers.on_refused = [this](const Error &error) { refuse(error); };
    line_ = std::make_unique<BrokerLine>(executor_, address_,
                                         client_topology(name_, !address_.session.empty()),
                                         std::move(handlers));
    wait_for(address_.patience, [this] {
      if (!ever_connected_)
        refuse(last_fault_.value_or(Error{"cannot reach the broker at " + address_.place(), ""}));
    });
  }

  void open(std::function<void(Result<void>)> callback) override {
    if (ever_connected_)
      return callback({});
    if (refusal_)
      return callback(std::unexpected(*refusal_));
    openers_.push_back(std::move(callback));
  }

  void info(std::function<void(Result<RunnerInfo>)> callback) override {
    if (refusal_)
      return callback(std::unexpected(*refusal_));
    const std::int64_t number = next_id_++;
    Query &query = queries_[number];
    query.callback = std::move(callback);
    query.answer.url = address_.place();
    query.limit = std::make_unique<boost::asio::steady_timer>(executor_);
    if (connected_)
      return ask(number, query);
    arm(query, number, address_.patience);
  }

  std::int64_t verify(const model::Task &task, const model::Plan &plan,
                      const VerifyOptions &options, StageCallback on_stage,
                      VerdictCallback callback) override {
    const std::int64_t id = next_id_++;
    const auto queue = route(options.device);
    if (refusal_ || !queue) {
      callback(std::unexpected(refusal_ ? *refusal_ : queue.error()));
      return id;
    }
    const std::string key = options.job.empty() ? random_name() : options.job;
    if (auto stored = backlog_.claim(key)) {
      callback(decode_reply(stored->body));
      line_->settle(stored->receipt, Settlement::Done);
      backlog_.finished(key);
      return id;
    }
    Job &job = jobs_[key];
    const bool first = job.waiters.empty();
    job.waiters.push_back({id, std::move(on_stage), std::move(callback)});
    keys_[id] = key;
    if (!first) // the same key again is the same job
      return id;
    VerifyOptions sent = options;
    sent.job = key;
    job.message = {.routing_key = *queue,
                   .body = dump({{"task", model::to_json(task)},
                                 {"plan", model::to_json(plan)},
                                 {"options", model::to_json(sent)},
                                 {"sent", microseconds_now()}}),
                   .message_id = key,
                   .reply_to = replies_queue(name_),
                   .persistent = true,
                   .mandatory = true};
    if (job.message.body.size() > kMaxMessageBytes)
      answer(key, fail("the job is larger than a broker takes (100 MiB)"));
    else if (ever_connected_ && backlog_.is_in())
      publish(key, job);
    return id;
  }

  void cancel(std::int64_t id) override {
    const auto named = keys_.find(id);
    if (named == keys_.end())
      return;
    const std::string key = named->second;
    keys_.erase(named);
    Job &job = jobs_.at(key);
    const auto waiter = std::find_if(job.waiters.begin(), job.waiters.end(),
                                     [&](const Waiter &one) { return one.id == id; });
    const VerdictCallback callback = std::move(waiter->callback);
    job.waiters.erase(waiter);
    if (job.waiters.empty()) {
      jobs_.erase(key);
      backlog_.finished(key);
      send_cancel(key);
    }
    callback(fail("the job was cancelled"));
  }

private:
  struct Waiter {
    std::int64_t id;
    StageCallback on_stage;
    VerdictCallback callback;
  };
  struct Job {
    std::vector<Waiter> waiters;
    Message message;
    bool published = false;
  };
  struct Query {
    std::function<void(Result<RunnerInfo>)> callback;
    RunnerInfo answer;
    bool sent = false;
    std::unique_ptr<boost::asio::steady_timer> limit;
  };

  void wait_for(std::chrono::milliseconds time, std::function<void()> then) {
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this(), then](boost::system::error_code error) {
      if (const auto self = weak.lock(); !error && self)
        then();
    });
  }

  void on_connected(const std::vector<QueueState> &queues) {
    const QueueState &replies = queues.at(1);
    if (replies.is_new) // the queue expired or was lost, perhaps with verdicts
      for (auto &[key, job] : jobs_)
        job.published = false;
    connected_ = true;
    refusal_.reset();
    backlog_.expect(address_.session.empty() || ever_connected_ ? 0 : replies.ready);
    ever_connected_ = true;
    for (const auto &opener : std::exchange(openers_, {}))
      opener({});
    for (auto &[number, query] : queries_)
      if (!query.sent)
        ask(number, query);
    if (backlog_.is_in())
      return publish_held();
    wait_for(kBacklogLimit, [this] {
      backlog_.expect(0);
      publish_held();
    });
  }

  void publish_held() {
    for (auto &[key, job] : jobs_)
      if (!job.published)
        publish(key, job);
  }

  void publish(const std::string &key, Job &job) {
    job.published = true;
    line_->publish(job.message, [this, key, queue = job.message.routing_key](Published outcome) {
      if (outcome == Published::Unroutable)
        answer(key,
               fail("the fleet has no queue " + queue + ": such a runner has never joined it",
                    "Start one: warpwright-runner serve --fleet URL; `info` lists the devices"));
    });
  }

  void send_cancel(const std::string &key) {
    line_->publish(
        {.exchange = kControlExchange,
         .body = dump(
             {{"cancel", key}, {"reply_to", replies_queue(name_)}, {"sent", microseconds_now()}})},
        {});
  }

  /// Ends the job for all callers that wait for it.
  void answer(const std::string &key, const Result<model::Verdict> &verdict) {
    auto entry = jobs_.extract(key);
    if (!entry)
      return;
    backlog_.finished(key);
    for (const Waiter &waiter : entry.mapped().waiters)
      keys_.erase(waiter.id);
    for (const Waiter &waiter : entry.mapped().waiters)
      waiter.callback(verdict);
  }

  void on_reply(const Delivery &delivery, Receipt receipt) {
    const std::string &key = delivery.message_id;
    const bool wanted = jobs_.contains(key);
    if (wanted)
      answer(key, decode_reply(delivery.body));
    if (wanted || address_.session.empty() || backlog_.is_finished(key))
      line_->settle(receipt, Settlement::Done);
    else if (const auto dropped = backlog_.keep(key, {delivery.body, receipt}))
      line_->settle(*dropped, Settlement::Done);
    if (backlog_.arrived()) {
      timer_.cancel();
      publish_held();
    }
  }

  void on_progress(const Delivery &delivery, Receipt receipt) {
    line_->settle(receipt, Settlement::Done);
    const auto document = parse_object(delivery.body);
    if (!document)
      return;
    if (const auto runner = document->find("runner"); runner != document->end())
      return on_runner(document->value("who", std::int64_t{0}), *runner);
    const auto stage = document->find("stage"), key = document->find("job");
    if (stage == document->end() || !stage->is_string() || key == document->end() ||
        !key->is_string())
      return;
    const auto job = jobs_.find(key->get<std::string>());
    if (job == jobs_.end())
      return;
    const std::vector<Waiter> waiters = job->second.waiters; // a copy, because callbacks may cancel
    for (const Waiter &waiter : waiters)
      if (waiter.on_stage)
        waiter.on_stage(*stage);
  }

  void ask(std::int64_t number, Query &query) {
    query.sent = true;
    line_->publish({.exchange = kControlExchange,
                    .body = dump({{"who", number}, {"reply_to", progress_queue(name_)}})},
                   {});
    arm(query, number, kWhoLimit);
  }

  void arm(Query &query, std::int64_t number, std::chrono::milliseconds time) {
    query.limit->expires_after(time);
    query.limit->async_wait([weak = weak_from_this(), number](boost::system::error_code error) {
      if (const auto self = weak.lock(); !error && self)
        self->finish_query(number);
    });
  }

  void on_runner(std::int64_t number, const json &description) {
    const auto query = queries_.find(number);
    if (query == queries_.end() || !description.is_object())
      return;
    auto info = decode_info(description);
    RunnerInfo &answer = query->second.answer;
    if (!info)
      return answer.notes.push_back(describe(info.error()));
    answer.version = info->version;
    for (auto &device : info->devices)
      answer.devices.push_back(std::move(device));
    for (auto &note : info->notes)
      answer.notes.push_back(std::move(note));
  }

  void finish_query(std::int64_t number) {
    auto entry = queries_.extract(number);
    if (!entry)
      return;
    Query &query = entry.mapped();
    if (!query.sent)
      return query.callback(std::unexpected(
          last_fault_.value_or(Error{"cannot reach the broker at " + address_.place(), ""})));
    if (query.answer.devices.empty() && query.answer.notes.empty())
      query.answer.notes.push_back("No runner of the fleet at " + address_.place() +
                                   " answered within a second.");
    // GPUs before CPUs, the same order as in a single runner's list.
    std::ranges::stable_sort(query.answer.devices, std::greater<>(),
                             [](const auto &device) { return device.kind == "cuda"; });
    query.callback(std::move(query.answer));
  }

  /// Refuses requests until a connection succeeds after all.
  void refuse(const Error &error) {
    refusal_ = error;
    for (const auto &opener : std::exchange(openers_, {}))
      opener(std::unexpected(error));
    while (!jobs_.empty())
      answer(jobs_.begin()->first, std::unexpected(error));
    for (auto &[number, query] : std::exchange(queries_, {}))
      query.callback(std::unexpected(error));
  }

  const BrokerAddress address_;
  boost::asio::any_io_executor executor_;
  const std::string name_; ///< of the replies queue
  boost::asio::steady_timer timer_;
  bool connected_ = false, ever_connected_ = false;
  std::optional<Error> refusal_, last_fault_;
  std::vector<std::function<void(Result<void>)>> openers_;
  std::map<std::string, Job> jobs_;          ///< by key
  std::map<std::int64_t, std::string> keys_; ///< keys of jobs, by the id that verify() returned
  std::map<std::int64_t, Query> queries_;
  Backlog backlog_;
  std::int64_t next_id_ = 1;
  std::unique_ptr<BrokerLine> line_;
};

} // namespace

Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor) {
  auto address = TRY(parse_fleet_url(url));
  auto client = std::make_shared<FleetClient>(std::move(address), std::move(executor));
  client->start();
  return client;
}

} // namespace warpwright::runner::fleet
