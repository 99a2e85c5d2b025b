#include "generator/planning/written_region.h"

#include "generator/ops/scalar_ops.h"
#include "generator/ops/text.h"
#include "generator/planning/memory_plan.h"

namespace warpwright::planning {
namespace {

std::string numbers_of(const model::Shape &values, const char *separator) {
  std::string text;
  for (const std::int64_t value : values)
    text += (text.empty() ? "" : separator) + std::to_string(value);
  return text;
}

std::string layout_of(const model::TensorType &type) {
  const model::Shape strides = model::strides_of(type);
  return strides == model::strides_of({type.dtype, type.shape, {}})
             ? "contiguous"
             : "strides " + numbers_of(strides, ",") + " elements";
}

/// Calls `visit(name, value, type)` for the inputs, then for the outputs: "in0", the node's name, its memory.
template <class Visit>
void for_each_value(const ops::GraphIndex &graph, const elements::Region &region,
                    const Visit &visit) {
  for (std::size_t i = 0; i < region.inputs.size(); ++i)
    visit("in" + std::to_string(i), region.inputs[i],
          elements::region_type(graph, region, region.inputs[i]));
  for (std::size_t i = 0; i < region.outputs.size(); ++i)
    visit("out" + std::to_string(i), region.outputs[i],
          elements::region_type(graph, region, region.outputs[i]));
}

} // namespace

std::string region_interface(const ops::GraphIndex &graph, const elements::Region &region) {
  std::string text;
  for_each_value(
      graph, region, [&](const std::string &name, const std::string &, const auto &type) {
        text += name + ": " + (name.starts_with("in") ? "const " : "") +
                ops::memory_type_of(type.dtype) + " *, " +
                (type.shape.empty() ? "one element" : "shape " + numbers_of(type.shape, "x")) +
                ", " + layout_of(type) + "\n";
      });
  return text;
}

std::string region_signature(const ops::GraphIndex &graph, const elements::Region &region) {
  std::map<std::string, std::string> names;
  for_each_value(graph, region,
                 [&](const std::string &name, const std::string &value, const auto &) {
                   names.try_emplace(value, name);
                 });
  std::string text = region_interface(graph, region);
  const auto add = [&](model::Node node) {
    node.name = names.try_emplace(node.name, "v" + std::to_string(names.size())).first->second;
    for (std::string &input : node.inputs)
      if (const auto known = names.find(input); known != names.end())
        input = known->second;
    text += ops::print_node(node) + "\n";
  };
  for (const std::string &name : region.nodes) {
    for (const std::string &input : graph.node(name).inputs)
      if (!names.contains(input)) // a constant that no memory holds
        add(graph.node(input));
    add(graph.node(name));
  }
  return text;
}

model::Task region_task(const ops::GraphIndex &graph, const elements::Region &region) {
  model::Task task;
  for_each_value(
      graph, region, [&](const std::string &name, const std::string &, const auto &type) {
        task.buffers.push_back(
            {.name = name,
             .dtype = type.dtype,
             .extent = elements::memory_extent(type),
             .direction = name.starts_with("in") ? model::Direction::In : model::Direction::Out});
      });
  return task;
}

PlacedSource in_namespace(const std::string &source, const std::string &name) {
  PlacedSource placed;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = source.substr(at, end - at) + "\n";
    const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size() - 1);
    const bool is_include = line.compare(first, 8, "#include") == 0;
    placed.includes += is_include ? line : "";
    placed.body += is_include ? "\n" : line; // keeps the numbers of the lines
    at = end + 1;
  }
  constexpr std::string_view kLinkage = "extern \"C\" __global__";
  for (std::size_t at = placed.body.find(kLinkage); at != std::string::npos;
       at = placed.body.find(kLinkage, at))
    placed.body.replace(at, kLinkage.size(), "__global__");
  placed.body = "namespace " + name + " {\n#line 1 \"" + name + ".cu\"\n" + placed.body +
                "} // namespace " + name + "\n";
  return placed;
}

Result<elements::Lowering> lower_written(const ops::GraphIndex &graph,
                                         const elements::Region &region,
                                         const WrittenRegion &written, const std::string &space,
                                         const std::string &prefix) {
  if (region_signature(graph, region) != written.signature)
    return fail("kernels were written for another region");
  std::map<std::string, std::string> names;
  for_each_value(graph, region,
                 [&](const std::string &name, const std::string &value, const auto &) {
                   names[name] = value;
                 });
  elements::Lowering lowering{
      .source = {}, .steps = written.kernels.steps, .temporaries = written.kernels.temporaries};
  for (model::Temporary &temporary : lowering.temporaries)
    temporary.name = names[temporary.name] = prefix + "_" + temporary.name;
  for (model::Step &step : lowering.steps) {
    for_each_buffer(step, [&](std::string &name) {
      if (const auto known = names.find(name); known != names.end())
        name = known->second;
    });
    if (auto *launch = std::get_if<model::LaunchStep>(&step)) {
      launch->kernel = space + "::" + launch->kernel;
      launch->overlapped = false; // the kernel may not wait for the one before it
    }
  }
  return lowering;
}

} // namespace warpwright::planning
