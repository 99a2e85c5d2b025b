#include "runner/fleet/messages.h"
#include "support/model/json.h"

namespace warpwright::runner::fleet {

std::optional<json> parse_object(const std::string &body) {
  json document = json::parse(body, nullptr, false);
  if (!document.is_object())
    return std::nullopt;
  return document;
}

std::string dump(const json &document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string encode_reply(const Result<model::Verdict> &verdict) {
  if (verdict)
    return dump({{"verdict", model::to_json(*verdict)}});
  return dump(
      {{"error", {{"message", verdict.error().message}, {"remedy", verdict.error().remedy}}}});
}

Result<model::Verdict> decode_reply(const std::string &body) {
  const auto document = parse_object(body);
  if (document && document->contains("verdict"))
    return model::verdict_from_json((*document)["verdict"]);
  const json error = document ? document->value("error", json()) : json();
  const auto member = [&](const char *name) {
    const auto found = error.find(name);
    return found != error.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (error.is_object() && !member("message").empty())
    return fail(member("message"), member("remedy"));
  return fail("a runner of the fleet sent an answer that is not a verdict");
}

Result<RunnerInfo> decode_info(const json &info) {
  const auto strings = [&](const char *name) {
    std::vector<std::string> texts;
    if (const auto found = info.find(name); found != info.end() && found->is_array())
      for (const json &text : *found)
        if (text.is_string())
          texts.push_back(text);
    return texts;
  };
  RunnerInfo decoded;
  if (const auto version = info.find("version"); version != info.end() && version->is_string())
    decoded.version = *version;
  decoded.notes = strings("notes");
  const auto devices = info.find("devices");
  if (devices == info.end() || !devices->is_array())
    return fail("a runner's description has no devices");
  for (const json &document : *devices)
    decoded.devices.push_back(TRY(model::device_from_json(document)));
  return decoded;
}

} // namespace warpwright::runner::fleet
