// The tools `measure`, the time of a kernel as it is, and `profile`, its hardware counters.
//
// Both run the kernel as its own candidate, through the runner's one way to verify and measure.
#include "server/mcp/judging.h"
#include "server/mcp/schemas.h"
#include "support/model/json.h"
#include "support/model/verdict_text.h"

namespace warpwright::mcp {
namespace {

template <class T>
Json or_null(const std::optional<T> &value) {
  return value ? Json(*value) : Json();
}

/// A kernel to run, and its plan.
struct Subject {
  std::string kernel;
  config::ProjectConfig project;
  model::Task task;
  model::Plan plan;
};

/// The kernel of a call, as it is in the file.
Outcome<Subject> as_written(Workbench &bench, const ToolCall &call) {
  cli::Input input = TRY(bench.read(call));
  const std::string name = TRY(cuda_kernel_of(input, call.text("kernel"), call.tool))->name;
  const auto snapshot = snapshot_of(input);
  if (const auto obstacle = cli::report_of_obstacle(*snapshot, *snapshot->find_kernel(name),
                                                    bench.shown(input.file.path)))
    return std::unexpected(
        obstacle->error.value_or(Error{name + " cannot be run on its own", "Ask analyze why"}));
  TRY(bench.require_approval(call, input));
  const model::Task &task = TRY(kernel_of(input, name))->task.task;
  return Subject{name, input.settings.project, task, task.reference};
}

/// Both sides of an earlier verdict. Its file must still be approved.
Outcome<Subject> of_verdict(Workbench &bench, const ToolCall &call) {
  const EntryPtr entry = TRY(bench.verdicts.find(call.text("verdict")));
  if (entry->task.module)
    return fail("profile takes CUDA kernels", "Name a verdict of a kernel");
  cli::Input input = TRY(cli::InputReader().read(TRY(bench.path_of(entry->file))));
  TRY(bench.require_approval(call, input));
  return Subject{entry->kernel, input.settings.project, entry->task, entry->plan};
}

/// Why a verdict has no times.
std::string message_of(const model::Verdict &verdict) {
  if (verdict.outcome != model::Outcome::Verified)
    return claim_text(verdict);
  if (!verdict.candidate_time)
    return verdict.device.name + " measures no times" +
           (verdict.message.empty() ? "" : ": " + verdict.message);
  return verdict.message;
}

Outcome<ToolResult> run_measure_tool(Workbench &bench, const ToolCall &call) {
  const Subject subject = TRY(as_written(bench, call));
  const model::Verdict verdict =
      TRY(judge(bench, call, subject.project, subject.task, subject.plan));
  const Json full = model::to_json(verdict);
  const auto &evidence = verdict.candidate_evidence;
  const model::CompileReport compiled =
      verdict.kernels.empty() ? model::CompileReport{} : verdict.kernels.front();
  ToolResult result;
  result.structured = {
      {"kernel", subject.kernel},
      {"time", full.value("candidate_time", Json())},
      {"bound", evidence ? Json(std::string(model::name(evidence->bound))) : Json()},
      {"memory_share", evidence ? or_null(evidence->memory_share) : Json()},
      {"compute_share", evidence ? or_null(evidence->compute_share) : Json()},
      {"registers", or_null(compiled.registers)},
      {"occupancy", or_null(compiled.occupancy)},
      {"device", verdict.device.name},
      {"sizes", verdict.measured_sizes},
      {"date", verdict.date},
      {"message", message_of(verdict)}};
  result.summary =
      verdict.candidate_time
          ? subject.kernel + " takes " + model::time_text(verdict.candidate_time->median_ns) +
                " on " + verdict.device.name
          : subject.kernel + ": " + message_of(verdict);
  return result;
}

Outcome<ToolResult> run_profile_tool(Workbench &bench, const ToolCall &call) {
  if (call.has("verdict") == (call.has("file") || call.has("kernel")))
    return fail("profile takes a verdict, or a file and a kernel", "Pass one of both");
  const Subject subject =
      TRY(call.has("verdict") ? of_verdict(bench, call) : as_written(bench, call));
  const model::Verdict verdict =
      TRY(judge(bench, call, subject.project, subject.task, subject.plan, true));
  std::string message = verdict.message;
  if (!verdict.counters)
    message = "there are no counters" + (message.empty() ? "" : ": " + message) +
              ". They need ncu on the runner's machine (docs/use/deep.md)";
  return ToolResult{{{"kernel", subject.kernel},
                     {"counters", verdict.counters ? model::to_json(*verdict.counters) : Json()},
                     {"device", verdict.device.name},
                     {"message", message}},
                    verdict.counters ? "counters of " + subject.kernel : message,
                    {}};
}

Json number_or_null() { return nullable(number_schema()); }

} // namespace

Tool measure_tool() {
  const Json time = nullable(result_schema({{"median_ns", number_schema()},
                                            {"low_ns", number_schema()},
                                            {"high_ns", number_schema()}},
                                           {"median_ns"}));
  return {.name = "measure",
          .title = "Measure a kernel",
          .description =
              "Time of a CUDA kernel as it is in the file, what bounds it (memory, compute, "
              "latency), and the shares of the GPU's rates that it reaches. Compares nothing: a "
              "speedup comes from verify or optimize alone.",
          .input = arguments_schema({{"file", file_schema()}, {"kernel", kernel_schema()}},
                                    {"file", "kernel"}),
          .output = result_schema({{"kernel", text_schema()},
                                   {"time", time},
                                   {"bound", nullable(text_schema())},
                                   {"memory_share", number_or_null()},
                                   {"compute_share", number_or_null()},
                                   {"registers", nullable({{"type", "integer"}})},
                                   {"occupancy", number_or_null()},
                                   {"device", text_schema()},
                                   {"sizes", text_schema()},
                                   {"date", text_schema()},
                                   {"message", text_schema("Why there is no time")}},
                                  {"kernel", "time", "device", "message"}),
          .run = run_measure_tool};
}

Tool profile_tool() {
  return {.name = "profile",
          .title = "Read hardware counters",
          .description = "Hardware counters of a CUDA kernel as it is in the file, or of both sides "
                         "of a verdict, by NVIDIA's ncu where the runner has it. They explain a "
                         "time; they do not measure one.",
          .input = arguments_schema({{"file", file_schema()},
                                     {"kernel", kernel_schema()},
                                     {"verdict", verdict_id_schema()}},
                                    {}),
          .output = result_schema({{"kernel", text_schema()},
                                   {"counters", nullable({{"type", "object"}})},
                                   {"device", text_schema()},
                                   {"message", text_schema("Why there are none")}},
                                  {"kernel", "counters", "device", "message"}),
          .run = run_profile_tool};
}

} // namespace warpwright::mcp
