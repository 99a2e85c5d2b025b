// Adviser that runs the trainer's own proposer over states that the generator makes in this process.
#include "server/optimize/adviser.h"

#include "server/optimize/space_environment.h"
#include "support/hash.h"
#include "support/model/json.h"
#include "trainer/policy/builtin.h"
#include "trainer/policy/proposer.h"

namespace warpwright::server {
namespace {

std::vector<trainer::TriedVersion> versions_of(const std::vector<search::Variant> &tried) {
  std::vector<trainer::TriedVersion> versions;
  for (const search::Variant &variant : tried) {
    trainer::TriedVersion version{{}, {}, variant.verdict};
    if (const auto &answer = variant.state.provenance.answer)
      version.plan = model::to_json(*answer).dump();
    else
      for (const source::Move &move : variant.state.moves)
        version.moves.push_back(source::to_string(move));
    versions.push_back(std::move(version));
  }
  return versions;
}

class BuiltinAdviser final : public Adviser {
public:
  BuiltinAdviser(const trainer::PlainPolicy &policy, const model::Task &task,
                 std::optional<model::DeviceInfo> device)
      : task_(task), policy_(policy.network, policy.vocabulary, {}, kSeed),
        proposer_(policy_, {}, kSeed), device_(std::move(device)) {}

  std::string_view name() const override { return "builtin"; }

  Result<Advice> advise(const source::State &original,
                        const std::vector<search::Variant> &tried) override {
    trainer::TrainingTask task;
    task.path = original.file.path;
    task.text = original.file.text;
    task.kernel = original.kernel;
    task.flags = original.settings.flags;
    task.id = task.kernel + "/" + sha256_hex(task.text);
    if (!space_)
      space_.emplace(original);
    SpaceEnvironment environment(*space_, model::to_json(task_), "", device_);
    auto proposal = proposer_.propose(task, versions_of(tried), environment);
    if (!proposal)
      return std::unexpected(proposal.error());
    return Advice{.moves = std::move(proposal->moves),
                  .plan = std::move(proposal->plan),
                  .analysis = std::move(proposal->analysis.text),
                  .exhausted = proposal->exhausted,
                  .refused = std::move(proposal->refused)};
  }

private:
  static constexpr std::uint64_t kSeed = 1;

  model::Task task_;
  trainer::BuiltinPolicy policy_;
  trainer::Proposer proposer_;
  std::optional<model::DeviceInfo> device_;
  std::optional<search::TextSpace> space_; ///< of the first call's source; constant during a search
};

} // namespace

std::unique_ptr<Adviser> make_builtin_adviser(const trainer::PlainPolicy &policy,
                                              const model::Task &task,
                                              std::optional<model::DeviceInfo> device) {
  return std::make_unique<BuiltinAdviser>(policy, task, std::move(device));
}

} // namespace warpwright::server
