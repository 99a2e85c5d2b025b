#include "generator/planning/joined_launches.h"

#include "generator/planning/memory_plan.h"
#include "support/text.h"

#include <algorithm>
#include <set>

namespace warpwright::planning {
namespace {

using Bodies = std::map<std::string, elements::KernelBody>;

/// Names of the buffers that a step touches, and of those among them that it may write.
struct Touched {
  std::set<std::string> all, written;

  bool meets(const Touched &other) const {
    const auto shares = [](const std::set<std::string> &some, const std::set<std::string> &others) {
      return std::ranges::any_of(some,
                                 [&](const std::string &one) { return others.contains(one); });
    };
    return shares(written, other.all) || shares(other.written, all);
  }
};

Touched touched_by(model::Step &step, const Bodies &bodies) {
  Touched result;
  for_each_buffer(step, [&](std::string &name) { result.all.insert(name); });
  result.written = result.all;
  const auto *launch = std::get_if<model::LaunchStep>(&step);
  const auto body = launch ? bodies.find(launch->kernel) : bodies.end();
  if (body == bodies.end())
    return result;
  result.written.clear();
  for (std::size_t i = 0; i < launch->arguments.size(); ++i)
    if (const auto *buffer = std::get_if<model::BufferArgument>(&launch->arguments[i]);
        buffer && !body->second.parameters.at(i).type.starts_with("const "))
      result.written.insert(buffer->buffer);
  return result;
}

class Joining {
public:
  Joining(model::Plan &plan, const Bodies &bodies, std::int64_t most_threads)
      : plan_(plan), bodies_(bodies), most_threads_(most_threads) {}

  JoinedSteps run() {
    JoinedSteps groups;
    for (std::size_t first = 0; first < plan_.steps.size(); ++first)
      if (std::vector<std::size_t> group = group_of(first); group.size() > 1) {
        join(group);
        groups.push_back(std::move(group));
      }
    remove_unused();
    return groups;
  }

  void run(const JoinedSteps &groups) {
    for (const std::vector<std::size_t> &group : groups) {
      if (!std::ranges::all_of(group, [&](std::size_t step) { return launch_at(step) != nullptr; }))
        continue; // the plan has other steps
      join(group);
      kernels_.clear(); // texts that are equal at these sizes may differ at others
      ++named_;
    }
    remove_unused();
  }

private:
  const model::LaunchStep *launch_at(std::size_t i) const {
    if (i >= plan_.steps.size())
      return nullptr;
    const auto *launch = std::get_if<model::LaunchStep>(&plan_.steps[i]);
    return launch && bodies_.contains(launch->kernel) ? launch : nullptr;
  }

  bool may_join(std::size_t i) const {
    const model::LaunchStep *launch = launch_at(i);
    return launch && (!bodies_.at(launch->kernel).takes_fewer ||
                      number(launch->grid[0]) * number(launch->block[0]) <= most_threads_);
  }

  static std::int64_t number(const symbolic::Expression &value) {
    return value.evaluate({}).value_or(1);
  }

  /// True if both kernels can run with the same number of threads in a block.
  bool fit(const model::LaunchStep &one, const model::LaunchStep &other) const {
    const bool take_fewer =
        bodies_.at(one.kernel).takes_fewer && bodies_.at(other.kernel).takes_fewer;
    return take_fewer || (one.block == other.block && !bodies_.at(one.kernel).takes_fewer &&
                          !bodies_.at(other.kernel).takes_fewer);
  }

  /// Steps that may run with the step `first`, which comes first.
  std::vector<std::size_t> group_of(std::size_t first) {
    constexpr std::size_t kMost = 4, kFar = 8; ///< launches of a group, and steps between its ends
    std::vector<std::size_t> group;
    if (!may_join(first))
      return group;
    group.push_back(first);
    std::vector<Touched> before{touched_by(plan_.steps[first], bodies_)};
    for (std::size_t i = first + 1;
         i < std::min(plan_.steps.size(), first + kFar) && group.size() < kMost; ++i) {
      before.push_back(touched_by(plan_.steps[i], bodies_));
      const bool is_free =
          std::ranges::none_of(before.begin(), before.end() - 1,
                               [&](const Touched &other) { return other.meets(before.back()); });
      if (is_free && may_join(i) && fit(*launch_at(first), *launch_at(i)))
        group.push_back(i);
    }
    return group;
  }

