// Adviser that asks over JSON-RPC, as trainer/cli/propose.h describes.
#include "server/optimize/adviser.h"

#include "support/model/json.h"

namespace warpwright::server {
namespace {

using Json = nlohmann::json;

Json tried_json(const std::vector<search::Variant> &tried) {
  Json list = Json::array();
  for (const search::Variant &variant : tried) {
    Json entry{{"verdict", model::to_json(variant.verdict)}};
    if (const auto &answer = variant.state.provenance.answer) {
      entry["plan"] = model::to_json(*answer);
    } else {
      entry["moves"] = Json::array();
      for (const source::Move &move : variant.state.moves)
        entry["moves"].push_back(source::to_string(move));
    }
    list.push_back(std::move(entry));
  }
  return list;
}

Result<Advice> advice_from(const Json &answer) try {
  Advice advice{.moves = answer.value("moves", std::vector<std::string>{}),
                .analysis = answer.value("/analysis/text"_json_pointer, ""),
                .exhausted = answer.value("exhausted", false),
                .refused = answer.value("refused", "")};
  if (answer.contains("plan")) {
    auto plan = model::plan_from_json(answer.at("plan"));
    if (!plan)
      return std::unexpected(plan.error());
    advice.plan = std::move(*plan);
  }
  return advice;
} catch (const nlohmann::json::exception &error) {
  return fail(std::string("its answer cannot be read: ") + error.what());
}

class LineAdviser final : public Adviser {
public:
  LineAdviser(rpc::ChildLine &line, std::optional<model::DeviceInfo> device, std::stop_token stop)
      : line_(line), device_(std::move(device)), stop_(std::move(stop)) {}

  std::string_view name() const override { return "endpoint"; }

  Result<Advice> advise(const source::State &original,
                        const std::vector<search::Variant> &tried) override {
    Json params{{"path", original.file.path},
                {"text", original.file.text},
                {"kernel", original.kernel},
                {"flags", original.settings.flags},
                {"tried", tried_json(tried)}};
    if (device_)
      params["device"] = model::to_json(*device_);
    const std::stop_callback kill(stop_, [this] { line_.kill(); });
    auto answer = line_.call("propose", params);
    return answer ? advice_from(*answer) : Result<Advice>(std::unexpected(answer.error().error));
  }

private:
  rpc::ChildLine &line_;
  std::optional<model::DeviceInfo> device_;
  std::stop_token stop_;
};

} // namespace

std::unique_ptr<Adviser> make_line_adviser(rpc::ChildLine &line,
                                           std::optional<model::DeviceInfo> device,
                                           std::stop_token stop) {
  return std::make_unique<LineAdviser>(line, std::move(device), std::move(stop));
}

} // namespace warpwright::server
