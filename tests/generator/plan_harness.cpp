#include "tests/generator/plan_harness.h"

#include "generator/ops/attributes.h"

#include "generator/ops/op_traits.h"
#include "generator/ops/text.h"
#include "runner/cpu/cpu_device.h"
#include "tests/analysis/nvrtc_probe.h"
#include "tests/generator/array_memory.h"

#include <algorithm>
#include <memory>

namespace warpwright::test {
namespace {

using runner::Address;

runner::Device &device() {
  static const std::unique_ptr<runner::Device> device =
      std::move(runner::make_cpu_device().value());
  device->set_deadline(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  return *device;
}

std::unexpected<Error> failed(const std::string &what, const runner::Fault &fault) {
  return fail(what + ": " + fault.message + (fault.log.empty() ? "" : "\n" + fault.log));
}

/// Buffers of a plan in the device's memory, freed at the end.
class Memory {
public:
  ~Memory() {
    for (const auto &[name, buffer] : buffers_)
      device().free(buffer.address);
  }

  Result<void> add(const std::string &name, model::Dtype dtype, std::vector<unsigned char> bytes) {
    const std::size_t total = (std::max<std::size_t>(bytes.size(), 1) + runner::kAlignment - 1) /
                              runner::kAlignment * runner::kAlignment;
    auto address = device().allocate(total);
    if (!address)
      return failed("allocating " + name, address.error());
    buffers_[name] = {*address, bytes.size(), model::size_bytes(dtype)};
    return set(name, bytes);
  }
  Result<void> set(const std::string &name, const std::vector<unsigned char> &bytes) {
    const auto &buffer = buffers_.at(name);
    if (bytes.size() > buffer.size)
      return fail("buffer " + name + " is too small");
    if (auto done = device().upload(buffer.address, bytes.data(), bytes.size()); !done)
      return failed("filling " + name, done.error());
    return {};
  }
  bool has(const std::string &name) const { return buffers_.contains(name); }
  Address address(const std::string &name) const { return buffers_.at(name).address; }
  /// Address of an element.
  Address address(const std::string &name, std::int64_t element) const {
    const Buffer &buffer = buffers_.at(name);
    return buffer.address + static_cast<std::size_t>(element) * buffer.element_size;
  }
  std::size_t size(const std::string &name) const { return buffers_.at(name).size; }
  std::vector<unsigned char> bytes(const std::string &name) const {
    std::vector<unsigned char> result(size(name));
    device().download(result.data(), address(name), result.size()).value();
    return result;
  }

private:
  struct Buffer {
    Address address = 0;
    std::size_t size = 0, element_size = 1;
  };
  std::map<std::string, Buffer> buffers_;
};

std::vector<unsigned char> poison(std::int64_t elements, model::Dtype dtype) {
  return std::vector<unsigned char>(static_cast<std::size_t>(elements) * model::size_bytes(dtype),
                                    0xff);
}

Result<runner::ArgumentValue> bind(const model::Argument &argument, const Memory &memory,
                                   const model::Plan &plan) {
  if (const auto *buffer = std::get_if<model::BufferArgument>(&argument)) {
    if (!memory.has(buffer->buffer))
      return fail("the plan names no buffer \"" + buffer->buffer + "\"");
    return runner::ArgumentValue::of<std::uint64_t>(
        memory.address(buffer->buffer, buffer->offset.evaluate({}).value()));
  }
  (void)plan;
  if (const auto *size = std::get_if<model::SizeArgument>(&argument)) {
    const std::int64_t value = size->value.evaluate({}).value_or(0);
    return model::size_bytes(size->dtype) == 8
               ? runner::ArgumentValue::of(value)
               : runner::ArgumentValue::of(static_cast<std::int32_t>(value));
  }
  if (const auto *constant = std::get_if<model::ConstantArgument>(&argument))
    return constant->dtype == model::Dtype::Float64
               ? runner::ArgumentValue::of(constant->value)
               : runner::ArgumentValue::of(static_cast<float>(constant->value));
  return fail("torch tasks have no scalars");
}

Result<void> launch(const model::LaunchStep &step, const runner::Program &program,
                    std::size_t kernel, const Memory &memory, const model::Plan &plan) {
  runner::LaunchOperation operation;
  operation.program = &program;
  operation.kernel = kernel;
  operation.kernel_name = step.kernel;
  for (int i = 0; i < 3; ++i) {
    operation.grid[i] = static_cast<std::uint32_t>(step.grid[i].evaluate({}).value_or(0));
    operation.block[i] = static_cast<std::uint32_t>(step.block[i].evaluate({}).value_or(0));
  }
  operation.shared_bytes = static_cast<std::uint32_t>(step.shared_bytes.evaluate({}).value_or(0));
  for (const model::Argument &argument : step.arguments) {
    auto value = bind(argument, memory, plan);
    if (!value)
      return std::unexpected(value.error());
    operation.arguments.push_back(*value);
  }
  if (auto done = device().launch(operation); !done)
    return failed("launching " + step.kernel, done.error());
  if (auto done = device().synchronize(); !done)
    return failed("running " + step.kernel, done.error());
  return {};
}

/// What a library call reads of a buffer.
Array read_view(const model::TensorView &view, model::Dtype dtype, const Memory &memory) {
  const std::size_t size = model::size_bytes(dtype);
  const std::vector<unsigned char> bytes = memory.bytes(view.buffer);
  const model::Shape strides = model::strides_of({dtype, view.shape, view.strides});
  std::vector<unsigned char> gathered;
  for_each_index(view.shape, [&](const model::Shape &index) {
    std::int64_t at = view.offset;
    for (std::size_t d = 0; d < index.size(); ++d)
      at += index[d] * strides[d];
    const auto from = bytes.begin() + at * static_cast<std::ptrdiff_t>(size);
    gathered.insert(gathered.end(), from, from + static_cast<std::ptrdiff_t>(size));
  });
  return from_bytes(gathered, dtype, view.shape);
}

/// True for a convolution that the library computes with the relu behind it. Its result is over (N, spatial..., C) in
/// the graph and a view of that for the library.
bool takes_relu(const model::AtenStep &step) {
  return step.op.starts_with("aten::cudnn_convolution_");
}

/// That a convolution's operands are in memory as the step says.
Result<void> check_operands(const planning::BuiltPlan &built, const std::string &anchor,
                            const model::AtenStep &step, const Arrays &values,
                            const Memory &memory) {
  const ops::GraphIndex index(built.graph);
  const model::Node &node = index.node(anchor);
  const bool adds = step.op.ends_with("add_relu"); // the tensor to add and its factor come before the bias
  for (std::size_t i = 0; node.op == "conv" && i < node.inputs.size(); ++i) {
    const auto *view =
        std::get_if<model::TensorView>(&step.arguments.at(i == 2 && adds ? 4 : i));
    const Array &expected = values.at(node.inputs[i]);
    if (view && !memory.has(view->buffer))
      return fail("operand " + std::to_string(i) + " of " + anchor +
                  " is in no memory: " + view->buffer);
    if (!view || view->shape != expected.shape)
      return fail("operand " + std::to_string(i) + " of " + anchor + " has another shape");
    if (const double difference =
            relative_difference(read_view(*view, expected.dtype, memory), expected);
        !(difference < 1e-3))
      return fail("operand " + std::to_string(i) + " of " + anchor + " differs by " +
                  std::to_string(difference));
  }
  return {};
}

/// What the ATen region would have computed.
Result<void> stand_in(const planning::BuiltPlan &built, const model::AtenStep &step,
                      const Arrays &values, Memory &memory) {
  for (const model::TensorView &result : step.results) {
    if (result.buffer.empty())
      continue;
    const std::string *value = nullptr;
    for (const planning::BuiltRegion &region : built.regions)
      for (const std::string &output : region.planned.region.outputs)
        if (result.buffer == "t_" + output) {
          value = &output;
          if (auto checked =
                  check_operands(built, region.planned.region.anchor, step, values, memory);
              !checked)
            return checked;
        }
    for (std::size_t i = 0; i < built.graph.outputs.size(); ++i)
      if (result.buffer == "output_" + std::to_string(i))
        value = &built.graph.outputs[i];
    if (!value || !values.contains(*value))
      return fail("the interpreter has no value for " + result.buffer);
    Array array = values.at(*value);
    if (!takes_relu(step))
      array.shape = result.shape;
    if (auto set = memory.set(result.buffer, to_bytes(array, takes_relu(step) ? model::Shape{} : result.strides));
        !set)
      return set;
  }
  return {};
}

double tolerance_of(model::Dtype dtype, const HarnessOptions &options) {
  if (!model::is_floating(dtype))
    return 0;
  if (options.tolerance > 0)
    return options.tolerance;
  switch (dtype) {
  case model::Dtype::Float64:
    return 1e-10;
  case model::Dtype::Float16:
    return 2e-3;
  case model::Dtype::BFloat16:
    return 2e-2;
  default:
    return 3e-5;
  }
}

std::string describe_choices(const planning::BuiltPlan &built) {
  std::string text;
  for (const planning::BuiltRegion &region : built.regions)
    text += "  " + planning::region_key(region.planned.region) + ": " + region.words + "\n";
  for (const std::string &note : built.notes)
    text += "  " + note + "\n";
  return text;
}

/// Layout nodes are copies to the interpreter, and products with the factors of output channels.
model::Graph without_layouts(const model::Graph &graph) {
  const ops::GraphIndex index(graph);
  model::Graph result = graph;
  result.nodes.clear();
  for (model::Node node : graph.nodes) {
    if (node.op == "layouts")
      continue;
    if (node.op == "item" && index.node(node.inputs[0]).op == "layouts") {
      const model::Node &layouts = index.node(node.inputs[0]);
      const auto which = static_cast<std::size_t>(ops::integer_attribute(node, "index"));
      const std::int64_t factor =
          ops::list_attribute(layouts, ops::kFactors).value_or(model::Shape{}).at(which);
      const std::string &source = layouts.inputs.at(which);
      node.inputs = {source};
      node.op = "reshape";
      node.attributes.clear();
      const model::TensorType &type = node.type();
      if (index.node(source).type().shape != type.shape) { // it lies channels-last
        model::Shape turned = type.shape, order(type.shape.size(), 1);
        std::rotate(turned.begin() + 1, turned.begin() + 2, turned.end());
        for (std::size_t d = 2; d < order.size(); ++d)
          order[d] = static_cast<std::int64_t>(d) - 1;
        order[0] = 0;
        order[1] = static_cast<std::int64_t>(order.size()) - 1;
        result.nodes.push_back({node.name + "__wide", "reshape", {source}, {}, {{type.dtype, turned, {}}}});
        node.inputs = {node.name + "__wide"};
        node.op = "permute";
        node.attributes["dims"] = order;
      }
      if (factor >= 0) {
        model::Node unscaled = node, column = node;
        unscaled.name += "__unscaled";
        column.name += "__column";
        column.op = "reshape";
        column.attributes.clear();
        column.inputs = {layouts.inputs.at(static_cast<std::size_t>(factor))};
        column.types[0].shape.assign(type.shape.size(), 1);
        column.types[0].shape[0] = type.shape[0];
        column.types[0].strides.clear();
        node.op = "mul";
        node.attributes.clear();
        node.inputs = {unscaled.name, column.name};
        result.nodes.insert(result.nodes.end(), {unscaled, column});
      }
    }
    if (node.op == "layout")
      node.op = "reshape";
    result.nodes.push_back(std::move(node));
  }
  return result;
}

Arrays leaves_of(const model::Graph &graph, const HarnessOptions &options) {
  return options.leaves.empty() ? draw_leaves(graph, options.seed) : options.leaves;
}

} // namespace

Result<PlanResults> run_plan(const planning::BuiltPlan &built, const model::Graph &graph,
                             const Arrays &leaves) {
  const model::Plan &plan = built.plan;
  const ops::GraphIndex index(graph);
  Memory memory;
  for (const model::Node &node : graph.nodes)
    if (ops::is_buffer_leaf(node))
      if (auto added = memory.add(node.name, node.type().dtype, to_bytes(leaves.at(node.name)));
          !added)
        return std::unexpected(added.error());
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const model::TensorType &type = index.node(graph.outputs[i]).type();
    const auto bytes = poison(model::elements_of(type.shape), type.dtype);
    if (auto added = memory.add("output_" + std::to_string(i), type.dtype, bytes); !added)
      return std::unexpected(added.error());
  }
  for (const model::Temporary &temporary : plan.temporaries)
    if (auto added = memory.add(temporary.name, temporary.dtype,
                                poison(temporary.extent.evaluate({}).value_or(0), temporary.dtype));
        !added)
      return std::unexpected(added.error());

