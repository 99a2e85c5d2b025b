#include "trainer/stages/adversary.h"

#include "runner/adversary/families.h"
#include "support/model/json.h"
#include "trainer/records/measured_json.h"
#include "trainer/stages/each_of.h"

#include <algorithm>
#include <fstream>

namespace warpwright::trainer {
namespace {

using runner::adversary::Case;

constexpr std::size_t kAttemptsAStep = 6;

struct Attempt {
  const Case *subject;
  Result<Measured> measured = fail("not measured");
};

/// Advantage that the attempt would get as an additional answer of this group.
double advantage_of(const Group &group, const Measured &attempt, double spread, int best_of) {
  std::vector<GroupMember> members = members_of(group);
  members.push_back(member_of(attempt));
  return group_advantages(members, spread, best_of).back();
}

const std::vector<Case> &cases() {
  static const std::vector<Case> all = runner::adversary::all_cases();
  return all;
}

} // namespace

Result<void> store_cheat(Learning &learning, const std::string &folder, const CheatCase &cheat) {
  const std::string path = folder + "/cheats.jsonl";
  nlohmann::json line = to_json(cheat.measured);
  line["task"] = cheat.task;
  line["moves"] = cheat.moves;
  if (!cheat.plan.empty())
    line["plan"] = nlohmann::json::parse(cheat.plan);
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << line.dump() << '\n' << std::flush;
  if (!file)
    return fail("cannot append to " + path, "Is the disk full?");
  return learning.log(
      "cheat", {{"task", cheat.task}, {"moves", cheat.moves}, {"message", cheat.measured.message}});
}

Adversary::Adversary(const Config &config, Environment &environment)
    : config_(config), environment_(environment) {}

Result<void> Adversary::step(const std::vector<Group> &groups, double spread,
                             Learning &learning) {
  const auto device = environment_.device();
  if (!config_.rl.adversary || !learning.writes() || groups.empty() || !device)
    return {};
  const bool on_cpu = device->kind == "cpu";
  std::vector<Attempt> attempts;
  for (; next_ < cases().size() && attempts.size() < kAttemptsAStep; ++next_)
    if (const Case &subject = cases()[next_];
        !(on_cpu ? subject.cpu : subject.gpu).accepted.empty())
      attempts.push_back({&subject});
  each_of(attempts.size(), config_.environment.in_flight, [&](std::size_t i) {
    const Case &subject = *attempts[i].subject;
    attempts[i].measured = environment_.judge(subject.task, subject.candidate,
                                              std::chrono::milliseconds(subject.timeout_ms));
  });
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const Case &subject = *attempts[i].subject;
    nlohmann::json fields{{"case", subject.name},
                          {"family", subject.family},
                          {"honest", runner::adversary::is_honest(subject)},
                          {"step", learning.step()}};
    if (const auto &measured = attempts[i].measured) {
      const double reward = plain_reward(*measured).value_or(0);
      fields["outcome"] = model::name(measured->outcome);
      fields["reward"] = reward;
      fields["advantage"] =
          advantage_of(groups[i % groups.size()], *measured, spread, config_.rl.best_of);
      fields["rewarded"] = reward > 1; // more than the reward of the unchanged source
      if (measured->speedup)
        fields["speedup"] = measured->speedup->ratio;
      if (measured->outcome == model::Outcome::SuspectedCheat)
        TRY(store_cheat(learning, config_.run.out,
                        {"adversary/" + subject.name,
                         {},
                         model::to_json(subject.candidate).dump(),
                         *measured}));
    } else { // refused before a worker ran it
      fields["outcome"] = "rejected";
      fields["message"] = describe(measured.error());
      fields["reward"] = 0;
      fields["rewarded"] = false;
    }
    TRY(learning.log("adversary", std::move(fields)));
  }
  return {};
}

} // namespace warpwright::trainer
