// Evaluation of a plan's expressions and packing of its arguments.
#include "runner/verify/bound_plan.h"
#include "runner/verify/element_math.h"
#include "runner/verify/torch_operations.h"

namespace warpwright::runner {
namespace {

using model::Dtype;

constexpr std::int64_t kMaxGridX = (std::int64_t{1} << 31) - 1, kMaxGridYZ = 65535;

class Binder {
public:
  Binder(const model::Task &task, const Sizes &sizes, const BoundBuffers &buffers, bool promote)
      : task_(task), sizes_(sizes), buffers_(buffers), promote_(promote) {}

  DeviceResult<Operation> fill(const model::FillStep &step) {
    const auto found = buffers_.find(step.buffer);
    if (found == buffers_.end())
      return fault(Fault::Kind::BadLaunch, "a fill names the unknown buffer " + step.buffer);
    const BoundBuffer &buffer = found->second;
    return FillOperation{buffer.address, static_cast<unsigned char>(step.byte),
                         buffer.elements * model::size_bytes(buffer.dtype)};
  }

  DeviceResult<Operation> launch(const model::LaunchStep &step, const CompiledPlan &compiled) {
    LaunchOperation operation;
    operation.program = compiled.program.get();
    operation.kernel = compiled.kernel_index.at(step.kernel);
    operation.kernel_name = step.kernel;
    operation.cooperative = step.cooperative;
    std::int64_t threads = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto grid =
          value(step.grid[axis], "the grid of " + step.kernel, 1, axis ? kMaxGridYZ : kMaxGridX);
      auto block = value(step.block[axis], "the block of " + step.kernel, 1, 1024);
      if (!grid || !block)
        return std::unexpected(grid ? block.error() : grid.error());
      operation.grid[axis] = static_cast<std::uint32_t>(*grid);
      operation.block[axis] = static_cast<std::uint32_t>(*block);
      threads *= *block;
    }
    if (threads > 1024)
      return fault(Fault::Kind::BadLaunch, "the block of " + step.kernel + " holds " +
                                               std::to_string(threads) + " threads at " +
                                               describe_sizes(sizes_) + "; CUDA allows 1024");
    auto shared = value(step.shared_bytes, "the shared memory of " + step.kernel, 0, 256 * 1024);
    if (!shared)
      return std::unexpected(shared.error());
    operation.shared_bytes = static_cast<std::uint32_t>(*shared);
    for (const model::Argument &argument : step.arguments) {
      auto packed = std::visit(
          [&](const auto &alternative) { return pack(alternative, step.kernel); }, argument);
      if (!packed)
        return std::unexpected(packed.error());
      operation.arguments.push_back(*packed);
    }
    return operation;
  }

private:
  DeviceResult<std::int64_t> value(const Expression &expression, const std::string &what,
                                   std::int64_t low, std::int64_t high) {
    auto result = expression.evaluate(sizes_);
    if (!result)
      return fault(Fault::Kind::BadLaunch, what + ": " + describe(result.error()));
    if (*result < low || *result > high)
      return fault(Fault::Kind::BadLaunch, what + " is " + std::to_string(*result) + " at " +
                                               describe_sizes(sizes_) + ", which CUDA refuses (" +
                                               std::to_string(low) + " to " + std::to_string(high) +
                                               ")");
    return *result;
  }

  DeviceResult<ArgumentValue> pack(const model::BufferArgument &argument,
                                   const std::string &kernel) {
    const auto found = buffers_.find(argument.buffer);
    if (found == buffers_.end())
      return fault(Fault::Kind::BadLaunch,
                   kernel + " is given the unknown buffer " + argument.buffer);
    auto offset = value(argument.offset, "the offset into " + argument.buffer, 0,
                        static_cast<std::int64_t>(found->second.elements));
    if (!offset)
      return std::unexpected(offset.error());
    ArgumentValue value =
        ArgumentValue::of(found->second.address + static_cast<std::uint64_t>(*offset) *
                                                      model::size_bytes(found->second.dtype));
    value.is_address = true;
    return value;
  }

  DeviceResult<ArgumentValue> pack(const model::ScalarArgument &argument,
                                   const std::string &kernel) {
    for (const model::Scalar &scalar : task_.scalars)
      if (scalar.name == argument.scalar) {
        if (const auto *number = std::get_if<double>(&scalar.value))
          return floating(*number, scalar.dtype, promote_);
        return integer(std::get<Expression>(scalar.value), scalar.dtype,
                       "the scalar " + scalar.name);
      }
    return fault(Fault::Kind::BadLaunch,
                 kernel + " is given the unknown scalar " + argument.scalar);
  }

  DeviceResult<ArgumentValue> pack(const model::SizeArgument &argument, const std::string &kernel) {
    return integer(argument.value, argument.dtype, "an argument of " + kernel);
  }

  DeviceResult<ArgumentValue> pack(const model::ConstantArgument &argument,
                                   const std::string &kernel) {
    if (model::is_floating(argument.dtype))
      return floating(argument.value, argument.dtype, false);
    return integer(Expression(static_cast<std::int64_t>(argument.value)), argument.dtype,
                   "a constant of " + kernel);
  }