  runner::CompileRequest request{plan.source, plan.options, {}};
  for (const model::Step &step : plan.steps)
    if (const auto *launched = std::get_if<model::LaunchStep>(&step);
        launched && std::ranges::find(request.kernels, launched->kernel) == request.kernels.end())
      request.kernels.push_back(launched->kernel);
  std::unique_ptr<runner::Program> program;
  if (!request.kernels.empty()) {
    auto compiled = device().compile(request);
    if (!compiled)
      return failed("compiling", compiled.error());
    program = std::move(*compiled);
  }
  std::optional<Arrays> values;
  for (const model::Step &step : plan.steps) {
    Result<void> done;
    if (const auto *launched = std::get_if<model::LaunchStep>(&step)) {
      const auto kernel =
          std::ranges::find(request.kernels, launched->kernel) - request.kernels.begin();
      done = launch(*launched, *program, static_cast<std::size_t>(kernel), memory, plan);
    } else if (const auto *fill = std::get_if<model::FillStep>(&step)) {
      done = memory.set(fill->buffer,
                        std::vector<unsigned char>(memory.size(fill->buffer),
                                                   static_cast<unsigned char>(fill->byte)));
    } else if (const auto *aten = std::get_if<model::AtenStep>(&step)) {
      if (!values) {
        auto interpreted = interpret(without_layouts(built.graph), leaves);
        if (!interpreted)
          return std::unexpected(interpreted.error());
        values = std::move(*interpreted);
      }
      done = stand_in(built, *aten, *values, memory);
    }
    if (!done)
      return std::unexpected(done.error());
  }
  PlanResults results;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const model::TensorType &type = index.node(graph.outputs[i]).type();
    results.outputs.push_back(
        from_bytes(memory.bytes("output_" + std::to_string(i)), type.dtype, type.shape));
  }
  for (const model::Update &update : graph.updates) {
    const model::TensorType &type = index.node(update.parameter).type();
    results.updates[update.parameter] =
        from_bytes(memory.bytes(update.parameter), type.dtype, type.shape);
  }
  return results;
}

