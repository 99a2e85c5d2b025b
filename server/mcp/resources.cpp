#include "server/mcp/resources.h"

#include "server/optimize/machine_code.h"
#include "support/model/json.h"

namespace warpwright::mcp {
namespace {

constexpr std::size_t kMostListed = 100;
constexpr char kVerdict[] = "warpwright://verdict/", kSource[] = "warpwright://source/",
               kSass[] = "warpwright://sass/";
Json verdict_document(const runner::LedgerEntry &entry) {
  Json verdict = model::to_json(entry.verdict);
  verdict.erase("record"); // the whole task: for `replay`, which reads files
  return {{"file", entry.file},
          {"kernel", entry.kernel},
          {"moves", entry.plan.moves},
          {"summary", claim_text(entry.verdict)},
          {"verdict", std::move(verdict)}};
}

Json contents(const std::string &uri, const char *type, std::string text) {
  return Json::array({{{"uri", uri}, {"mimeType", type}, {"text", std::move(text)}}});
}

Json resource_template(const char *uri, const char *name, const char *description,
                       const char *type) {
  return {{"uriTemplate", std::string(uri) + "{id}"},
          {"name", name},
          {"description", description},
          {"mimeType", type}};
}

/// NVRTC's version in a device's "driver 580.95, NVRTC 13.0"; a note where another one compiled.
std::string note_of(const model::Verdict &verdict, const std::string &version) {
  return verdict.device.driver.find("NVRTC " + version) != std::string::npos
             ? ""
             : "// compiled here by NVRTC " + version + "; measured with " + verdict.device.driver +
                   "\n";
}

Result<std::string> sass_of(const runner::LedgerEntry &entry) {
  const auto code =
      TRY(server::machine_code_of(entry.plan, model::capability_of(entry.verdict.device)));
  if (code.sass.empty())
    return fail(code.sass_missing, "Install NVIDIA's nvdisasm");
  return note_of(entry.verdict, code.nvrtc) + code.sass;
}

} // namespace

Json resource_list(const Verdicts &verdicts) {
  Json list = Json::array();
  for (const EntryPtr &entry : verdicts.newest_first()) {
    if (list.size() == kMostListed)
      break;
    Json link = verdict_link(*entry);
    link.erase("type");
    list.push_back(std::move(link));
  }
  return list;
}

Json resource_templates() {
  return Json::array(
      {resource_template(kVerdict, "verdict", "A verdict with its checks, errors and evidence",
                         "application/json"),
       resource_template(kSource, "source", "Device source of a verdict's candidate",
                         "text/x-cuda"),
       resource_template(kSass, "sass", "Machine code of a verdict's candidate on its GPU",
                         "text/x-sass")});
}

Result<Json> read_resource(const Verdicts &verdicts, const std::string &uri) {
  if (uri.starts_with(kVerdict)) {
    const EntryPtr entry = TRY(verdicts.find(uri.substr(sizeof kVerdict - 1)));
    return contents(uri, "application/json",
                    verdict_document(*entry).dump(1, ' ', false, Json::error_handler_t::replace));
  }
  if (uri.starts_with(kSource)) {
    const EntryPtr entry = TRY(verdicts.find(uri.substr(sizeof kSource - 1)));
    return contents(uri, "text/x-cuda", entry->plan.source);
  }
  if (uri.starts_with(kSass)) {
    const EntryPtr entry = TRY(verdicts.find(uri.substr(sizeof kSass - 1)));
    return contents(uri, "text/x-sass", TRY(sass_of(*entry)));
  }
  return fail("there is no resource " + uri, "See resources/list");
}

} // namespace warpwright::mcp
