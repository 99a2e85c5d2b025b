// The tool `verify`: an agent's edit of a CUDA kernel against the original.
//
// The original is the file of a Git revision with the project of that revision around it
// (server/optimize/base_version.h), because the agent may have edited headers, sizes and comments
// too. A file that Git does not have is its own original on the disk, and the edit must be passed.
#include "server/mcp/judging.h"
#include "server/mcp/schemas.h"
#include "server/optimize/base_version.h"
#include "server/optimize/edited_kernel.h"
#include "support/words.h"

#include <filesystem>

namespace warpwright::mcp {
namespace {

constexpr char kDefaultBase[] = "HEAD";

/// The text that an edit is compared with.
struct Original {
  cli::Input input;
  Json source; ///< where it is from, for the result
};

/// The original on the disk, of a file that is not in Git.
Outcome<Original> on_disk(Workbench &bench, const ToolCall &call, const std::string &why) {
  if (!call.has("text"))
    return fail("there is no original to compare with: " + why,
                "Pass the edited text and leave the file as it was, or commit the original");
  if (call.has("base") || !bench.options().base.empty())
    return fail("there is no original at the wanted revision: " + why,
                "Omit base to compare the passed text with the file on the disk");
  const std::string path = TRY(bench.path_of(call.text("file")));
  return Original{TRY(cli::InputReader().read(path)), {{"from", "disk"}}};
}

Outcome<Original> original_of(Workbench &bench, const ToolCall &call) {
  const std::string path = TRY(bench.path_of(call.text("file")));
  if (!server::is_in_repository(std::filesystem::path(path).parent_path().string()))
    return on_disk(bench, call, bench.shown(path) + " is in no Git repository");
  const std::string pinned = bench.options().base;
  if (!pinned.empty() && call.has("base") && call.text("base") != pinned)
    return fail("the user compares with " + pinned + " alone", "Leave out base");
  const std::string revision = !pinned.empty() ? pinned
                               : call.has("base") ? call.text("base")
                                                  : kDefaultBase;
  const auto base = server::base_version(path, revision);
  if (!base && call.has("text") && pinned.empty() && !call.has("base"))
    return on_disk(bench, call, base.error().message); // a repository without a commit
  if (!base)
    return std::unexpected(base.error());
  if (!base->text)
    return on_disk(bench, call, bench.shown(path) + " is not in " + revision);
  cli::InputReader reader(base->files);
  return Original{reader.read(path, *base->text),
                  {{"from", "git"}, {"revision", revision}, {"commit", base->commit}}};
}

/// What to do after an outcome.
std::string next_step(const model::Verdict &verdict) {
  switch (verdict.outcome) {
  case model::Outcome::Verified:
    if (!verdict.speedup)
      return "It is correct. Claim no speedup: this device measures none";
    if (verdict.speedup->low > 1)
      return "Keep the edit, and claim the speedup with its interval, GPU and sizes";
    return "It is correct and not faster: take it back, or try another change";
  case model::Outcome::CompileFailed:
    return "Correct the edit by the compiler's message";
  case model::Outcome::WrongResult:
    return "The edit is wrong at any speed: correct it or take it back";
  case model::Outcome::Timeout:
    return "The edit does not end in time: look for an endless loop or a barrier that threads miss";
  case model::Outcome::Crash:
    return "Look for accesses out of bounds, and for barriers that threads miss";
  case model::Outcome::SuspectedCheat:
    return "Do not work around the check: the kernel must compute its whole result in each run";
  case model::Outcome::Unsupported:
    break;
  }
  return "This says nothing about the edit: it needs a GPU, or another construct";
}

Json failed_checks(const model::Verdict &verdict) {
  Json failed = Json::array();
  for (const model::Check &check : verdict.checks)
    if (!check.passed)
      failed.push_back({{"name", check.name}, {"detail", check.detail}});
  return failed;
}

Error not_known(const cli::KernelReport &obstacle) {
  Error error = obstacle.error.value_or(Error{"the original cannot be run on its own", ""});
  for (const auto &[name, question] : obstacle.missing)
    error.remedy += (error.remedy.empty() ? "" : ". ") + name + ": " + question;
  return error;
}

Outcome<ToolResult> run_verify_tool(Workbench &bench, const ToolCall &call) {
  cli::Input edited = TRY(bench.read(call));
  TRY(bench.require_approval(call, edited));
  const Original original = TRY(original_of(bench, call));
  const analysis::Kernel *kernel =
      TRY(cuda_kernel_of(original.input, call.text("kernel"), "verify"));
  const auto snapshot = snapshot_of(original.input);
  if (const auto obstacle = cli::report_of_obstacle(
          *snapshot, *snapshot->find_kernel(kernel->name), bench.shown(edited.file.path)))
    return std::unexpected(not_known(*obstacle));
  runner::LedgerEntry entry =
      TRY(server::edited_kernel(original.input.file, original.input.settings.parse, *kernel,
                                edited.file, edited.settings.parse, "agent"));
  entry.verdict = TRY(judge(bench, call, edited.settings.project, entry.task, entry.plan));
  const auto recorded = bench.record(entry);
  ToolResult result{verdict_json(entry), claim_text(entry.verdict), {verdict_link(entry)}};
  result.structured.update({{"original", original.source},
                            {"next", next_step(entry.verdict)},
                            {"failed_checks", failed_checks(entry.verdict)}});
  result.summary += ". " + next_step(entry.verdict);
  if (!recorded)
    result.summary += ". The ledger does not have it: " + describe(recorded.error());
  return result;
}

Json verify_output() {
  Json properties = verdict_properties();
  properties["original"] = result_schema({{"from", {{"enum", {"git", "disk"}}}},
                                          {"revision", text_schema()},
                                          {"commit", text_schema()}},
                                         {"from"});
  properties["next"] = text_schema("The next step");
  properties["failed_checks"] = list_schema(result_schema(
      {{"name", text_schema()}, {"detail", text_schema()}}, {"name", "detail"}));
  std::vector<std::string> required = verdict_required();
  required.insert(required.end(), {"original", "next", "failed_checks"});
  return result_schema(std::move(properties), std::move(required));
}

} // namespace

Tool verify_tool() {
  return {.name = "verify",
          .title = "Verify an edited kernel",
          .description =
              "Judges an edit of a CUDA kernel against the original: compiles it, compares its "
              "results on many inputs and sizes, and measures both on the same GPU. The original, "
              "its sizes and its tolerance come from Git, or from the disk where Git does not have "
              "the file, and never from the edit. Judges the kernel, the device code that it uses "
              "and its launch; other host code stays as in the original.",
          .input = arguments_schema(
              {{"file", file_schema()},
               {"kernel", kernel_schema()},
               {"text", edited_text_schema()},
               {"base",
                {{"type", "string"},
                 {"minLength", 1},
                 {"maxLength", 200},
                 {"description", "Revision of Git with the original; default HEAD"}}}},
              {"file", "kernel"}),
          .output = verify_output(),
          .run = run_verify_tool};
}

} // namespace warpwright::mcp
