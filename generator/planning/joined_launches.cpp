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
      return std::ranges::any_of(some, [&](const std::string &one) { return others.contains(one); });
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
  Joining(model::Plan &plan, const Bodies &bodies) : plan_(plan), bodies_(bodies) {}

  void run() {
    for (std::size_t first = 0; first < plan_.steps.size(); ++first)
      if (const std::vector<std::size_t> group = group_of(first); group.size() > 1)
        join(group);
    remove_unused();
  }

private:
  const model::LaunchStep *launch_at(std::size_t i) const {
    const auto *launch = std::get_if<model::LaunchStep>(&plan_.steps[i]);
    return launch && bodies_.contains(launch->kernel) ? launch : nullptr;
  }

  /// Steps that may run with the step `first`, which comes first.
  std::vector<std::size_t> group_of(std::size_t first) {
    constexpr std::size_t kMost = 4, kFar = 8; ///< launches of a group, and steps between its ends
    std::vector<std::size_t> group;
    if (!launch_at(first))
      return group;
    group.push_back(first);
    std::vector<Touched> before{touched_by(plan_.steps[first], bodies_)};
    for (std::size_t i = first + 1; i < std::min(plan_.steps.size(), first + kFar) && group.size() < kMost; ++i) {
      before.push_back(touched_by(plan_.steps[i], bodies_));
      const bool is_free = std::ranges::none_of(before.begin(), before.end() - 1, [&](const Touched &other) {
        return other.meets(before.back());
      });
      if (is_free && launch_at(i) && launch_at(i)->block == launch_at(first)->block)
        group.push_back(i);
    }
    return group;
  }

  void join(const std::vector<std::size_t> &group) {
    model::LaunchStep joined;
    std::string parameters, calls;
    std::int64_t blocks = 0, shared = 0;
    for (std::size_t number = 0; number < group.size(); ++number) {
      const model::LaunchStep &launch = *launch_at(group[number]);
      const elements::KernelBody &body = bodies_.at(launch.kernel);
      const std::int64_t own = launch.grid[0].evaluate({}).value_or(1);
      std::string arguments;
      for (const elements::KernelBody::Parameter &parameter : body.parameters) {
        const std::string renamed = parameter.name + "_" + std::to_string(number);
        parameters += (parameters.empty() ? "" : ", ") + parameter.type + renamed;
        arguments += ", " + renamed;
      }
      calls += std::string(number ? "  else " : "  ") +
               (number + 1 < group.size() ? "if (block < " + std::to_string(blocks + own) + ")\n    " : "\n    ") +
               body.function + "(block - " + std::to_string(blocks) + ", " + std::to_string(own) + arguments + ");\n";
      blocks += own;
      shared = std::max(shared, launch.shared_bytes.evaluate({}).value_or(0));
      joined.arguments.insert(joined.arguments.end(), launch.arguments.begin(), launch.arguments.end());
      joined.block = launch.block;
    }
    const std::string text = "(" + parameters + ") {\n  const int block = blockIdx.x;\n" + calls + "}\n";
    const auto [known, added] = kernels_.try_emplace(text, "joined_" + std::to_string(kernels_.size()));
    joined.kernel = known->second;
    joined.grid[0] = symbolic::Expression(blocks);
    joined.shared_bytes = symbolic::Expression(shared);
    if (added)
      plan_.source += "extern \"C\" __global__ void __launch_bounds__(" + joined.block[0].text() + ", 1) " +
                      joined.kernel + text;
    plan_.steps[group.front()] = std::move(joined);
    for (std::size_t i = group.size(); i-- > 1;)
      plan_.steps.erase(plan_.steps.begin() + static_cast<std::ptrdiff_t>(group[i]));
  }

  /// Removes the kernels that no step launches any more.
  void remove_unused() {
    for (const auto &[kernel, body] : bodies_) {
      const bool is_used = std::ranges::any_of(plan_.steps, [&, name = kernel](const model::Step &step) {
        const auto *launch = std::get_if<model::LaunchStep>(&step);
        return launch && launch->kernel == name;
      });
      if (const std::size_t at = plan_.source.find(body.kernel_text); !is_used && at != std::string::npos)
        plan_.source.erase(at, body.kernel_text.size());
    }
  }

  model::Plan &plan_;
  const Bodies &bodies_;
  std::map<std::string, std::string> kernels_; ///< names by their texts
};

} // namespace

void join_launches(model::Plan &plan, const Bodies &bodies) { Joining(plan, bodies).run(); }

} // namespace warpwright::planning
