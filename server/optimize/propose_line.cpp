// Advice over JSON-RPC, as trainer/cli/propose.h describes.
#include "server/optimize/propose_line.h"

#include "support/model/json.h"

namespace warpwright::server {
namespace {

using Json = nlohmann::json;

Result<Advice> advice_from(const Json &answer) try {
  Advice advice{.moves = answer.value("moves", std::vector<std::string>{}),
                .base = answer.value("base", ""),
                .answer = answer.value("answer", ""),
                .analysis = answer.value("/analysis/text"_json_pointer, ""),
                .exhausted = answer.value("exhausted", false),
                .waits = answer.value("waits", false),
                .refused = answer.value("refused", "")};
  for (const auto &[region, kernels] : answer.value("regions", Json::object()).items())
    advice.regions.emplace(region, TRY(model::proposed_plan_from_json(kernels)));
  if (answer.contains("plan"))
    advice.plan = TRY(model::proposed_plan_from_json(answer.at("plan")));
  return advice;
} catch (const nlohmann::json::exception &error) {
  return fail(std::string("its answer cannot be read: ") + error.what());
}

} // namespace

Result<Advice> ProposeLine::ask(const Json &params) {
  const std::stop_callback kill(stop_, [this] { line_.kill(); });
  const auto answer = line_.call("propose", params, [&](const std::string &, const Json &progress) {
    if (told_ && progress.is_object())
      told_(progress.value("text", ""));
  });
  if (!answer)
    return std::unexpected(answer.error().error);
  spent_ = answer->is_object() ? answer->value("spent", spent_) : spent_;
  return advice_from(*answer);
}

} // namespace warpwright::server
