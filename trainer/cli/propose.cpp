#include "trainer/cli/propose.h"

#include "support/hash.h"
#include "support/model/json.h"
#include "support/rpc/connection.h"
#include "trainer/environment/live.h"
#include "trainer/policy/exemplars.h"

#include <boost/asio/io_context.hpp>

namespace warpwright::trainer {
namespace {

using rpc::Json;

constexpr int kAttempts = 8; ///< for moves that were not tried

/// What is known of the unchanged source from a verdict on any candidate: the other side of its measurement.
Measured original_of(const model::Verdict &verdict) {
  Measured original;
  original.outcome = model::Outcome::Verified;
  original.device = device_key(verdict.device);
  if (const auto &time = verdict.reference_time) {
    original.reference_time = MeasuredTime{time->median_ns, time->low_ns, time->high_ns};
    original.speedup = MeasuredRatio{1, 1, 1, 0};
  }
  if (!verdict.reference_kernels.empty()) {
    original.registers = verdict.reference_kernels.front().registers;
    original.occupancy = verdict.reference_kernels.front().occupancy;
  }
  if (verdict.reference_evidence)
    original.reference_bound = verdict.reference_evidence->bound;
  return original;
}

struct Tried {
  std::vector<Exemplar> versions; ///< the unchanged source first
  std::optional<Measured> original;
};

Result<Tried> tried_of(const Json &list) {
  Tried tried;
  tried.versions.push_back({});
  for (const Json &entry : list) {
    auto verdict = model::verdict_from_json(entry.at("verdict"));
    if (!verdict)
      return std::unexpected(verdict.error());
    if (!tried.original || !tried.original->reference_time)
      tried.original = original_of(*verdict);
    tried.versions.push_back({entry.at("moves").get<Moves>(), cut_down(*verdict, 0), {}});
  }
  if (tried.original)
    tried.versions.front().measured = *tried.original;
  else
    tried.versions.front().measured.outcome = model::Outcome::Verified;
  return tried;
}

class Proposer {
public:
  Proposer(const Config &config, Policy &policy)
      : config_(config), policy_(policy), random_(config.run.seed) {}

  rpc::Outcome answer(const std::string &method, const Json &params) {
    try {
      if (method == "info")
        return Json{{"policy", policy_.name()}, {"version", WARPWRIGHT_VERSION}};
      if (method == "propose")
        return propose(params);
    } catch (const nlohmann::json::exception &error) {
      return invalid({error.what(), {}});
    }
    return std::unexpected(rpc::RpcError{
        rpc::kMethodNotFound, "no method " + method + "; there are info and propose", nullptr});
  }

private:
  static rpc::Outcome invalid(const Error &error) {
    return std::unexpected(rpc::RpcError{rpc::kInvalidParams, describe(error), nullptr});
  }

  Result<void> use_device(const Json &params) {
    std::optional<model::DeviceInfo> device;
    if (params.contains("device")) {
      auto decoded = model::device_from_json(params.at("device"));
      if (!decoded)
        return std::unexpected(decoded.error());
      device = *decoded;
    }
    if (environment_ && device == environment_->device())
      return {};
    auto environment = LiveEnvironment::without_runner(config_.environment, records_, device);
    if (!environment)
      return std::unexpected(environment.error());
    environment_ = std::move(*environment);
    return {};
  }

  rpc::Outcome propose(const Json &params) {
    if (auto used = use_device(params); !used)
      return invalid(used.error());
    TrainingTask task;
    task.path = params.value("path", "unsaved.cu");
    task.text = params.at("text");
    task.kernel = params.at("kernel");
    task.flags = params.value("flags", std::vector<std::string>{});
    task.id = task.kernel + "/" + sha256_hex(task.text);
    auto view = environment_->open(task);
    auto tried = view ? tried_of(params.value("tried", Json::array()))
                      : Result<Tried>(std::unexpected(view.error()));
    if (!tried)
      return invalid(tried.error());
    view->original = tried->original;
    return new_proposal(task, *view, tried->versions);
  }

  rpc::Outcome new_proposal(const TrainingTask &task, const TaskView &view,
                            const std::vector<Exemplar> &tried) {
    double seconds = 0;
    for (int i = 0; i < kAttempts; ++i) {
      const Context context{
          task, view, environment_->device(),
          choose_exemplars(tried, {config_.rl.buckets, config_.rl.bucket_temperature}, random_),
          tried};
      auto proposal = policy_.propose(context, *environment_);
      if (!proposal)
        return invalid(proposal.error());
      seconds += proposal->seconds;
      const bool is_new = !proposal->moves.empty() &&
                          std::none_of(tried.begin(), tried.end(), [&](const Exemplar &version) {
                            return version.moves == proposal->moves;
                          });
      if (is_new)
        return to_json(*proposal, seconds);
    }
    return Json{{"exhausted", true}};
  }

  static Json to_json(const Proposal &proposal, double seconds) {
    const Analysis &said = proposal.analysis;
    Json analysis{{"text", said.text}};
    if (said.bound)
      analysis["bound"] = model::name(*said.bound);
    if (said.faster_exemplar)
      analysis["faster_exemplar"] = *said.faster_exemplar;
    if (said.explaining_move)
      analysis["explaining_move"] = *said.explaining_move;
    return {{"moves", proposal.moves}, {"analysis", analysis}, {"seconds", seconds}};
  }

  const Config &config_;
  Policy &policy_;
  std::mt19937_64 random_;
  Exclusive<RecordBook> records_; ///< in memory: states that were asked for
  std::unique_ptr<LiveEnvironment> environment_;
};

} // namespace

Result<void> run_propose(const Config &config, std::unique_ptr<Policy> policy) {
  Proposer proposer(config, *policy);
  boost::asio::io_context context(1);
  std::string reason;
  rpc::Connection::Handlers handlers;
  handlers.on_request = [&](const std::string &method, Json params, const Json &,
                            rpc::Responder respond) { respond(proposer.answer(method, params)); };
  handlers.on_closed = [&](std::string why) { reason = std::move(why); };
  auto connection =
      rpc::Connection::make(rpc::make_descriptor_stream(context.get_executor(), 0, 1), handlers);
  connection->start();
  context.run();
  return reason.empty() ? Result<void>() : fail("the connection broke: " + reason);
}

} // namespace warpwright::trainer
