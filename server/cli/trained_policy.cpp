#include "server/cli/trained_policy.h"

#include "support/model/json.h"

#include <cstdlib>
#include <filesystem>

namespace warpwright::cli {
namespace {

using Json = nlohmann::json;

std::string trainer_program() {
  if (const char *chosen = std::getenv("WARPWRIGHT_TRAIN"); chosen && *chosen)
    return chosen;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const auto beside = self.parent_path() / "warpwright-train";
  return !failed && std::filesystem::exists(beside, failed) ? beside.string() : "warpwright-train";
}

Json tried_json(const std::vector<generator::Variant> &tried) {
  Json list = Json::array();
  for (const generator::Variant &variant : tried) {
    Json moves = Json::array();
    for (const generator::Move &move : variant.state.moves)
      moves.push_back(generator::to_string(move));
    list.push_back({{"moves", moves}, {"verdict", model::to_json(variant.verdict)}});
  }
  return list;
}

} // namespace

TrainedPolicy::TrainedPolicy(std::unique_ptr<rpc::ChildLine> line,
                             std::optional<model::DeviceInfo> device)
    : line_(std::move(line)), device_(std::move(device)), search_(generator::make_beam_policy()) {}

Result<std::unique_ptr<TrainedPolicy>>
TrainedPolicy::start(const std::string &choice, std::optional<model::DeviceInfo> device) {
  std::error_code failed;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  auto line = rpc::ChildLine::start({trainer_program(), "propose", "--policy", choice, "--set",
                                     "environment.warpwright = \"" + self + "\"", "--set",
                                     "environment.env_processes = 1"});
  if (!line)
    return fail(line.error().message,
                "Put warpwright-train beside this program, or set WARPWRIGHT_TRAIN to its path");
  if (auto info = (*line)->call("info", Json::object()); !info)
    return fail("the policy " + choice + " does not start: " + info.error().error.message);
  return std::unique_ptr<TrainedPolicy>(new TrainedPolicy(std::move(*line), std::move(device)));
}

Result<generator::State> TrainedPolicy::made(const generator::State &original, const Json &moves) {
  Result<generator::State> state = original;
  for (const Json &text : moves) {
    auto move = generator::move_from_string(text.get<std::string>());
    if (!move)
      return std::unexpected(move.error());
    state = generator::apply_move(*state, *move);
    if (!state)
      return state;
  }
  return state;
}

std::optional<generator::State>
TrainedPolicy::propose(const generator::State &original,
                       const std::vector<generator::Variant> &tried) {
  if (!ended_.empty())
    return search_->propose(original, tried);
  Json params{{"path", original.file.path},
              {"text", original.file.text},
              {"kernel", original.kernel},
              {"flags", original.settings.flags},
              {"tried", tried_json(tried)}};
  if (device_)
    params["device"] = model::to_json(*device_);
  auto answer = line_->call("propose", params);
  if (answer && answer->value("exhausted", false)) {
    ended_ = "it proposes nothing more that is new";
    return search_->propose(original, tried);
  }
  auto state = answer ? made(original, answer->value("moves", Json::array()))
                      : Result<generator::State>(std::unexpected(answer.error().error));
  if (!state) {
    ended_ = describe(state.error());
    return search_->propose(original, tried);
  }
  analysis_ = answer->value("/analysis/text"_json_pointer, "");
  return std::move(*state);
}

} // namespace warpwright::cli
