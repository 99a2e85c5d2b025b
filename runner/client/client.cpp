// The client over a link that is opened when it is needed, and again after it broke, within limits.
#include "runner/client/client.h"
#include "runner/client/link.h"
#include "support/model/json.h"

#include <deque>
#include <map>

namespace warpwright::runner {
namespace {

using rpc::Json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxStarts = 3;
constexpr std::chrono::seconds kStartWindow{60};

Error to_error(const rpc::RpcError &error) {
  if (error.code == rpc::kRequestCancelled)
    return {"the job was cancelled", ""};
  if (error.message.starts_with("the connection"))
    return {"the runner ended while it had a job: " + error.message,
            "Try again: it is started anew"};
  return {"the runner refused: " + error.message, ""};
}

class RpcClient final : public Client, public std::enable_shared_from_this<RpcClient> {
public:
  explicit RpcClient(LinkFactory open) : open_(std::move(open)) {}
  ~RpcClient() override {
    if (connection_)
      connection_->close();
  }

  /// Errors: as the factory's; too many starts in too short a time.
  Result<void> ensure_connected() {
    if (connection_)
      return {};
    const auto now = Clock::now();
    while (!starts_.empty() && now - starts_.front() > kStartWindow)
      starts_.pop_front();
    // The first start is no restart.
    if (starts_.size() > kMaxStarts)
      return fail("the runner ended " + std::to_string(starts_.size()) + " times within a minute",
                  "See what it wrote to stderr, and run `warpwright-runner doctor`");
    auto link = open_();
    if (!link)
      return std::unexpected(link.error());
    starts_.push_back(now);
    process_ = std::move(link->process);
    rpc::Connection::Handlers handlers;
    handlers.on_notification = [weak = weak_from_this()](const std::string &method,
                                                         const Json &params) {
      if (const auto self = weak.lock(); self && method == "stage")
        self->on_stage(params);
    };
    handlers.on_closed = [weak = weak_from_this()](const std::string &) {
      if (const auto self = weak.lock()) {
        self->connection_.reset();
        self->process_.reset();
      }
    };
    connection_ = rpc::Connection::make(std::move(link->stream), std::move(handlers));
    connection_->start();
    return {};
  }

  void info(std::function<void(Result<RunnerInfo>)> callback) override {
    if (auto connected = ensure_connected(); !connected)
      return callback(std::unexpected(connected.error()));
    connection_->request("info", nullptr, [callback](const rpc::Outcome &outcome) {
      callback(outcome ? decode_info(*outcome) : std::unexpected(to_error(outcome.error())));
    });
  }

  std::int64_t verify(const model::Task &task, const model::Plan &plan,
                      const VerifyOptions &options, StageCallback on_stage,
                      VerdictCallback callback) override {
    const std::int64_t id = next_id_++;
    if (auto connected = ensure_connected(); !connected) {
      callback(std::unexpected(connected.error()));
      return id;
    }
    Json request = {{"task", model::to_json(task)},
                    {"plan", model::to_json(plan)},
                    {"options", model::to_json(options)}};
    jobs_[id].on_stage = std::move(on_stage);
    const std::int64_t rpc_id = connection_->request(
        "verify", std::move(request),
        [weak = weak_from_this(), id, callback = std::move(callback)](const rpc::Outcome &outcome) {
          if (const auto self = weak.lock())
            self->jobs_.erase(id);
          callback(outcome ? model::verdict_from_json(*outcome)
                           : std::unexpected(to_error(outcome.error())));
        });
    // The answer may have come already: a connection that is closing answers at once.
    if (const auto job = jobs_.find(id); job != jobs_.end())
      job->second.request = rpc_id;
    return id;
  }

  void cancel(std::int64_t id) override {
    if (const auto found = jobs_.find(id); connection_ && found != jobs_.end())
      connection_->cancel(found->second.request);
  }

private:
  struct Job {
    std::int64_t request = 0;
    StageCallback on_stage;
  };

  void on_stage(const Json &params) {
    for (const auto &[id, job] : jobs_)
      if (params.value("id", Json()) == job.request && job.on_stage)
        return StageCallback(job.on_stage)(params.value("stage", ""));
  }

  static Result<RunnerInfo> decode_info(const Json &document) {
    RunnerInfo info;
    info.version = document.value("version", "");
    info.notes = document.value("notes", std::vector<std::string>{});
    for (const Json &entry : document.value("devices", Json::array())) {
      auto device = model::device_from_json(entry);
      if (!device)
        return std::unexpected(device.error());
      info.devices.push_back(std::move(*device));
    }
    return info;
  }

  LinkFactory open_;
  std::optional<Process> process_;
  std::shared_ptr<rpc::Connection> connection_;
  std::deque<Clock::time_point> starts_;
  std::map<std::int64_t, Job> jobs_;
  std::int64_t next_id_ = 1;
};

} // namespace

Result<std::shared_ptr<Client>> connect(const std::string &url,
                                        boost::asio::any_io_executor executor) {
  auto factory = parse_runner_url(url, executor);
  if (!factory)
    return std::unexpected(factory.error());
  auto client = std::make_shared<RpcClient>(std::move(*factory));
  if (auto connected = client->ensure_connected(); !connected)
    return std::unexpected(connected.error());
  return client;
}

} // namespace warpwright::runner