  void join(const std::vector<std::size_t> &group) {
    model::LaunchStep joined;
    std::string parameters, calls;
    std::int64_t blocks = 0, shared = 0, threads = 0;
    for (const std::size_t step : group)
      threads = std::max(threads, number(launch_at(step)->block[0]));
    for (std::size_t at = 0; at < group.size(); ++at) {
      const model::LaunchStep &launch = *launch_at(group[at]);
      const elements::KernelBody &body = bodies_.at(launch.kernel);
      const std::int64_t own = number(launch.grid[0]), own_threads = number(launch.block[0]);
      std::string arguments;
      for (const elements::KernelBody::Parameter &parameter : body.parameters) {
        const std::string renamed = parameter.name + "_" + std::to_string(at);
        parameters += (parameters.empty() ? "" : ", ") + parameter.type + renamed;
        arguments += ", " + renamed;
      }
      const std::string guard =
          own_threads < threads ? "if (threadIdx.x < " + std::to_string(own_threads) + ") " : "";
      calls +=
          (at + 1 < group.size() ? "  if (block < " + std::to_string(blocks + own) + ") {\n    "
                                 : "  {\n    ") +
          guard + body.function + "(block - " + std::to_string(blocks) + ", " +
          std::to_string(own) + arguments + ");\n    return;\n  }\n";
      blocks += own;
      shared = std::max(shared, launch.shared_bytes.evaluate({}).value_or(0));
      joined.arguments.insert(joined.arguments.end(), launch.arguments.begin(),
                              launch.arguments.end());
    }
    const bool takes_fewer = bodies_.at(launch_at(group.front())->kernel).takes_fewer;
    joined.block = {symbolic::Expression(threads), symbolic::Expression(1),
                    symbolic::Expression(1)};
    const std::string text =
        "(" + parameters + ") {\n  const int block = blockIdx.x;\n" + calls + "}\n";
    const auto [known, added] =
        kernels_.try_emplace(text, "joined_" + std::to_string(named_ + kernels_.size()));
    joined.kernel = known->second;
    joined.grid[0] = symbolic::Expression(blocks);
    joined.shared_bytes = symbolic::Expression(shared);
    // Kernels whose warps divide the registers among them need to be alone on a multiprocessor.
    const std::string bounds = takes_fewer ? "" : ", 1";
    if (added)
      plan_.source += "extern \"C\" __global__ void __launch_bounds__(" + joined.block[0].text() +
                      bounds + ") " + joined.kernel + text;
    plan_.steps[group.front()] = std::move(joined);
    for (std::size_t i = group.size(); i-- > 1;)
      plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(group[i]));
  }

  /// Removes the kernels that no step launches any more.
  void remove_unused() {
    for (const auto &[kernel, body] : bodies_) {
      const bool is_used =
          std::ranges::any_of(plan_.steps, [&, name = kernel](const model::Step &step) {
            const auto *launch = std::get_if<model::LaunchStep>(&step);
            return launch && launch->kernel == name;
          });
      if (const std::size_t at = plan_.source.find(body.kernel_text);
          !is_used && at != std::string::npos)
        plan_.source.erase(at, body.kernel_text.size());
    }
  }

  model::Plan &plan_;
  const Bodies &bodies_;
  const std::int64_t most_threads_;
  std::map<std::string, std::string> kernels_; ///< names by their texts
  std::size_t named_ = 0;                      ///< kernels before those
};

} // namespace

JoinedSteps join_launches(model::Plan &plan, const Bodies &bodies, std::int64_t most_threads,
                          const JoinedSteps *asked) {
  Joining joining(plan, bodies, most_threads);
  if (!asked)
    return joining.run();
  joining.run(*asked);
  return *asked;
}

} // namespace warpwright::planning
