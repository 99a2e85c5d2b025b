// Binding of a plan: addresses, and numbers in the form of kernel parameters.
#include "runner/verify/bound_plan.h"
#include "plan/program.h"
#include "runner/verify/element_math.h"
#include "runner/verify/torch_operations.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

using model::Dtype;

/// @param promote passes the number as double, after rounding to the narrower type
ArgumentValue floating(double number, Dtype dtype, bool promote) {
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

ArgumentValue packed(const plan::NumberArgument &argument, bool promote) {
  if (const auto *number = std::get_if<double>(&argument.value))
    return floating(*number, argument.dtype, promote && argument.is_of_task);
  ArgumentValue value = ArgumentValue::of(std::get<std::int64_t>(argument.value));
  value.size_bytes = static_cast<std::uint32_t>(model::size_bytes(argument.dtype));
  value.bytes.resize(value.size_bytes);
  return value;
}

ArgumentValue address_of(const plan::PlaceArgument &at, const BoundBuffer &buffer) {
  ArgumentValue address = ArgumentValue::of(
      buffer.address + static_cast<std::uint64_t>(at.offset) * model::size_bytes(buffer.dtype));
  address.addresses = {0};
  if (at.map) {
    address.map = std::make_shared<const plan::TensorMap>(*at.map);
    address.size_bytes = kTensorMapBytes;
  }
  return address;
}

/// @param plain gives the value of an argument that is not a struct
ArgumentValue value_of(const auto &argument, const auto &plain) {
  if constexpr (requires { argument.fields; }) {
    ArgumentValue whole{.bytes = std::vector<unsigned char>(argument.size_bytes),
                        .size_bytes = argument.size_bytes,
                        .addresses = {}};
    for (const auto &[offset, field] : argument.fields) {
      const ArgumentValue value = std::visit(plain, field);
      std::ranges::copy(value.bytes, whole.bytes.begin() + offset);
      for (const std::uint32_t at : value.addresses)
        whole.addresses.push_back(offset + at);
    }
    return whole;
  } else {
    return plain(argument);
  }
}

CompileRequest request_of(const model::Plan &plan) {
  return {plan.source, plan.options, plan::kernels_of(plan), plan.separable};
}

} // namespace

void compile_ahead(Device &device, const model::Plan &plan) {
  if (const CompileRequest request = request_of(plan); !request.kernels.empty())
    device.compile_ahead(request);
}

DeviceResult<CompiledPlan> compile_plan(Device &device, const model::Plan &plan) {
  CompiledPlan compiled;
  const CompileRequest request = request_of(plan);
  if (request.kernels.empty())
    return compiled;
  compiled.program = TRY(device.compile(request));
  return compiled;
}

DeviceResult<std::vector<Operation>>
bind_plan(const model::Plan &plan, const CompiledPlan &compiled, const model::Task &task,
          const symbolic::Sizes &sizes, const BoundBuffers &buffers, TorchHost *torch,
          bool promote) {
  const auto program = plan::program_of(plan, task, sizes);
  if (!program)
    return fault(Fault::Kind::BadLaunch, program.error().message);
  const auto bound = [&](std::size_t place) -> const BoundBuffer & {
    return buffers.at(program->places[place].name);
  };
  const auto plain = [&](const auto &argument) {
    if constexpr (requires { argument.place; })
      return address_of(argument, bound(argument.place));
    else
      return packed(argument, promote);
  };
  const auto launch = [&](const plan::Launch &step) -> Operation {
    LaunchOperation operation{.program = compiled.program.get(),
                              .kernel = step.kernel,
                              .kernel_name = program->kernels[step.kernel].name,
                              .grid = step.grid,
                              .block = step.block,
                              .shared_bytes = step.shared_bytes,
                              .cooperative = step.cooperative,
                              .overlapped = step.overlapped};
    for (const plan::Argument &argument : step.arguments)
      operation.arguments.push_back(
          std::visit([&](const auto &one) { return value_of(one, plain); }, argument));
    return operation;
  };
  std::vector<Operation> operations;
  for (const plan::Step &step : program->steps)
    if (const auto *launched = std::get_if<plan::Launch>(&step)) {
      operations.push_back(launch(*launched));
    } else if (const auto *filled = std::get_if<plan::Fill>(&step)) {
      const BoundBuffer &buffer = bound(filled->place);
      operations.push_back(FillOperation{buffer.address, filled->byte,
                                         buffer.elements * model::size_bytes(buffer.dtype)});
    } else {
      const auto *aten = std::get_if<const model::AtenStep *>(&step);
      operations.push_back(TRY(
          aten ? bind_operator(torch, **aten, buffers)
               : bind_module(torch, *std::get<const model::ModuleStep *>(step), task, buffers)));
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

} // namespace warpwright::runner
