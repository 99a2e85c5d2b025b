#include "server/program/run_pairs.h"

#include <random>

namespace warpwright::program {

std::optional<std::string> disagreement(const ProgramRun &run, const OutputMask &mask) {
  if (!run.failure.empty())
    return run.failure;
  const auto differences = mask.differences(run.output);
  return differences.empty() ? std::nullopt : std::optional(differences.front());
}

Result<PairedRuns> run_pairs(const std::function<Result<ProgramRun>(const std::string &tree)> &run,
                             const OutputMask &mask, const PairLimits &limits, const std::stop_token &stop) {
  PairedRuns pairs;
  std::mt19937_64 random(limits.seed);
  const auto start = std::chrono::steady_clock::now();
  const auto enough = [&] {
    const std::size_t count = pairs.original_s.size();
    return count >= limits.most ||
           (count >= limits.fewest &&
            (std::chrono::steady_clock::now() - start >= limits.budget ||
             runner::median_ratio_interval(pairs.original_s, pairs.changed_s).relative_half_width() <=
                 limits.relative_half_width));
  };
  while (!enough() && !stop.stop_requested()) {
    const bool changed_first = random() & 1;
    std::optional<ProgramRun> original, changed;
    for (const bool is_changed : {changed_first, !changed_first})
      (is_changed ? changed : original) = TRY(run(is_changed ? kChanged : kOriginal));
    if (stop.stop_requested()) // Ctrl-C reaches the runs, too
      break;
    if (!original->failure.empty())
      return fail("a run of the original failed, though earlier ones did not: " + original->failure);
    if (const auto differs = disagreement(*changed, mask)) {
      pairs.failure = *differs;
      break;
    }
    pairs.original_s.push_back(original->seconds);
    pairs.changed_s.push_back(changed->seconds);
  }
  return pairs;
}

} // namespace warpwright::program
