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

class LineAdviser final : public Adviser {
public:
  LineAdviser(ProposeLine line, std::optional<model::DeviceInfo> device)
      : line_(std::move(line)), device_(std::move(device)) {}

  std::string_view name() const override { return "endpoint"; }
  std::string note() const override { return line_.spent(); }

  Result<Advice> advise(const source::State &original,
                        const std::vector<search::Variant> &tried) override {
    Json params{{"path", original.file.path},
                {"text", original.file.text},
                {"kernel", original.kernel},
                {"flags", original.settings.flags},
                {"tried", tried_json(tried)}};
    if (device_)
      params["device"] = model::to_json(*device_);
    return line_.ask(params);
  }

private:
  ProposeLine line_;
  std::optional<model::DeviceInfo> device_;
};

} // namespace

std::unique_ptr<Adviser> make_line_adviser(ProposeLine line,
                                           std::optional<model::DeviceInfo> device) {
  return std::make_unique<LineAdviser>(std::move(line), std::move(device));
}

} // namespace warpwright::server
