#include "runner/verify/drawings.h"
#include "runner/verify/main_sizes.h"
#include "runner/verify/plan_run.h"
#include "runner/verify/wide_rows.h"

namespace warpwright::runner {
namespace {

/// True for operators that trap on the device if floating-point inputs leave [0, 1]; the context is then lost.
bool asserts_its_domain(const std::string &source) {
  return source.find("binary_cross_entropy") != std::string::npos ||
         source.find("BCELoss") != std::string::npos;
}

/// Drawings of a torch task. The first two have the same parameters, as the module's constructor makes them: equal
/// outputs there do not depend on the inputs.
std::vector<Drawing> torch_drawings(const Job &job, bool thorough, std::mt19937_64 &random) {
  const std::uint64_t parameters = random() >> 40, others = random() >> 40;
  std::vector<Drawing> all(5, Drawing{job.task.sizes, 1, 1, false});
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].seed = random() >> 40;
    all[i].varied = i >= 2 && !job.host_code();
    all[i].parameter_seed = i < 2 ? parameters : others;
  }
  if (!thorough)
    return {all[2]};
  all[3].scale = kSmallScale;
  all[4].scale = kLargeScale;
  if (asserts_its_domain(job.task.module->source)) {
    all.pop_back();
    return all;
  }
  if (job.host_code()) // host code keeps its own parameters
    return all;
  if (const auto wide = wide_inputs(job.task, job.task.sizes); !wide.empty()) {
    all.push_back(all[2]);
    all.back().wide_rows_of = wide.front();
  }
  return all;
}

} // namespace

std::vector<Drawing> drawings_of(const Job &job, const symbolic::Sizes &main_sizes, bool thorough,
                                 std::mt19937_64 &random) {
  if (job.task.module)
    return torch_drawings(job, thorough, random);
  std::vector<Drawing> all;
  const auto seed = [&] { return random() >> 40; };
  // Small, odd sizes come first: they fail fast, and a fault there is more informative.
  for (const symbolic::Sizes &sizes : job.task.check_sizes)
    if (affordable(job, sizes))
      all.push_back({sizes, seed(), 1, false});
  all.push_back({main_sizes, seed(), 1, false});
  all.push_back({main_sizes, seed(), 1, false});
  all.push_back({main_sizes, seed(), kLargeScale, false});
  all.push_back({main_sizes, seed(), kSmallScale, false});
  if (!relies_on_alignment(job.task.reference.source)) {
    const bool small =
        !job.task.check_sizes.empty() && affordable(job, job.task.check_sizes.back());
    all.push_back({small ? job.task.check_sizes.back() : main_sizes, seed(), 1, true});
  }
  for (const std::size_t input : wide_inputs(job.task, main_sizes)) {
    all.push_back({main_sizes, seed(), 1, false});
    all.back().wide_rows_of = input;
  }
  return all;
}

bool may_loop_on_values(const std::string &source) {
  return source.find("while") != std::string::npos;
}

} // namespace warpwright::runner
