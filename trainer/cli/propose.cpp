#include "trainer/cli/propose.h"

#include "support/hash.h"
#include "support/model/json.h"
#include "support/rpc/connection.h"
#include "support/version.h"
#include "trainer/environment/live.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/proposer.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace warpwright::trainer {
namespace {

using rpc::Json;

using Told = std::function<void(const std::string &)>;

/// Errors: an invalid verdict.
Result<std::vector<TriedVersion>> tried_of(const Json &list) {
  std::vector<TriedVersion> tried;
  for (const Json &entry : list) {
    TriedVersion &version = tried.emplace_back(
        TriedVersion{entry.value("moves", Moves{}),
                     entry.contains("plan") ? entry.at("plan").dump() : entry.value("answer", ""),
                     {}});
    version.refused = entry.value("refused", "");
    version.pending = entry.value("pending", false);
    if (version.refused.empty() && !version.pending)
      version.verdict = TRY(model::verdict_from_json(entry.at("verdict")));
  }
  return tried;
}

/// A task with its plan as the caller describes them; whoever needs states or verdicts is refused.
class DescribedEnvironment final : public Environment {
public:
  DescribedEnvironment(TaskView view, std::optional<model::DeviceInfo> device)
      : view_(std::move(view)), device_(std::move(device)) {}
  std::string_view name() const override { return "described"; }
  Result<TaskView> open(const TrainingTask &) override { return view_; }
  Result<StateRecord> state(const TrainingTask &, const Moves &) override { return absent(); }
  bool can_measure(const TrainingTask &, const Moves &) override { return false; }
  Result<Measured> measure(const TrainingTask &, const Moves &, std::stop_token) override {
    return absent();
  }
  Result<Measured> confirm(const TrainingTask &, const Moves &, std::stop_token) override {
    return absent();
  }
  Result<Measured> measure_plan(const TrainingTask &, const model::Plan &,
                                std::stop_token) override {
    return absent();
  }
  std::optional<model::DeviceInfo> device() override { return device_; }

private:
  static std::unexpected<Error> absent() {
    return fail("the caller makes the states of this task",
                "Choose a policy that writes code: endpoint:URL#MODEL");
  }
  TaskView view_;
  std::optional<model::DeviceInfo> device_;
};

Json to_json(const Proposal &proposal) {
  if (proposal.exhausted)
    return {{"exhausted", true}, {"refused", proposal.refused}};
  if (proposal.waits)
    return {{"waits", true}};
  const Analysis &said = proposal.analysis;
  // A language model's analysis starts with labels, so a sentence about the bound goes before it.
  const std::string bound = said.design.empty() ? "" : analysis_text({.bound = said.bound}, {});
  Json analysis{{"text", bound + (bound.empty() ? "" : "\n\n") + said.text},
                {"design", said.design}};
  if (said.bound)
    analysis["bound"] = model::name(*said.bound);
  if (said.faster_exemplar)
    analysis["faster_exemplar"] = *said.faster_exemplar;
  if (said.explaining_move)
    analysis["explaining_move"] = *said.explaining_move;
  Json answer{{"moves", proposal.moves}, {"analysis", analysis}, {"seconds", proposal.seconds}};
  if (proposal.plan)
    answer["plan"] = model::to_json(*proposal.plan);
  for (const auto &[region, kernels] : proposal.regions)
    answer["regions"][region] = model::to_json(kernels);
  if (proposal.plan || !proposal.regions.empty())
    answer["answer"] = answer_text(proposal);
  answer["base"] = proposal.base;
  return answer;
}

class Server {
public:
  Server(const Config &config, Policy &policy)
      : config_(config), policy_(policy),
        proposer_(policy, {config.rl.buckets, config.rl.bucket_temperature}, config.run.seed) {}

