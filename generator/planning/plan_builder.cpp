#include "generator/planning/plan_builder.h"

#include "generator/ops/attributes.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"
#include "generator/planning/aten_lowering.h"
#include "generator/planning/channels_last.h"
#include "generator/planning/joined_launches.h"
#include "generator/planning/layouts.h"
#include "generator/planning/memory_plan.h"

#include <algorithm>
#include <ranges>

namespace warpwright::planning {
namespace {

using model::Graph;
using model::Node;

/// A family could not write a region, so the partition has to be made again.
struct GaveWay {
  std::string anchor, family, reason;
};

std::string words_of(const ops::GraphIndex &graph, const BuiltRegion &built) {
  const elements::Region &region = built.planned.region;
  std::string fused, words;
  for (const std::string &name : region.nodes)
    if (const Node &node = graph.node(name);
        name != region.anchor && (ops::is_pointwise(node) || ops::is_indexed(node) ||
                                  is_anchor(node) || node.op == op::pad || node.op == op::cat))
      fused += (fused.empty() ? "" : ",") + node.op;
  if (built.is_written) {
    words = "written(" + (region.anchor.empty() ? "pointwise" : graph.node(region.anchor).op) + ")";
  } else if (!built.planned.family) {
    const Node &anchor = graph.node(region.anchor);
    const auto target = anchor.attributes.find("target");
    std::string op = anchor.op;
    if (target != anchor.attributes.end())
      if (const auto *text = std::get_if<std::string>(&target->second))
        op = text->starts_with("aten::") ? text->substr(6) : *text;
    words = "aten(" + op + (built.planned.choice.channels_last ? ", channels_last" : "") + ")";
  } else {
    words = "template(" + std::string(built.planned.family->name);
    for (const auto &[name, value] : built.configuration)
      words += ", " + name + "=" + std::to_string(value);
    words += ")";
  }
  return fused.empty() ? words : words + " fuse(" + fused + ")";
}

std::string replace_all(std::string text, const std::string &from, const std::string &to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class PlanBuilder {
public:
  PlanBuilder(const PlanBuffers &buffers, const elements::DeviceFacts &facts,
              const PlanChoices &choices)
      : buffers_(buffers), facts_(facts) {
    built_.applied = choices;
  }

  Result<BuiltPlan> run(const Graph &graph) {
    built_.graph = with_channels_last(with_result_nodes(graph), built_.applied.anchors);
    const ops::GraphIndex index(built_.graph);
    graph_ = &index;
    const std::vector<PlannedRegion> regions =
        partition(index, built_.applied.anchors,
                  built_.applied.pinned ? &built_.applied.pinned->siblings : nullptr);
    place_values(regions);
    for (const PlannedRegion &region : regions)
      if (auto added = add(region); !added)
        return std::unexpected(added.error());
    if (gave_way)
      return std::move(built_);
    copy_updates();
    finish();
    return std::move(built_);
  }

  std::optional<GaveWay> gave_way;

private:
  /// Finds the buffer that holds each value: a leaf's, a result's, or a temporary.
  void place_values(const std::vector<PlannedRegion> &regions) {
    places_ = buffers_.leaves;
    for (std::size_t i = 0; i < built_.graph.outputs.size(); ++i)
      places_[built_.graph.outputs[i]] = buffers_.outputs.at(i);
    for (const model::Update &update : built_.graph.updates)
      if (writes_in_place(update, regions))
        places_[update.value] = places_.at(update.parameter);
      else
        late_updates_.push_back(update);
  }

  /// Returns true where the new state may be written over the old: nobody else reads it, and each element is read
  /// before it is written.
  bool writes_in_place(const model::Update &update,
                       const std::vector<PlannedRegion> &regions) const {
    const model::Shape &shape = graph_->node(update.parameter).type().shape;
    for (const PlannedRegion &planned : regions) {
      const elements::Region &region = planned.region;
      const bool reads = std::ranges::find(region.inputs, update.parameter) != region.inputs.end();
      const bool writes = std::ranges::find(region.outputs, update.value) != region.outputs.end();
      if (reads && !writes)
        return false;
      if (!writes)
        continue;
      if (!planned.family || built_.applied.written.contains(region_key(region)))
        return false;
      if (!reads)
        continue;
      if (!region.anchor.empty() && !updates_statistics(graph_->node(region.anchor), update))
        return false;
      if (region.anchor.empty())
        for (const std::string &name : region.nodes) {
          const Node &node = graph_->node(name);
          if (node.type().shape != shape && !ops::is_generated(node))
            return false;
          if (!ops::is_pointwise(node) && !ops::is_generated(node))
            return false;
        }
    }
    return true;
  }

  /// Returns true for a batch norm, or the mean of an expanded one: whoever writes a row's new statistics has read its
  /// old ones.
  bool updates_statistics(const Node &anchor, const model::Update &update) const {
    return anchor.op == op::batch_norm ||
           (anchor.op == op::mean && ops::flag_attribute(anchor, std::string(kTurned)) &&
            graph_->users(update.parameter).size() == 1);
  }

  std::string place(const std::string &value) {
    const auto [found, added] = places_.try_emplace(value, "t_" + value);
    return found->second;
  }

  Result<void> add(const PlannedRegion &planned) {
    BuiltRegion built;
    built.planned = planned;
    for (const std::string &output : planned.region.outputs) {
      const auto part = planned.region.places.find(output);
      const std::string &owner = part == planned.region.places.end() ? output : part->second.whole;
      if (places_.contains(owner))
        continue;
      const model::TensorType type = elements::region_type(*graph_, planned.region, owner);
      built_.plan.temporaries.push_back(
          {place(owner), type.dtype, std::max<std::int64_t>(elements::memory_extent(type), 1)});
    }
    std::vector<model::Step> steps = written_steps(built);
    if (built.is_written) {
      // taken
    } else if (planned.family) {
      auto lowering = lower(built);
      if (!lowering)
        return std::unexpected(lowering.error());
      if (gave_way)
        return {};
      steps = std::move(lowering->steps);
    } else {
      auto step = lower_aten(*graph_, planned.region);
      if (!step)
        return std::unexpected(step.error());
      steps.push_back(std::move(*step));
    }
    for (model::Step &step : steps) {
      built.steps.push_back(built_.plan.steps.size());
      if (auto *launch = std::get_if<model::LaunchStep>(&step))
        move_to_wholes(*launch, planned.region);
      for_each_buffer(step, [&](std::string &name) {
        if (const auto found = places_.find(name); found != places_.end())
          name = found->second;
      });
      built_.plan.steps.push_back(std::move(step));
    }
    built.words = words_of(*graph_, built);
    built_.plan.moves.push_back(built.words);
    built_.regions.push_back(std::move(built));
    return {};
  }

  /// Names the memory in which parts lie.
  static void move_to_wholes(model::LaunchStep &launch, const elements::Region &region) {
    for (model::Argument &argument : launch.arguments)
      if (auto *buffer = std::get_if<model::BufferArgument>(&argument))
        if (const auto part = region.places.find(buffer->buffer); part != region.places.end()) {
          buffer->buffer = part->second.whole;
          buffer->offset = buffer->offset.evaluate({}).value_or(0) + part->second.offset;
        }
  }

  /// Steps of the kernels that somebody wrote for the region; none if there are no such kernels, or they do not fit.
  std::vector<model::Step> written_steps(BuiltRegion &built) {
    const std::string key = region_key(built.planned.region);
    const auto written = built_.applied.written.find(key);
    if (written == built_.applied.written.end())
      return {};
    const auto [space, is_new] = spaces_.try_emplace(written->second.kernels.source,
                                                     "written_" + std::to_string(spaces_.size()));
    auto lowering = lower_written(*graph_, built.planned.region, written->second, space->second,
                                  "w" + std::to_string(built_.regions.size()));
    if (!lowering) {
      built_.notes.push_back(key + ": " + describe(lowering.error()));
      built_.applied.written.erase(written);
      return {};
    }
    built.is_written = true;
    std::ranges::move(lowering->temporaries, std::back_inserter(built_.plan.temporaries));
    return std::move(lowering->steps);
  }

  /// Source of the kernels of other authors that the steps launch.
  PlacedSource written_source() const {
    PlacedSource all;
    for (const auto &[source, space] : spaces_)
      if (std::ranges::any_of(built_.plan.steps, [&](const model::Step &step) {
            const auto *launch = std::get_if<model::LaunchStep>(&step);
            return launch && launch->kernel.starts_with(space + "::");
          })) {
        const PlacedSource placed = in_namespace(source, space);
        all.includes += placed.includes;
        all.body += placed.body;
      }
    return all;
  }

  Result<elements::Lowering> lower(BuiltRegion &built) {
    const elements::Region &region = built.planned.region;
    const elements::Family &family = *built.planned.family;
    const std::string &key = region_key(region);
    built.configurations = family.configurations(*graph_, region, facts_);
    std::vector<elements::Configuration> wanted;
    if (const auto asked = built_.applied.configurations.find(key);
        asked != built_.applied.configurations.end() &&
        (built_.applied.pinned ||
         std::ranges::find(built.configurations, asked->second) != built.configurations.end()))
      wanted.push_back(asked->second);
    else
      wanted = built.configurations;
    std::string reason = "it has no configuration for the region";
    const std::string prefix = "k" + std::to_string(prefixes_++) + "_" + std::string(family.name);
    for (const elements::Configuration &configuration : wanted) {
      auto lowering = family.lower(*graph_, region, configuration, facts_, prefix);
      if (!lowering) {
        reason = describe(lowering.error());
        continue;
      }
      built.configuration = configuration;
      take_source(*lowering, prefix);
      bodies_.merge(lowering->bodies);
      for (model::Temporary &temporary : lowering->temporaries)
        built_.plan.temporaries.push_back(std::move(temporary));
      return lowering;
    }
    if (region.anchor.empty())
      return fail("pointwise region of " + key + ": " + reason);
    gave_way = GaveWay{region.anchor, std::string(family.name), reason};
    return elements::Lowering{};
  }

  /// Reuses code that the source holds already under another prefix.
  void take_source(elements::Lowering &lowering, const std::string &prefix) {
    const std::string shape = replace_all(lowering.source, prefix, "@");
    const auto [known, added] = sources_.try_emplace(shape, prefix);
    if (added ||
        built_.applied.pinned) { // kernels that are equal at these sizes may differ at others
      take_text(lowering.source);
      return;
    }
    for (model::Step &step : lowering.steps)
      if (auto *launch = std::get_if<model::LaunchStep>(&step))
        launch->kernel = replace_all(launch->kernel, prefix, known->second);
  }

  /// Appends text without the device headers (generator/device) that the plan holds already, and the comments above
  /// those.
  void take_text(std::string_view text) {
    constexpr std::string_view guard = "#ifndef WARPWRIGHT_";
    std::string kept, comment;
    int depth = 0;
    bool leaves_out = false;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const std::string line(text.substr(0, end));
      text.remove_prefix(end);
      if (depth == 0 && line.starts_with("//")) {
        comment += line;
        continue;
      }
      if (depth == 0 && line.starts_with(guard)) {
        leaves_out = !headers_.insert(line).second;
        depth = 1;
      } else if (depth > 0 && line.starts_with("#if")) {
        ++depth;
      }
      if (!leaves_out)
        kept += std::exchange(comment, {}) + line;
      comment.clear();
      if (depth > 0 && line.starts_with("#endif") && --depth == 0)
        leaves_out = false;
    }
    built_.plan.source += kept + comment;
  }

  /// Copies new state that could not be written in place to its place at the end.
  void copy_updates() {
    for (const model::Update &update : late_updates_) {
      const model::TensorType &type = graph_->node(update.value).type();
      const std::string memory = ops::memory_type_of(type.dtype),
                        kernel = "copy_" + std::string(model::name(type.dtype));
      const std::string text = "extern \"C\" __global__ void " + kernel + "(const " + memory +
                               " *in, " + memory + " *out, int n) {\n" +
                               "  const int i = blockIdx.x * 256 + threadIdx.x;\n" +
                               "  if (i < n)\n    out[i] = in[i];\n}\n";
      if (sources_.try_emplace(text, kernel).second)
        built_.plan.source += text;
      const std::int64_t elements = model::elements_of(type.shape);
      model::LaunchStep launch;
      launch.kernel = kernel;
      launch.grid = {(elements + 255) / 256, 1, 1};
      launch.block = {256, 1, 1};
      launch.arguments = {model::BufferArgument{place(update.value), {}},
                          model::BufferArgument{places_.at(update.parameter), {}},
                          model::SizeArgument{elements, model::Dtype::Int32}};
      built_.plan.steps.push_back(std::move(launch));
    }
  }

  void finish() {
    model::Plan &plan = built_.plan;
    constexpr std::int64_t kWaves = 2;
    constexpr int kWithoutErf = 2; ///< the most that PlanChoices::fast_math says there
    built_.joined = join_launches(plan, bodies_,
                                  kWaves * facts_.multiprocessors * facts_.threads_multiprocessor,
                                  built_.applied.pinned ? &built_.applied.pinned->joined : nullptr);
    renumber_joined_steps();
    built_.kernels = std::ranges::count_if(plan.steps, [](const model::Step &step) {
      return std::holds_alternative<model::LaunchStep>(step);
    });
    if (!built_.applied.pinned) // which temporaries fit into another depends on the sizes
      share_memory(plan);
    const PlacedSource written = written_source();
    if (plan.source.empty() && written.body.empty())
      return;
    std::string includes = written.includes;
    if (plan.source.find("__half") != std::string::npos)
      includes += "#include <cuda_fp16.h>\n";
    if (plan.source.find("__nv_bfloat16") != std::string::npos)
      includes += "#include <cuda_bf16.h>\n";
    plan.options = {"-std=c++17"};
    plan.separable = written.body.empty();
    if (plan.source.find("erff(") == std::string::npos)
      built_.applied.fast_math = std::min(built_.applied.fast_math, kWithoutErf);
    if (built_.applied.fast_math > 0)
      plan.options.insert(plan.options.end(), {"--prec-div=false", "--prec-sqrt=false"});
    if (built_.applied.fast_math > kWithoutErf)
      includes += "#define WARPWRIGHT_FAST_ERF\n";
    if (built_.applied.fast_math > 1)
      includes += ops::fast_functions();
    if (facts_.overlapped_launches)
      overlap_launches(plan);
    // Last, so that macros of other authors change nothing else.
    plan.source = includes + elements::ElementWriter::prelude() + plan.source + written.body;
  }

  /// Gives regions the places that their steps have once launches are joined.
  void renumber_joined_steps() {
    for (const std::vector<std::size_t> &group : built_.joined)
      for (BuiltRegion &region : built_.regions)
        for (std::size_t &step : region.steps) {
          const std::size_t own = step;
          if (std::ranges::find(group, own) != group.end())
            step = group.front();
          step -= static_cast<std::size_t>(std::ranges::count_if(
              group | std::views::drop(1), [&](std::size_t gone) { return gone < step; }));
        }
  }

  const PlanBuffers &buffers_;
  const elements::DeviceFacts &facts_;
  BuiltPlan built_;
  const ops::GraphIndex *graph_ = nullptr;
  std::map<std::string, std::string> places_, sources_;
  std::map<std::string, elements::KernelBody> bodies_; ///< by kernels
  std::set<std::string> headers_; ///< lines "#ifndef WARPWRIGHT_..." of the source
  std::map<std::string, std::string> spaces_; ///< namespaces of written kernels, by source
  std::vector<model::Update> late_updates_;
  int prefixes_ = 0;
};

} // namespace

const std::string &region_key(const elements::Region &region) {
  return region.anchor.empty() ? region.outputs.front() : region.anchor;
}

PlanBuffers plan_buffers(const Graph &graph) {
  PlanBuffers buffers;
  for (const Node &node : graph.nodes)
    if (ops::is_buffer_leaf(node))
      buffers.leaves.emplace(node.name, node.name);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    buffers.outputs.push_back("output_" + std::to_string(i));
  return buffers;
}

Result<PlanBuffers> plan_buffers(const model::Task &task, const Graph &graph) {
  PlanBuffers buffers;
  std::vector<std::string> sources;
  for (const model::Buffer &buffer : task.buffers)
    (buffer.direction == model::Direction::Out ? buffers.outputs : sources).push_back(buffer.name);
  std::size_t next = 0;
  for (const Node &node : graph.nodes)
    if (ops::is_buffer_leaf(node)) {
      if (next < sources.size())
        buffers.leaves.emplace(node.name, sources[next]);
      ++next;
    }
  if (next != sources.size() || buffers.outputs.size() != graph.outputs.size())
    return fail("the graph has " + std::to_string(next) + " leaves and " +
                    std::to_string(graph.outputs.size()) + " outputs, the task " +
                    std::to_string(sources.size()) + " and " +
                    std::to_string(buffers.outputs.size()),
                "Trace the module again");
  return buffers;
}

PlanChoices pinned_choices(const BuiltPlan &built) {
  PlanChoices choices = built.applied;
  for (const BuiltRegion &region : built.regions)
    if (region.planned.family)
      choices.configurations[region_key(region.planned.region)] = region.configuration;
  choices.pinned = Launches{{}, built.joined};
  for (const BuiltRegion &region : built.regions)
    if (region.planned.region.anchor.empty())
      for (const std::string &output : region.planned.region.outputs)
        choices.pinned->siblings[output] = region_key(region.planned.region);
  return choices;
}

Result<BuiltPlan> build_plan(const Graph &graph, const PlanBuffers &buffers,
                             const elements::DeviceFacts &facts, const PlanChoices &choices) {
  PlanChoices current = choices;
  std::vector<std::string> notes;
  std::map<std::string, std::set<std::string>> refused;
  for (std::size_t attempt = 0; attempt <= graph.nodes.size(); ++attempt) {
    PlanBuilder builder(buffers, facts, current);
    auto built = builder.run(graph);
    if (!built)
      return built;
    if (!builder.gave_way) {
      built->notes.insert(built->notes.begin(), notes.begin(), notes.end());
      return built;
    }
    const auto &[anchor, family, reason] = *builder.gave_way;
    if (choices.pinned)
      return fail(family + " cannot lower " + anchor + " as asked: " + reason);
    notes.push_back(family + " cannot lower " + anchor + ": " + reason);
    if (std::ranges::find(graph.nodes, anchor, &Node::name) == graph.nodes.end())
      return fail(notes.back()); // an anchor that only channels-last plans have
    refused[anchor].insert(family);
    current.configurations.erase(anchor);
    AnchorChoice &choice = current.anchors[anchor];
    if (choice.fuse) { // alone it may be simpler
      choice.fuse = false;
      choice.family = family;
      refused[anchor].erase(family);
      continue;
    }
    choice.family = elements::kLibraryFamily;
    choice.fuse = true;
    const ops::GraphIndex index(graph);
    for (const elements::Family *other : claiming_families(index, index.node(anchor)))
      if (!refused[anchor].contains(std::string(other->name)))
        choice.family = other->name;
  }
  return fail("the families cannot lower the graph");
}

} // namespace warpwright::planning