  static ArgumentValue floating(double number, Dtype dtype, bool promote) {
    const auto single = static_cast<float>(number);
    switch (dtype) {
    case Dtype::Float64:
      return ArgumentValue::of(number);
    case Dtype::Float32:
      return promote ? ArgumentValue::of(static_cast<double>(single)) : ArgumentValue::of(single);
    case Dtype::Float16: {
      const auto half = element::half_from_float(single);
      return promote ? ArgumentValue::of(static_cast<double>(element::float_from_half(half)))
                     : ArgumentValue::of(static_cast<std::uint16_t>(half));
    }
    default: {
      const auto bfloat = element::bfloat_from_float(single);
      return promote ? ArgumentValue::of(element::to_double(element::BFloat16, bfloat))
                     : ArgumentValue::of(static_cast<std::uint16_t>(bfloat));
    }
    }
  }

  DeviceResult<ArgumentValue> integer(const Expression &expression, Dtype dtype,
                                      const std::string &what) {
    auto result = expression.evaluate(sizes_);
    if (!result)
      return fault(Fault::Kind::BadLaunch, what + ": " + describe(result.error()));
    const auto bytes = static_cast<std::uint32_t>(model::size_bytes(dtype));
    const bool is_signed = dtype == Dtype::Int8 || dtype == Dtype::Int16 || dtype == Dtype::Int32;
    const int bits = static_cast<int>(8 * bytes) - (is_signed ? 1 : 0);
    const bool fits = bits >= 63 || (*result < (std::int64_t{1} << bits) &&
                                     *result >= (is_signed ? -(std::int64_t{1} << bits) : 0));
    if (!fits)
      return fault(Fault::Kind::BadLaunch, what + " is " + std::to_string(*result) + " at " +
                                               describe_sizes(sizes_) + ", which does not fit " +
                                               std::string(model::name(dtype)));
    ArgumentValue argument = ArgumentValue::of(*result);
    argument.size_bytes = bytes;
    for (std::size_t i = bytes; i < argument.bytes.size(); ++i)
      argument.bytes[i] = 0;
    return argument;
  }

  const model::Task &task_;
  const Sizes &sizes_;
  const BoundBuffers &buffers_;
  bool promote_;
};

} // namespace

namespace {

/// @param index of each kernel by its name, filled
CompileRequest request_of(const model::Plan &plan, std::map<std::string, std::size_t> &index) {
  CompileRequest request{plan.source, plan.options, {}};
  for (const model::Step &step : plan.steps)
    if (const auto *launch = std::get_if<model::LaunchStep>(&step))
      if (index.emplace(launch->kernel, request.kernels.size()).second)
        request.kernels.push_back(launch->kernel);
  return request;
}

} // namespace

void compile_ahead(Device &device, const model::Plan &plan) {
  std::map<std::string, std::size_t> index;
  if (const CompileRequest request = request_of(plan, index); !request.kernels.empty())
    device.compile_ahead(request);
}

DeviceResult<CompiledPlan> compile_plan(Device &device, const model::Plan &plan) {
  CompiledPlan compiled;
  const CompileRequest request = request_of(plan, compiled.kernel_index);
  if (request.kernels.empty())
    return compiled;
  auto program = device.compile(request);
  if (!program)
    return std::unexpected(program.error());
  compiled.program = std::move(*program);
  return compiled;
}

DeviceResult<std::vector<Operation>>
bind_plan(const model::Plan &plan, const CompiledPlan &compiled, const model::Task &task,
          const Sizes &sizes, const BoundBuffers &buffers, TorchHost *torch, bool promote) {
  Binder binder(task, sizes, buffers, promote);
  std::vector<Operation> operations;
  for (const model::Step &step : plan.steps) {
    const auto *launch = std::get_if<model::LaunchStep>(&step);
    const auto *filled = std::get_if<model::FillStep>(&step);
    const auto *aten = std::get_if<model::AtenStep>(&step);
    auto operation = launch   ? binder.launch(*launch, compiled)
                     : filled ? binder.fill(*filled)
                     : aten ? bind_operator(torch, *aten, buffers)
                            : bind_module(torch, std::get<model::ModuleStep>(step), task, buffers);
    if (!operation)
      return std::unexpected(operation.error());
    operations.push_back(std::move(*operation));
  }
  return operations;
}

DeviceResult<void> run(Device &device, const std::vector<Operation> &operations) {
  for (const Operation &operation : operations) {
    const auto *launch = std::get_if<LaunchOperation>(&operation);
    const auto *filled = std::get_if<FillOperation>(&operation);
    auto started = launch   ? device.launch(*launch)
                   : filled ? device.fill(*filled)
                            : run_torch(*device.torch(), std::get<TorchOperation>(operation));
    if (!started)
      return started;
  }
  return {};
}

std::string describe_sizes(const Sizes &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(value);
  return text.empty() ? "its fixed sizes" : text;
}

} // namespace warpwright::runner