  /// @param told receives progress
  rpc::Outcome answer(const std::string &method, const Json &params, std::stop_token stop,
                      const Told &told) {
    try {
      if (method == "info")
        return Json{{"policy", policy_.name()}, {"version", version()}};
      if (method == "propose")
        return propose(params, std::move(stop), told);
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
    if (params.contains("device"))
      device = TRY(model::device_from_json(params.at("device")));
    if (environment_ && device == environment_->device())
      return {};
    environment_ = TRY(LiveEnvironment::without_runner(config_.environment, records_, device));
    return {};
  }

  rpc::Outcome propose(const Json &params, std::stop_token stop, const Told &told) {
    auto tried = tried_of(params.value("tried", Json::array()));
    if (!tried)
      return invalid(tried.error());
    auto proposal = params.contains("task") ? for_module(params, *tried, stop, told)
                                            : for_kernel(params, *tried, stop, told);
    if (!proposal)
      return invalid(proposal.error());
    Json answer = to_json(*proposal);
    if (const Json account = policy_.account(); account.is_object())
      answer["spent"] = account.value("spent", "");
    return answer;
  }

  Result<Proposal> for_module(const Json &params, const std::vector<TriedVersion> &tried,
                              std::stop_token stop, const Told &told) {
    const auto definition = TRY(model::task_from_json(params.at("task")));
    if (!definition.module)
      return fail("the task has no module", "Send the text of a kernel's file instead");
    TrainingTask task;
    task.language = kTorchLanguage;
    task.text = definition.module->source;
    task.kernel = definition.module->model;
    task.id = task.kernel + "/" + model::hash(definition);
    TaskView view{
        .id = task.id, .definition = params.at("task"), .graph = params.value("graph", "")};
    if (const Json plan = params.value("plan", Json()); plan.is_object())
      view.plan = PlanView{plan.at("id"), plan.at("text"), plan.at("legal")};
    std::optional<model::DeviceInfo> device;
    if (params.contains("device"))
      device = TRY(model::device_from_json(params.at("device")));
    DescribedEnvironment environment(std::move(view), std::move(device));
    return proposer_.propose(task, tried, environment, std::move(stop), told);
  }

  Result<Proposal> for_kernel(const Json &params, const std::vector<TriedVersion> &tried,
                              std::stop_token stop, const Told &told) {
    TRY(use_device(params));
    TrainingTask task;
    task.path = params.value("path", "unsaved.cu");
    task.text = params.at("text");
    task.kernel = params.at("kernel");
    task.flags = params.value("flags", std::vector<std::string>{});
    task.id = task.kernel + "/" + sha256_hex(task.text);
    return proposer_.propose(task, tried, *environment_, std::move(stop), told);
  }

  const Config &config_;
  Policy &policy_;
  Proposer proposer_;
  Exclusive<RecordBook> records_; ///< states so far, only in memory
  std::unique_ptr<LiveEnvironment> environment_;
};

} // namespace

Result<void> run_propose(const Config &config, std::unique_ptr<Policy> policy) {
  Server server(config, *policy);
  boost::asio::io_context context(1);
  boost::asio::thread_pool policy_thread(
      1); // answers take minutes, and the end of the input must be seen
  std::string reason;
  std::stop_source stop;
  std::shared_ptr<rpc::Connection> connection;
  const Told told = [&](const std::string &text) {
    boost::asio::post(context, [&connection, text] {
      connection->notify("progress", {{"text", text}});
    });
  };
  rpc::Connection::Handlers handlers;
  handlers.on_request = [&](const std::string &method, Json params, const Json &,
                            rpc::Responder respond) {
    boost::asio::post(policy_thread, [&, method, params = std::move(params), respond] {
      auto outcome = server.answer(method, params, stop.get_token(), told);
      boost::asio::post(context, [respond, outcome = std::move(outcome)] { respond(outcome); });
    });
  };
  handlers.on_closed = [&](std::string why) {
    reason = std::move(why);
    stop.request_stop();
  };
  connection =
      rpc::Connection::make(rpc::make_descriptor_stream(context.get_executor(), 0, 1), handlers);
  connection->start();
  context.run();
  policy_thread.join();
  context.restart();
  context.run(); // answers that came too late
  return reason.empty() ? Result<void>() : fail("the connection broke: " + reason);
}

} // namespace warpwright::trainer
