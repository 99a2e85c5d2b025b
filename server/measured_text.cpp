#include "server/measured_text.h"

#include "support/model/dtype.h"
#include "support/model/verdict_text.h"
#include "support/model/verify_options.h"
#include "support/words.h"

#include <algorithm>
#include <cmath>

namespace warpwright::server {
namespace {

using model::Direction;

constexpr int kMostInputs = 5;

std::string microseconds(double nanoseconds) { return printed("%.2f us", nanoseconds / 1000); }

std::string type_text(const model::Buffer &buffer) {
  return std::string(model::name(buffer.dtype)) + "[" +
         joined(buffer.shape, ", ", [](std::int64_t extent) { return std::to_string(extent); }) +
         "]";
}

bool add(std::vector<BaselineRatio> &list, const model::Verdict &verdict, const std::string &name) {
  for (const model::Baseline &baseline : verdict.baselines)
    if (baseline.name == name && baseline.speedup && baseline.reference_time &&
        baseline.candidate_time) {
      list.push_back({name, *baseline.speedup, *baseline.reference_time, *baseline.candidate_time});
      return true;
    }
  return false;
}

std::vector<BaselineRatio> faster_baselines(const model::Verdict &verdict) {
  std::vector<BaselineRatio> list = strongest_baselines(verdict);
  std::erase_if(list, [](const BaselineRatio &one) { return one.speedup.high >= 1; });
  return list;
}

/// The rate that bounds a plan: its name, and the share that the plan reaches of it.
struct RateOfBound {
  std::string bound, name;
  std::optional<double> model::Evidence::*share = nullptr; ///< null: latency bounds it
};

RateOfBound rate_of(model::Bound bound) {
  switch (bound) {
  case model::Bound::Memory:
    return {"memory", "the bandwidth measured on this GPU", &model::Evidence::memory_share};
  case model::Bound::Compute:
    return {"arithmetic", "the rate measured on this GPU", &model::Evidence::compute_share};
  case model::Bound::Latency:
    break;
  }
  return {"latency", "", nullptr};
}

/// The rate of which the plan reaches the larger share.
RateOfBound most_used(const model::Evidence &evidence) {
  return rate_of(evidence.compute_share.value_or(0) > evidence.memory_share.value_or(0)
                     ? model::Bound::Compute
                     : model::Bound::Memory);
}

std::string percent_text(double share) { return printed("%.0f%%", 100 * share); }

/// Reason why a verified variant has no time.
std::string why_untimed(const model::Verdict &verdict) {
  for (const model::Check &check : verdict.checks)
    if (check.name == "the task is not degenerate" && !check.passed)
      return "the task is degenerate: " + check.detail;
  return verdict.message.empty() ? "not timed" : verdict.message;
}

} // namespace

std::vector<BaselineRatio> measured_baselines(const model::Verdict &verdict) {
  std::vector<BaselineRatio> list;
  if (!add(list, verdict, "eager+graph") && verdict.speedup && verdict.reference_time &&
      verdict.candidate_time)
    list.push_back(
        {"eager+graph", *verdict.speedup, *verdict.reference_time, *verdict.candidate_time});
  for (const model::CompiledVariant &variant : model::kCompiledVariants)
    add(list, verdict, std::string(variant.name) + "+graph");
  if (!add(list, verdict, "eager") && verdict.as_called)
    list.push_back({"eager", verdict.as_called->speedup, verdict.as_called->reference_time,
                    verdict.as_called->candidate_time});
  for (const model::CompiledVariant &variant : model::kCompiledVariants)
    add(list, verdict, std::string(variant.name));
  return list;
}

std::vector<BaselineRatio> strongest_baselines(const model::Verdict &verdict) {
  std::vector<BaselineRatio> strongest;
  for (const BaselineRatio &one : measured_baselines(verdict)) {
    const auto same = std::ranges::find(strongest, regime_text(one), regime_text);
    if (same == strongest.end())
      strongest.push_back(one);
    else if (one.speedup.ratio < same->speedup.ratio)
      *same = one;
  }
  return strongest;
}

std::string form_of(const BaselineRatio &baseline) {
  return baseline.name.substr(0, baseline.name.find('+'));
}

std::string regime_text(const BaselineRatio &baseline) {
  return baseline.name.ends_with("+graph") ? "in a CUDA graph" : "as called";
}

std::string keep_text(const model::Verdict &verdict) {
  const std::vector<BaselineRatio> faster = faster_baselines(verdict);
  if (faster.empty())
    return {};
  const std::string form = form_of(faster.front());
  std::string text = "keep " + form + ": ";
  for (const BaselineRatio &one : faster) {
    const bool is_first = &one == &faster.front();
    text += (is_first ? "" : ", ") + (form_of(one) == form ? "" : form_of(one) + " ") +
            printed("%.2fx", 1 / one.speedup.ratio) +
            (is_first ? " faster than the best verified plan " : " ") + regime_text(one);
  }
  for (const BaselineRatio &one : strongest_baselines(verdict))
    if (one.speedup.low > 1)
      text += printed("; the plan is %.2fx faster ", one.speedup.ratio) + regime_text(one);
  return text;
}

std::string slower_text(const model::Verdict &verdict) {
  const std::string names =
      joined(faster_baselines(verdict), " and ",
             [](const BaselineRatio &one) { return form_of(one) + " " + regime_text(one); });
  return names.empty() ? "" : "slower than " + names;
}

std::string module_summary(const model::Verdict &verdict) {
  const std::string condition = verdict.conditioning ? " · ill-conditioned" : "";
  if (verdict.device.kind != "cuda")
    return "variant checked (correct on the CPU backend, speed not measured)" + condition;
  std::string text = joined(measured_baselines(verdict), ", ", [](const BaselineRatio &baseline) {
    return printed("%.2fx ", baseline.speedup.ratio) + baseline.name;
  });
  if (text.empty())
    text = why_untimed(verdict);
  return text + " · verified" + condition + " · " + verdict.device.name;
}

std::string measured_comment(const model::Verdict &verdict, const std::vector<std::string> &moves) {
  std::string text;
  if (verdict.device.kind == "cuda") {
    text = "Verified on " + verdict.device.name + ", " + verdict.date + ".";
    for (const BaselineRatio &baseline : measured_baselines(verdict))
      text += "\n" + speedup_text(baseline.speedup) + " against " + baseline.name + " (" +
              microseconds(baseline.reference_time.median_ns) + " against " +
              microseconds(baseline.candidate_time.median_ns) + ")";
  } else {
    text = "Checked on the CPU, " + verdict.date + ": correct there. It has not run on a GPU.";
  }
  for (const std::string &move : moves)
    text += "\n  " + move;
  return text;
}

std::string shapes_text(const model::Task &task) {
  std::string inputs, outputs;
  int shown = 0;
  for (const model::Buffer &buffer : task.buffers) {
    if (buffer.direction == Direction::Out)
      outputs += (outputs.empty() ? "" : ", ") + type_text(buffer);
    else if (++shown <= kMostInputs)
      inputs += (inputs.empty() ? "" : ", ") +
                (buffer.torch_name.empty() ? buffer.name : buffer.torch_name) + " " +
                type_text(buffer);
  }
  if (shown > kMostInputs)
    inputs += " and " + std::to_string(shown - kMostInputs) + " more";
  return inputs + " -> " + outputs;
}

std::string library_text(const model::Verdict &verdict) {
  if (!verdict.library_share)
    return {};
  return *verdict.library_share > 0
             ? printed("Library calls take %.0f%% of its device time",
                       100 * *verdict.library_share) +
                   "."
             : "All its device time is in generated kernels; it does not call the library.";
}

std::string bound_text(const model::Verdict &verdict) {
  const auto &evidence = verdict.candidate_evidence;
  if (!evidence)
    return {};
  const RateOfBound rate = rate_of(evidence->bound);
  if (!rate.share)
    return "latency: neither memory nor arithmetic is near what this GPU reaches";
  const auto &share = (*evidence).*rate.share;
  return rate.bound + (share ? " (" + percent_text(*share) + " of " + rate.name + ")" : "");
}

std::string times_text(const model::Verdict &verdict) {
  if (!verdict.reference_time || !verdict.candidate_time)
    return {};
  return model::time_text(verdict.reference_time->median_ns) + " -> " +
         model::time_text(verdict.candidate_time->median_ns);
}

std::string bound_change_text(const model::Verdict &verdict) {
  const auto &before = verdict.reference_evidence, &after = verdict.candidate_evidence;
  if (!before || !after)
    return {};
  const RateOfBound from = rate_of(before->bound), to = rate_of(after->bound);
  std::string text = "Bound by " + from.bound;
  if (before->bound != after->bound)
    text += ", now by " + to.bound;
  const RateOfBound shown = to.share ? to : from.share ? from : most_used(*after);
  if (!shown.share || !((*before).*shown.share) || !((*after).*shown.share))
    return text;
  return text + ": " + percent_text(*((*before).*shown.share)) + " -> " +
         percent_text(*((*after).*shown.share)) + " of " + shown.name;
}

std::string baseline_table(const model::Verdict &verdict) {
  const std::vector<BaselineRatio> baselines = measured_baselines(verdict);
  if (baselines.empty())
    return {};
  std::string text =
      "| against | measured as | its time | this | speedup |\n|---|---|---|---|---|\n";
  for (const BaselineRatio &baseline : baselines)
    text += "| " + baseline.name + " | " +
            (baseline.name.ends_with("+graph") ? "device time" : "as called") + " | " +
            microseconds(baseline.reference_time.median_ns) + " | " +
            microseconds(baseline.candidate_time.median_ns) + " | " +
            speedup_text(baseline.speedup) + " |\n";
  for (const model::Baseline &baseline : verdict.baselines)
    if (!baseline.speedup && !baseline.missing.empty())
      text += (baseline.wrong ? "\nNot compared with " : "\nNot measured against ") +
              baseline.name + ": " + baseline.missing + "\n";
  return text;
}

std::string faster_text(const model::Speedup &speedup) {
  return printed("%.2fx faster", speedup.ratio);
}

std::string share_text(const analysis::CapturedTime &time) {
  const auto percent = std::lround(time.share * 100);
  return (percent == 0 ? "under 1" : std::to_string(percent)) + "% of GPU time";
}

std::string captured_text(const analysis::CapturedTime &time) {
  return share_text(time) + " in " + time.source + ": " + std::to_string(time.runs) +
         (time.runs == 1 ? " launch of " : " launches of ") +
         model::time_text(time.total_ns / static_cast<double>(time.runs)) +
         (time.runs == 1 ? "" : " on average");
}

} // namespace warpwright::server