std::string check_plan_results(const planning::BuiltPlan &built, const model::Graph &graph,
                               const HarnessOptions &options) {
  const std::string what = "with\n" + describe_choices(built);
  const Arrays leaves = leaves_of(graph, options);
  auto expected = interpret(graph, leaves);
  if (!expected)
    return "the interpreter: " + describe(expected.error());
  auto actual = run_plan(built, graph, leaves);
  if (!actual)
    return describe(actual.error()) + "\n" + what + built.plan.source;
  const auto compare = [&](const Array &found, const std::string &value,
                           const std::string &name) -> std::string {
    Array wanted = expected->at(value);
    for (double &one : wanted.values)
      one = round_to(one, found.dtype);
    const double difference = relative_difference(found, wanted);
    if (difference <= tolerance_of(found.dtype, options))
      return {};
    std::size_t worst = 0;
    double most = -1;
    for (std::size_t i = 0; i < found.values.size(); ++i) {
      const double apart = std::fabs(found.values[i] - wanted.values[i]);
      if (!(apart <= most)) {
        most = apart;
        worst = i;
      }
    }
    return name + " differs by " + std::to_string(difference) + ", element " +
           std::to_string(worst) + " is " + std::to_string(found.values.at(worst)) +
           " instead of " + std::to_string(wanted.values.at(worst)) + "\n" + what +
           built.plan.source;
  };
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    if (std::string text = compare(actual->outputs[i], graph.outputs[i],
                                   "output " + std::to_string(i) + " (" + graph.outputs[i] + ")");
        !text.empty())
      return text;
  for (const model::Update &update : graph.updates)
    if (std::string text = compare(actual->updates.at(update.parameter), update.value,
                                   "state " + update.parameter);
        !text.empty())
      return text;
  return {};
}

