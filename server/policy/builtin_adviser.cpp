// The trainer's own proposer over states that the generator makes in this process.
#include "server/policy/adviser.h"

#include "generator/search/env.h"
#include "generator/text/states/open_states.h"
#include "support/hash.h"
#include "support/model/json.h"
#include "trainer/environment/live.h"
#include "trainer/policy/builtin.h"
#include "trainer/policy/proposer.h"

namespace warpwright::server {
namespace {

/// `warpwright env` without the process.
class EnvHere final : public trainer::EnvLine {
public:
  Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) override {
    auto answer = generator::answer_env(method, params, open_);
    if (!answer)
      return fail(answer.error().message);
    return std::move(*answer);
  }

private:
  generator::OpenStates open_;
};

std::vector<trainer::TriedVersion> versions_of(const std::vector<generator::Variant> &tried) {
  std::vector<trainer::TriedVersion> versions;
  for (const generator::Variant &variant : tried) {
    trainer::TriedVersion version{{}, {}, variant.verdict};
    if (const auto &answer = variant.state.provenance.answer)
      version.plan = model::to_json(*answer).dump();
    else
      for (const generator::Move &move : variant.state.moves)
        version.moves.push_back(generator::to_string(move));
    versions.push_back(std::move(version));
  }
  return versions;
}

class BuiltinAdviser final : public Adviser {
public:
  BuiltinAdviser(const trainer::PlainPolicy &policy, const model::Task &task,
                 std::optional<model::DeviceInfo> device)
      : task_(task), policy_(policy.network, policy.vocabulary, {}, kSeed),
        proposer_(policy_, {}, kSeed),
        environment_(trainer::LiveEnvironment::over(std::make_unique<EnvHere>(), {}, records_,
                                                    std::move(device))) {}

  std::string_view name() const override { return "builtin"; }

  Result<Advice> advise(const generator::State &original,
                        const std::vector<generator::Variant> &tried) override {
    trainer::TrainingTask task;
    task.path = original.file.path;
    task.text = original.file.text;
    task.kernel = original.kernel;
    task.flags = original.settings.flags;
    task.id = task.kernel + "/" + sha256_hex(task.text);
    const auto known = records_.with([&](trainer::RecordBook &book) {
      return book.add_task(task, model::to_json(task_), model::hash(task_));
    });
    if (!known)
      return std::unexpected(known.error());
    auto proposal = proposer_.propose(task, versions_of(tried), *environment_);
    if (!proposal)
      return std::unexpected(proposal.error());
    return Advice{std::move(proposal->moves), std::move(proposal->plan),
                  std::move(proposal->analysis.text), proposal->exhausted,
                  std::move(proposal->refused)};
  }

private:
  static constexpr std::uint64_t kSeed = 1;

  model::Task task_;
  trainer::BuiltinPolicy policy_;
  trainer::Proposer proposer_;
  Exclusive<trainer::RecordBook> records_; ///< in memory: states of this search
  std::unique_ptr<trainer::LiveEnvironment> environment_;
};

} // namespace

std::unique_ptr<Adviser> make_builtin_adviser(const trainer::PlainPolicy &policy,
                                              const model::Task &task,
                                              std::optional<model::DeviceInfo> device) {
  return std::make_unique<BuiltinAdviser>(policy, task, std::move(device));
}

} // namespace warpwright::server
