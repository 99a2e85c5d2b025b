// See region_run.h.
#include "tests/generator/families/region_run.h"

#include "runner/cpu/cpu_device.h"

#include <cstring>
#include <set>

namespace warpwright::test {
namespace {

using model::Dtype;
using runner::Address;

template <class T>
void put(std::vector<unsigned char> &bytes, std::size_t i, T value) {
  std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
}
template <class T>
double get(const std::vector<unsigned char> &bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

std::vector<unsigned char> to_bytes(const Array &array) {
  std::vector<unsigned char> bytes(array.values.size() * model::size_bytes(array.dtype));
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const double value = array.values[i];
    switch (array.dtype) {
    case Dtype::Float64:
      put(bytes, i, value);
      break;
    case Dtype::Float32:
      put(bytes, i, static_cast<float>(value));
      break;
    case Dtype::Float16:
      put(bytes, i, static_cast<_Float16>(value));
      break;
    case Dtype::BFloat16: {
      const auto rounded = static_cast<float>(round_to(value, Dtype::BFloat16));
      std::uint32_t raw;
      std::memcpy(&raw, &rounded, 4);
      put(bytes, i, static_cast<std::uint16_t>(raw >> 16));
      break;
    }
    case Dtype::Int64:
    case Dtype::UInt64:
      put(bytes, i, static_cast<std::int64_t>(value));
      break;
    case Dtype::Int32:
    case Dtype::UInt32:
      put(bytes, i, static_cast<std::int32_t>(value));
      break;
    case Dtype::Int16:
    case Dtype::UInt16:
      put(bytes, i, static_cast<std::int16_t>(value));
      break;
    default:
      put(bytes, i, static_cast<std::uint8_t>(static_cast<int>(value)));
    }
  }
  return bytes;
}

double element(const std::vector<unsigned char> &bytes, std::size_t i, Dtype dtype) {
  switch (dtype) {
  case Dtype::Float64:
    return get<double>(bytes, i);
  case Dtype::Float32:
    return get<float>(bytes, i);
  case Dtype::Float16:
    return get<_Float16>(bytes, i);
  case Dtype::BFloat16: {
    std::uint16_t half;
    std::memcpy(&half, bytes.data() + i * 2, 2);
    const std::uint32_t raw = static_cast<std::uint32_t>(half) << 16;
    float value;
    std::memcpy(&value, &raw, 4);
    return value;
  }
  case Dtype::Int64:
    return get<std::int64_t>(bytes, i);
  case Dtype::Int32:
    return get<std::int32_t>(bytes, i);
  case Dtype::Int16:
    return get<std::int16_t>(bytes, i);
  case Dtype::Int8:
    return get<std::int8_t>(bytes, i);
  default:
    return get<std::uint8_t>(bytes, i);
  }
}

/// Memory whose end touches the guard, as far as its elements' alignment for vectors lets it.
struct Memory {
  Address base = 0, address = 0;
  std::size_t size_bytes = 0;
  explicit Memory(std::size_t size) : size_bytes(size) {
    const std::size_t total = (size + runner::kAlignment) / runner::kAlignment * runner::kAlignment;
    base = cpu_device().allocate(total).value();
    address = base + (total - size) / 16 * 16;
    cpu_device().fill({base, 0xEE, total}).value();
  }
  Memory(const Memory &) = delete;
  ~Memory() { cpu_device().free(base); }
};

} // namespace

runner::Device &cpu_device() {
  static const std::unique_ptr<runner::Device> made = std::move(runner::make_cpu_device().value());
  return *made;
}

elements::DeviceFacts cpu_facts() { return {arch::gpu_named("cpu").value()}; }

std::string whole_source(const elements::Lowering &lowering) {
  const std::string text = std::string(elements::ElementWriter::prelude()) + lowering.source;
  return (text.find("__half") != std::string::npos ? "#include <cuda_fp16.h>\n" : "") +
         std::string(text.find("__nv_bfloat16") != std::string::npos ? "#include <cuda_bf16.h>\n"
                                                                     : "") +
         text;
}

std::string describe(const elements::Configuration &configuration) {
  std::string text;
  for (const auto &[name, value] : configuration)
    text += (text.empty() ? "{" : ", ") + name + "=" + std::to_string(value);
  return text + "}";
}

Result<Arrays> run_region(const ops::GraphIndex &graph, const elements::Region &region,
                          const elements::Lowering &lowering, const Arrays &values) {
  std::map<std::string, std::unique_ptr<Memory>> memory;
  for (const std::string &input : region.inputs) {
    const auto bytes = to_bytes(values.at(input));
    memory[input] = std::make_unique<Memory>(bytes.size());
    cpu_device().upload(memory[input]->address, bytes.data(), bytes.size()).value();
  }
  for (const std::string &output : region.outputs) {
    const model::TensorType &type = graph.node(output).type();
    memory[output] = std::make_unique<Memory>(
        static_cast<std::size_t>(model::elements_of(type.shape)) * model::size_bytes(type.dtype));
  }
  for (const model::Temporary &temporary : lowering.temporaries)
    memory[temporary.name] =
        std::make_unique<Memory>(static_cast<std::size_t>(temporary.extent.evaluate({}).value()) *
                                 model::size_bytes(temporary.dtype));
  std::vector<std::string> kernels;
  for (const model::Step &step : lowering.steps)
    if (const auto *launch = std::get_if<model::LaunchStep>(&step))
      kernels.push_back(launch->kernel);
  cpu_device().set_deadline(std::chrono::steady_clock::now() + std::chrono::seconds(60));
  auto program = cpu_device().compile({whole_source(lowering), {}, kernels});
  if (!program)
    return fail(program.error().message, program.error().log);
  std::size_t kernel = 0;
  for (const model::Step &any : lowering.steps) {
    if (const auto *fill = std::get_if<model::FillStep>(&any)) {
      const Memory &filled = *memory.at(fill->buffer);
      cpu_device()
          .fill({filled.address, static_cast<unsigned char>(fill->byte), filled.size_bytes})
          .value();
      continue;
    }
    const auto &step = std::get<model::LaunchStep>(any);
    runner::LaunchOperation launch;
    launch.program = program->get();
    launch.kernel = kernel++;
    launch.kernel_name = step.kernel;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      launch.grid[axis] = static_cast<std::uint32_t>(step.grid[axis].evaluate({}).value());
      launch.block[axis] = static_cast<std::uint32_t>(step.block[axis].evaluate({}).value());
    }
    launch.shared_bytes = static_cast<std::uint32_t>(step.shared_bytes.evaluate({}).value());
    for (const model::Argument &argument : step.arguments)
      if (const auto *size = std::get_if<model::SizeArgument>(&argument))
        launch.arguments.push_back(
            runner::ArgumentValue::of(static_cast<std::int32_t>(size->value.evaluate({}).value())));
      else
        launch.arguments.push_back(runner::ArgumentValue::of(
            memory.at(std::get<model::BufferArgument>(argument).buffer)->address));
    if (auto ran = cpu_device().launch(launch); !ran)
      return fail(step.kernel + ": " + ran.error().message);
  }
  Arrays results;
  for (const std::string &output : region.outputs) {
    const model::TensorType &type = graph.node(output).type();
    std::vector<unsigned char> bytes(memory[output]->size_bytes);
    cpu_device().download(bytes.data(), memory[output]->address, bytes.size()).value();
    Array array(type.dtype, type.shape);
    for (std::size_t i = 0; i < array.values.size(); ++i)
      array.values[i] = element(bytes, i, type.dtype);
    results[output] = std::move(array);
  }
  return results;
}

std::string check_region(const ops::GraphIndex &graph, const elements::Region &region,
                         const elements::Family &family,
                         const elements::Configuration &configuration, const Arrays &values,
                         double tolerance) {
  const auto lowering = family.lower(graph, region, configuration, cpu_facts(), "k0");
  if (!lowering)
    return "not lowered: " + warpwright::describe(lowering.error());
  const auto results = run_region(graph, region, *lowering, values);
  if (!results)
    return warpwright::describe(results.error()) + "\n" + lowering->source;
  for (const std::string &output : region.outputs) {
    const double difference = relative_difference(results->at(output), values.at(output));
    if (!(difference <= tolerance))
      return output + " differs by " + std::to_string(difference) + "\n" + lowering->source;
  }
  return "";
}

} // namespace warpwright::test