namespace {

/// A trap ends the user's context, and blocks that wait for each other must all be on the GPU.
std::string check_no_harm(const model::Plan &plan) {
  for (const char *word : {"trap", "brkpt"})
    if (plan.source.find(word) != std::string::npos)
      return std::string("the plan's source has ") + word;
  const bool waits = plan.source.find("ld.acquire.gpu") != std::string::npos ||
                     plan.source.find("ld.relaxed.gpu") != std::string::npos;
  const bool together = std::ranges::any_of(plan.steps, [](const model::Step &step) {
    const auto *launch = std::get_if<model::LaunchStep>(&step);
    return launch && launch->cooperative;
  });
  return waits == together
             ? ""
             : "blocks wait for each other and are not launched together, or the reverse";
}

std::string check_gpu_compile(const planning::BuiltPlan &built) {
  if (built.plan.source.empty())
    return {};
  std::vector<std::string> names;
  for (const model::Step &step : built.plan.steps)
    if (const auto *launched = std::get_if<model::LaunchStep>(&step))
      names.push_back(launched->kernel);
  std::string ptx;
  const auto errors = tests::nvrtc_errors(built.plan.source, names, "sm_90a", &ptx);
  if (errors && !errors->empty())
    return "NVRTC: " + *errors + "\nwith\n" + describe_choices(built);
  // The assembler moves such loads before the wait for the launch that writes what they read, which tables need not.
  const auto has = [&](const char *text) { return ptx.find(text) != std::string::npos; };
  if (has("griddepcontrol.wait") && has("ld.global.nc") && !has(".global .align"))
    return "a load does not wait for the launches before:\n" + ptx;
  return {};
}

std::string check_choices(const model::Graph &graph, const planning::PlanChoices &choices,
                          const HarnessOptions &options,
                          std::optional<planning::BuiltPlan> *result) {
  const planning::PlanBuffers buffers = planning::plan_buffers(graph);
  auto built = planning::build_plan(graph, buffers, options.facts, choices);
  if (!built)
    return describe(built.error());
  for (const planning::BuiltRegion &region : built->regions) {
    const bool claimed =
        !options.family.empty() && !region.planned.region.anchor.empty() &&
        std::ranges::any_of(
            planning::claiming_families(
                ops::GraphIndex(built->graph),
                ops::GraphIndex(built->graph).node(region.planned.region.anchor)),
            [&](const elements::Family *family) { return family->name == options.family; });
    if (claimed && region.planned.choice.family != options.family)
      return options.family + " did not lower " + region.planned.region.anchor + "\n" +
             describe_choices(*built);
  }
  std::string text = check_plan_results(*built, graph, options);
  if (text.empty() && options.compile_for_gpu) {
    elements::DeviceFacts gpu{arch::gpu_named("h200").value()};
    gpu.multiprocessors = options.facts.multiprocessors;
    gpu.tf32 = options.facts.tf32;
    auto for_gpu = planning::build_plan(graph, buffers, gpu, choices);
    text = for_gpu ? check_no_harm(for_gpu->plan) : describe(for_gpu.error());
    if (text.empty())
      text = check_gpu_compile(*for_gpu);
  }
  if (result)
    *result = std::move(*built);
  return text;
}

} // namespace

