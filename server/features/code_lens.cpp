// Code lenses: a line above each kernel with its state and the action of a click. If there is a
// variant to apply, the line is "6.23x faster (38% of GPU time) | Review | Apply | Profile".
#include "server/features/features.h"

#include "server/measured_text.h"
#include "support/model/json.h"
#include "support/words.h"

#include <algorithm>

namespace warpwright::server::features {

namespace {

std::string measured_text(const KernelStatus &status) {
  const model::Verdict &verdict = status.best->verdict;
  if (status.best->task.module)
    return module_summary(verdict);
  return is_faster(verdict) ? faster_text(*verdict.speedup)
                            : "variant checked (correct on the CPU backend, speed not measured)";
}

std::string running_text(const JobStatus &job) {
  std::string text = "measuring " + std::to_string(std::min(job.tried + 1, job.max_variants)) +
                     " of " + std::to_string(job.max_variants);
  return job.stage.empty() ? text : text + " (" + job.stage + ")";
}

std::string missing_text(const analysis::Kernel &kernel) {
  const std::string names = joined(kernel.task.missing, ", ", &analysis::MissingFact::name);
  return "missing facts" + (names.empty() ? "" : ": " + names);
}

/// " on NVIDIA H200"
std::string place_text(const std::string &runner) {
  return runner.starts_with("on ") ? " " + runner : " on " + runner;
}

StateLine line_of(const Context &context, const analysis::Kernel &kernel,
                  const KernelStatus &status) {
  switch (status.state) {
  case KernelState::NotMeasured:
    return {"not measured",
            "optimize" +
                (kernel.task.task.module ? place_text(context.runner_name) : std::string()),
            protocol::kOptimizeCommand};
  case KernelState::MissingFacts:
    return {missing_text(kernel), "insert", protocol::kInsertFactsCommand};
  case KernelState::Queued:
    return {"waiting for the runner", "cancel", protocol::kCancelCommand};
  case KernelState::Measuring:
    return {running_text(*status.job), "cancel", protocol::kCancelCommand};
  case KernelState::Faster:
  case KernelState::Checked:
    return {measured_text(status), "", protocol::kDetailsCommand};
  case KernelState::NothingFaster:
    return {"tried " + std::to_string(status.current.size()) +
                (status.current.size() == 1 ? " variant" : " variants") + ", none verified faster",
            "try again", protocol::kOptimizeCommand};
  case KernelState::Outrun:
    return {keep_text(status.outrun->verdict) + " · " + status.outrun->verdict.device.name,
            "optimize again", protocol::kOptimizeCommand};
  case KernelState::Applied: {
    const model::Verdict &verdict = status.applied->verdict;
    const std::string slower = kernel.task.task.module ? slower_text(verdict) : "";
    return {"applied variant, " + (slower.empty() ? "" : slower + ": ") +
                (verdict.device.kind != "cuda" ? std::string("checked on the CPU backend")
                 : kernel.task.task.module || !verdict.speedup
                     ? module_summary(verdict)
                     : speedup_on_device(*verdict.speedup)),
            "optimize further", protocol::kOptimizeCommand};
  }
  case KernelState::Stale:
    return {"stale: the code changed since it was measured", "optimize again",
            protocol::kOptimizeCommand};
  }
  return {"not measured", "optimize", protocol::kOptimizeCommand};
}

/// A lens besides that of the state: what to do with the best variant.
struct Part {
  const char *name, *title, *command;
};
constexpr Part kParts[] = {{"review", "Review", protocol::kReviewCommand},
                           {"apply", "Apply", protocol::kApplyCommand},
                           {"profile", "Profile", protocol::kProfileCommand}};

bool has_part(const Context &context, const Part &part, const KernelStatus &status) {
  if (status.state != KernelState::Faster && status.state != KernelState::Checked)
    return false;
  if (part.command == protocol::kReviewCommand)
    return context.client.show_document;
  return part.command != protocol::kProfileCommand ||
         (is_faster(status.best->verdict) && !status.best->task.module);
}

/// Title and command of a state.
protocol::Command command_of(const Context &context, const analysis::Kernel &kernel) {
  const StateLine line = state_line(context, kernel);
  return kernel_command("Warpwright: " + line.text + (line.action.empty() ? "" : " · " + line.action),
                        line.command, context, kernel);
}

protocol::CodeLens lens_of(const Context &context, const analysis::Kernel &kernel,
                           const char *part) {
  return {context.snapshot.positions.range(kernel.name_range), std::nullopt,
          protocol::encode(protocol::LensData{context.snapshot.uri, kernel.name,
                                              context.snapshot.version, part})};
}

} // namespace

StateLine state_line(const Context &context, const analysis::Kernel &kernel) {
  StateLine line = line_of(context, kernel, context.status(kernel));
  constexpr double kWorthAWord = 0.01;
  if (kernel.captured && kernel.captured->share >= kWorthAWord)
    line.text += " (" + share_text(*kernel.captured) + ")";
  if (context.settings.trusted == false && line.command == protocol::kOptimizeCommand)
    line.action = "trust this workspace to optimize";
  return line;
}

protocol::Command kernel_command(const std::string &title, const char *command,
                                 const Context &context, const analysis::Kernel &kernel,
                                 std::optional<std::string> plan, std::optional<std::string> form) {
  return {title,
          command,
          {protocol::encode(protocol::KernelReference{context.snapshot.uri, kernel.name,
                                                      context.snapshot.version, std::move(plan),
                                                      std::move(form)})}};
}

std::vector<protocol::CodeLens> code_lenses(const Context &context) {
  std::vector<protocol::CodeLens> lenses;
  for (const analysis::Kernel &kernel : context.snapshot.facts.kernels) {
    lenses.push_back(lens_of(context, kernel, "state"));
    const KernelStatus status = context.status(kernel);
    for (const Part &part : kParts)
      if (has_part(context, part, status))
        lenses.push_back(lens_of(context, kernel, part.name));
  }
  return lenses;
}

Result<protocol::CodeLens> resolve_code_lens(const Context &context, protocol::CodeLens lens) {
  const auto data = protocol::decode<protocol::LensData>(lens.data.value_or(protocol::Json()));
  const analysis::Kernel *kernel = context.snapshot.find_kernel(data.kernel);
  if (!kernel)
    return fail("the kernel '" + data.kernel + "' is no longer in this file",
                "ask for the lenses again");
  const Part *part = std::ranges::find(kParts, data.part, &Part::name);
  const KernelStatus status = context.status(*kernel);
  if (part == std::end(kParts))
    lens.command = command_of(context, *kernel);
  else if (has_part(context, *part, status))
    lens.command = kernel_command(part->title, part->command, context, *kernel,
                                  model::hash(status.best->plan));
  else
    return fail("there is no variant of '" + data.kernel + "' to " + data.part + " any more",
                "ask for the lenses again");
  return lens;
}

} // namespace warpwright::server::features
