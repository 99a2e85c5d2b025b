#include "trainer/cli/propose.h"

#include "support/hash.h"
#include "support/model/json.h"
#include "support/rpc/connection.h"
#include "support/version.h"
#include "trainer/environment/live.h"
#include "trainer/policy/analysis_truth.h"
#include "trainer/policy/proposer.h"

#include <boost/asio/io_context.hpp>

namespace warpwright::trainer {
namespace {

using rpc::Json;

/// Errors: an invalid verdict.
Result<std::vector<TriedVersion>> tried_of(const Json &list) {
  std::vector<TriedVersion> tried;
  for (const Json &entry : list) {
    auto verdict = TRY(model::verdict_from_json(entry.at("verdict")));
    tried.push_back({entry.value("moves", Moves{}),
                     entry.contains("plan") ? entry.at("plan").dump() : "", std::move(verdict)});
  }
  return tried;
}

Json to_json(const Proposal &proposal) {
  if (proposal.exhausted)
    return {{"exhausted", true}, {"refused", proposal.refused}};
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
  return answer;
}

class Server {
public:
  Server(const Config &config, Policy &policy)
      : config_(config), policy_(policy),
        proposer_(policy, {config.rl.buckets, config.rl.bucket_temperature}, config.run.seed) {}

  rpc::Outcome answer(const std::string &method, const Json &params) {
    try {
      if (method == "info")
        return Json{{"policy", policy_.name()}, {"version", version()}};
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
    if (params.contains("device"))
      device = TRY(model::device_from_json(params.at("device")));
    if (environment_ && device == environment_->device())
      return {};
    environment_ = TRY(LiveEnvironment::without_runner(config_.environment, records_, device));
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
    auto tried = tried_of(params.value("tried", Json::array()));
    auto proposal = tried ? proposer_.propose(task, *tried, *environment_)
                          : Result<Proposal>(std::unexpected(tried.error()));
    return proposal ? rpc::Outcome(to_json(*proposal)) : invalid(proposal.error());
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
  std::string reason;
  rpc::Connection::Handlers handlers;
  handlers.on_request = [&](const std::string &method, Json params, const Json &,
                            rpc::Responder respond) { respond(server.answer(method, params)); };
  handlers.on_closed = [&](std::string why) { reason = std::move(why); };
  auto connection =
      rpc::Connection::make(rpc::make_descriptor_stream(context.get_executor(), 0, 1), handlers);
  connection->start();
  context.run();
  return reason.empty() ? Result<void>() : fail("the connection broke: " + reason);
}

} // namespace warpwright::trainer