std::string check_graph(const std::string &text, const HarnessOptions &options) {
  const auto graph = ops::parse_graph(text);
  return graph ? check_graph(*graph, options) : describe(graph.error());
}

std::string check_graph(const model::Graph &graph, const HarnessOptions &options) {
  const ops::GraphIndex index(graph);
  // One choice of families after another: each anchor's, the others being best guesses (or the family that is asked for).
  std::vector<planning::PlanChoices> starts(1);
  for (const model::Node &node : graph.nodes) {
    if (!planning::is_anchor(node))
      continue;
    for (const elements::Family *family : planning::claiming_families(index, node)) {
      if (!options.family.empty() && family->name != options.family)
        continue;
      if (!options.family.empty())
        starts[0].anchors[node.name].family = family->name;
      for (const bool fuse : {true, false}) {
        planning::PlanChoices choices = starts[0];
        choices.anchors[node.name] = {std::string(family->name), fuse};
        starts.push_back(std::move(choices));
      }
    }
  }
  for (const planning::PlanChoices &start : starts) {
    std::optional<planning::BuiltPlan> built;
    if (std::string text = check_choices(graph, start, options, &built); !text.empty())
      return text;
    for (const planning::BuiltRegion &region : built->regions)
      for (std::size_t i = 0;
           i < std::min(region.configurations.size(), options.max_configurations); ++i) {
        if (region.configurations[i] == region.configuration)
          continue;
        planning::PlanChoices choices = start;
        choices.configurations[planning::region_key(region.planned.region)] =
            region.configurations[i];
        if (std::string text = check_choices(graph, choices, options, nullptr); !text.empty())
          return text;
      }
  }
  return {};
}

} // namespace warpwright::test
