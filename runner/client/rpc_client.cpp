// States: Down -> Opening -> Up. After a lost link: Up -> Waiting -> Opening -> ..., until no call
// or cancellation is outstanding or the retry time is over.
#include "runner/client/rpc_client.h"
#include "runner/net/token.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"

#include <random>

namespace warpwright::runner {
namespace {

using rpc::Json;

constexpr std::chrono::milliseconds kFirstPause{100}, kLongestPause{5'000};
/// After a link of at least this duration, the count of attempts starts again at zero.
constexpr std::chrono::seconds kGoodLink{10};

Error to_error(const rpc::RpcError &error) {
  if (error.code == rpc::kRequestCancelled)
    return {"the job was cancelled", ""};
  return {"the runner refused: " + error.message, ""};
}

/// 128 random bits in hex: globally unique and impossible to guess.
std::string random_key() {
  std::random_device random;
  std::string key;
  for (int i = 0; i < 32; ++i)
    key += "0123456789abcdef"[random() % 16];
  return key;
}

/// Doubles with each attempt, less a random part, so that clients do not reconnect at the same
/// time.
std::chrono::milliseconds pause_before(int attempt) {
  const auto longest = std::min(kFirstPause * (1 << std::min(attempt, 10)), kLongestPause);
  return longest - longest * (std::random_device()() % 256) / 512;
}

Result<RunnerInfo> decode_info(const Json &document) {
  RunnerInfo info;
  info.version = document.value("version", "");
  info.notes = document.value("notes", std::vector<std::string>{});
  for (const Json &entry : document.value("off", Json::array()))
    info.off.emplace_back(entry.value("name", ""), entry.value("why", ""));
  for (const Json &entry : document.value("devices", Json::array()))
    info.devices.push_back(TRY(model::device_from_json(entry)));
  return info;
}

Result<TracedModule> decode_trace(const Json &document) {
  if (document.contains("refusal"))
    return fail(document.value("refusal", ""));
  auto graph = TRY(model::graph_from_json(document.value("graph", Json())));
  const Json call = document.value("call", Json::object());
  TracedModule traced{std::move(graph),
                      {},
                      document.value("torch", ""),
                      call.value("inputs", ""),
                      call.value("outputs", ""),
                      call.value("guards", "")};
  for (const Json &entry : document.value("buffers", Json::array())) {
    const auto dtype = model::dtype_from_name(entry.value("dtype", ""));
    const std::string direction = entry.value("direction", "");
    if (!dtype)
      return fail("the runner traced a tensor of dtype " + entry.value("dtype", "") +
                  ", which tasks do not hold");
    model::Buffer buffer;
    buffer.name = entry.value("name", "");
    buffer.torch_name = entry.value("torch_name", "");
    buffer.dtype = *dtype;
    buffer.shape = entry.value("shape", model::Shape{});
    buffer.extent = symbolic::Expression(model::elements_of(buffer.shape));
    buffer.direction = direction == "in"    ? model::Direction::In
                       : direction == "out" ? model::Direction::Out
                                            : model::Direction::InOut;
    buffer.distribution.kind = model::Distribution::Kind::Module;
    traced.buffers.push_back(std::move(buffer));
  }
  return traced;
}

Result<std::vector<Result<TracedModule>>> decode_traces(const Json &document, std::size_t count) {
  const Json answers = document.value("traces", Json::array());
  if (!answers.is_array() || answers.size() != count)
    return fail("the runner answered for other modules than the traced ones",
                "Update the runner: it may be of another version");
  std::vector<Result<TracedModule>> traces;
  for (const Json &answer : answers)
    traces.push_back(decode_trace(answer));
  return traces;
}

std::vector<DeviceIsolation> decode_isolation(const Json &document) {
  std::vector<DeviceIsolation> devices;
  for (const Json &entry : document.value("devices", Json::array())) {
    DeviceIsolation device{entry.value("device", ""), {}, 0};
    for (const Json &layer : entry.value("layers", Json::array())) {
      ++device.layers;
      if (!layer.value("active", false))
        device.missing.push_back(layer.value("name", "") + ": " + layer.value("detail", ""));
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

} // namespace

RpcClient::RpcClient(Route route, boost::asio::any_io_executor executor)
    : route_(std::move(route)), executor_(executor), timer_(executor) {}

RpcClient::~RpcClient() {
  if (!connection_)
    return;
  for (const auto &[id, call] : calls_)
    if (!call.job.empty() && state_ == State::Up)
      connection_->notify("cancel", {{"job", call.job}});
  connection_->close();
}

void RpcClient::open(std::function<void(Result<void>)> callback) {
  if (state_ == State::Up)
    return callback({});
  opening_.push_back(std::move(callback));
  if (state_ == State::Down)
    open_link();
}

void RpcClient::info(std::function<void(Result<RunnerInfo>)> callback) {
  Call request{.method = "info"};
  request.reply = [callback, url = route_.url](const Result<Json> &answer) {
    auto info = answer ? decode_info(*answer) : std::unexpected(answer.error());
    if (info)
      info->url = url;
    callback(std::move(info));
  };
  call(std::move(request));
}

void RpcClient::isolation(std::function<void(Result<std::vector<DeviceIsolation>>)> callback) {
  Call request{.method = "isolation"};
  request.reply = [callback = std::move(callback)](const Result<Json> &answer) {
    if (!answer)
      return callback(std::unexpected(answer.error()));
    callback(decode_isolation(*answer));
  };
  call(std::move(request));
}

std::int64_t RpcClient::verify(const model::Task &task, const model::Plan &plan,
                               const VerifyOptions &options, StageCallback on_stage,
                               VerdictCallback callback) {
  VerifyOptions keyed = options;
  if (keyed.job.empty())
    keyed.job = random_key();
  Call request{.method = "verify", .job = keyed.job, .on_stage = std::move(on_stage)};
  request.params = {{"task", model::to_json(task)},
                    {"plan", model::to_json(plan)},
                    {"options", model::to_json(keyed)}};
  request.reply = [callback = std::move(callback)](const Result<Json> &answer) {
    callback(answer ? model::verdict_from_json(*answer) : std::unexpected(answer.error()));
  };
  return call(std::move(request));
}

void RpcClient::trace(const std::vector<model::TorchModule> &modules, TracesCallback callback) {
  Call request{.method = "trace", .params = {{"modules", Json::array()}}};
  for (const model::TorchModule &module : modules)
    request.params["modules"].push_back(model::to_json(module));
  request.reply = [callback = std::move(callback),
                   count = modules.size()](const Result<Json> &answer) {
    callback(answer ? decode_traces(*answer, count) : std::unexpected(answer.error()));
  };
  call(std::move(request));
}

std::int64_t RpcClient::call(Call call) {
  const std::int64_t id = next_id_++;
  calls_[id] = std::move(call);
  if (state_ == State::Up)
    send(id);
  else if (state_ == State::Down)
    open_link();
  return id;
}

void RpcClient::cancel(std::int64_t id) {
  const auto found = calls_.find(id);
  if (found == calls_.end())
    return;
  found->second.cancelled = true;
  if (state_ == State::Up)
    // The answer to the cancelled request ends the call.
    return connection_->cancel(found->second.request);
  end_cancelled_calls();
}

void RpcClient::open_link() {
  state_ = State::Opening;
  route_.open([weak = weak_from_this()](std::expected<Link, net::LinkFailure> link) {
    if (const auto self = weak.lock())
      self->on_opened(std::move(link));
  });
}

void RpcClient::on_opened(std::expected<Link, net::LinkFailure> link) {
  if (!link)
    return link.error().is_final ? fail_all(link.error().error) : on_lost(link.error().error);
  process_ = std::move(link->process);
  connection_ = rpc::Connection::make(std::move(link->stream), handlers());
  connection_->start();
  if (route_.resumes)
    keepalive_ = std::make_unique<net::Keepalive>(executor_, connection_, net::KeepaliveTimes{});
  route_.token.empty() ? on_up() : authenticate();
}

rpc::Connection::Handlers RpcClient::handlers() {
  rpc::Connection::Handlers handlers;
  handlers.on_request = [](const std::string &method, const Json &, const Json &,
                           const rpc::Responder &respond) {
    if (method == "ping")
      return respond(Json::object());
    respond(std::unexpected(rpc::RpcError{rpc::kMethodNotFound, "a client knows only ping", {}}));
  };
  handlers.on_notification = [weak = weak_from_this()](const std::string &method,
                                                       const Json &params) {
    if (const auto self = weak.lock(); self && method == "stage")
      self->on_stage(params);
  };
  handlers.on_closed = [weak = weak_from_this()](const std::string &reason) {
    if (const auto self = weak.lock())
      self->on_closed(reason);
  };
  return handlers;
}

void RpcClient::authenticate() {
  connection_->request(
      "authenticate", net::authentication(route_.token),
      [weak = weak_from_this(), link = std::weak_ptr(connection_)](const rpc::Outcome &outcome) {
        const auto self = weak.lock();
        const auto connection = link.lock();
        if (!self || !connection || !connection->is_open())
          return; // on_closed reports the failure
        outcome ? self->on_up()
                : self->fail_all(explain_refusal(outcome.error().message, self->route_.url));
      });
}

void RpcClient::on_up() {
  state_ = State::Up;
  was_up_ = true;
  up_since_ = Clock::now();
  for (const auto &callback : std::exchange(opening_, {}))
    callback({});
  for (const std::string &job : std::exchange(cancelled_, {}))
    connection_->notify("cancel", {{"job", job}});
  std::vector<std::int64_t> ids;
  for (const auto &[id, call] : calls_)
    ids.push_back(id);
  for (const std::int64_t id : ids)
    if (state_ == State::Up)
      send(id);
}

void RpcClient::send(std::int64_t id) {
  const auto found = calls_.find(id);
  if (found == calls_.end())
    return;
  const std::int64_t request =
      connection_->request(found->second.method, found->second.params,
                           [weak = weak_from_this(), link = std::weak_ptr(connection_),
                            id](const rpc::Outcome &outcome) {
                             const auto self = weak.lock();
                             const auto connection = link.lock();
                             if (self && connection && connection->is_open())
                               self->on_reply(id, outcome);
                           });
  found->second.request = request;
}

void RpcClient::on_reply(std::int64_t id, const rpc::Outcome &outcome) {
  auto call = calls_.extract(id);
  if (call.empty())
    return;
  if (outcome && !call.mapped().job.empty())
    connection_->notify("received", {{"job", call.mapped().job}});
  call.mapped().reply(outcome ? Result<Json>(*outcome)
                              : std::unexpected(to_error(outcome.error())));
}

void RpcClient::on_stage(const Json &params) {
  const Json request = params.value("id", Json());
  for (const auto &[id, call] : calls_)
    if (request == call.request && call.on_stage)
      return StageCallback(call.on_stage)(params.value("stage", ""));
}

void RpcClient::on_closed(const std::string &reason) {
  connection_.reset();
  keepalive_.reset();
  process_.reset();
  if (state_ == State::Down)
    return;
  const bool was_good = state_ == State::Up && Clock::now() - up_since_ > kGoodLink;
  if (was_good)
    attempts_ = 0;
  if (route_.resumes && (!was_up_ || reason.starts_with("the peer refused")))
    return fail_all(explain_refusal(reason, route_.url));
  on_lost({"the runner ended while it had a job" + (reason.empty() ? "" : ": " + reason),
           "Try again: the runner is restarted"});
}

void RpcClient::on_lost(const Error &error) {
  end_cancelled_calls();
  if (!route_.resumes || !was_up_)
    return fail_all(error);
  if (calls_.empty() && cancelled_.empty() && opening_.empty()) {
    state_ = State::Down;
    return;
  }
  if (attempts_++ == 0)
    lost_since_ = Clock::now();
  if (Clock::now() - lost_since_ > route_.retry)
    return fail_all({"the runner at " + route_.url + " is gone: " + error.message, error.remedy});
  std::vector<StageCallback> watchers;
  for (const auto &[id, call] : calls_)
    if (call.on_stage)
      watchers.push_back(call.on_stage);
  retry();
  for (const StageCallback &on_stage : watchers)
    on_stage("reconnecting");
}

void RpcClient::retry() {
  state_ = State::Waiting;
  timer_.expires_after(pause_before(attempts_));
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    if (const auto self = weak.lock(); !error && self && self->state_ == State::Waiting)
      self->open_link();
  });
}

void RpcClient::end_cancelled_calls() {
  std::vector<Call> ended;
  for (auto call = calls_.begin(); call != calls_.end();) {
    const auto here = call++;
    if (!here->second.cancelled)
      continue;
    if (here->second.request && !here->second.job.empty() && route_.resumes)
      cancelled_.insert(here->second.job);
    ended.push_back(std::move(here->second));
    calls_.erase(here);
  }
  for (const Call &call : ended)
    call.reply(std::unexpected(Error{"the job was cancelled", ""}));
}

void RpcClient::fail_all(const Error &error) {
  state_ = State::Down;
  attempts_ = 0;
  timer_.cancel();
  keepalive_.reset();
  process_.reset();
  if (const auto connection = std::exchange(connection_, nullptr))
    connection->close();
  cancelled_.clear();
  const auto calls = std::exchange(calls_, {});
  for (const auto &callback : std::exchange(opening_, {}))
    callback(std::unexpected(error));
  for (const auto &[id, call] : calls)
    call.reply(std::unexpected(error));
}

} // namespace warpwright::runner
