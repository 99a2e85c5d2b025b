// The decoders of tasks, plans, verdicts, options and devices: any JSON. What is accepted must be
// written and read again as the same; what is refused must be refused with a reason.
#include "support/model/json.h"
#include "support/model/verify_options.h"
#include "tests/runner/fuzz/fuzz_target.h"

namespace warpwright::fuzz {
namespace {

using nlohmann::json;

/// @return what was decoded, when it was
template <class Decode>
auto check_round_trip(const json &document, Decode decode) {
  auto decoded = decode(document);
  if (!decoded) {
    require(!decoded.error().message.empty(), "a refusal has a reason");
    return decoded;
  }
  const json written = model::to_json(*decoded);
  const auto again = decode(written);
  require(again.has_value(), "what was accepted is accepted again");
  require(model::to_json(*again) == written, "what was accepted is read again as the same");
  return decoded;
}

void check_job(const json &document) {
  if (!document.is_object() || !document.contains("task") || !document.contains("plan"))
    return;
  const auto task = check_round_trip(document["task"], model::task_from_json);
  const auto plan = check_round_trip(document["plan"], model::plan_from_json);
  if (!task || !plan)
    return;
  const auto checked = model::check_plan(*plan, *task);
  require(checked || !checked.error().message.empty(), "a refused plan has a reason");
  require(model::hash(*task).size() == 64 && model::hash(*plan).size() == 64, "hashes are SHA-256");
}

} // namespace
} // namespace warpwright::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace warpwright;
  if (size < 2)
    return 0;
  const auto document = nlohmann::json::parse(data + 1, data + size, nullptr, false);
  if (document.is_discarded())
    return 0;
  switch (data[0] % 5) {
  case 0:
    fuzz::check_job(document);
    break;
  case 1:
    fuzz::check_round_trip(document, model::verdict_from_json);
    break;
  case 2:
    fuzz::check_round_trip(document, model::verify_options_from_json);
    break;
  case 3:
    fuzz::check_round_trip(document, model::device_from_json);
    break;
  default:
    fuzz::check_round_trip(document, model::task_from_json);
  }
  return 0;
}
