#include "server/mcp/resources.h"

#include "runner/shell/runner_files.h"
#include "support/model/json.h"
#include "support/process.h"

namespace warpwright::mcp {
namespace {

constexpr std::size_t kMostListed = 100;
constexpr char kVerdict[] = "warpwright://verdict/", kSource[] = "warpwright://source/",
               kSass[] = "warpwright://sass/";
/// Time to compile and disassemble.
constexpr std::chrono::seconds kListingLimit{90};

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
std::string note_of(const model::Verdict &verdict, const Json &listing) {
  const std::string version = listing.value("nvrtc", "");
  return verdict.device.driver.find("NVRTC " + version) != std::string::npos
             ? ""
             : "// compiled here by NVRTC " + version + "; measured with " + verdict.device.driver +
                   "\n";
}

Result<std::string> sass_of(const runner::LedgerEntry &entry) {
  const int capability = model::capability_of(entry.verdict.device);
  if (capability == 0 || entry.plan.source.empty())
    return fail("the verdict is from " + entry.verdict.device.name + ", so there is no code of a GPU",
                "Verify it on a runner with a GPU");
  const std::string program = TRY(runner::find_runner());
  const auto run = TRY(run_captured({program, "listing", "-", "--capability", std::to_string(capability)},
                                    model::to_json(entry.plan).dump(), kListingLimit));
  const Json listing = Json::parse(run.output, nullptr, false);
  if (!listing.is_object())
    return fail("warpwright-runner listing gave no answer: " + run.errors.substr(0, run.errors.find('\n')));
  if (const auto error = listing.find("error"); error != listing.end())
    return fail(error->value("message", ""), error->value("remedy", ""));
  return note_of(entry.verdict, listing) + listing.value("sass", "");
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
