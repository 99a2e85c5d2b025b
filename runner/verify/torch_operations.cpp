#include "runner/verify/torch_operations.h"

namespace warpwright::runner {
namespace {

using model::Direction;

std::shared_ptr<const CallHandle> owned(TorchHost &torch, CallHandle call) {
  return {new CallHandle(call), [&torch](const CallHandle *handle) {
            torch.forget(*handle);
            delete handle;
          }};
}

/// The bound views of one step.
class Views {
public:
  explicit Views(const BoundBuffers &buffers) : buffers_(buffers) {}

  DeviceResult<void> add(const model::TensorView &view) {
    tensors.push_back(TRY(bind(view)));
    return {};
  }

  DeviceResult<void> add(const model::AtenArgument &argument) {
    if (const auto *view = std::get_if<model::TensorView>(&argument))
      return add(*view);
    if (const auto *views = std::get_if<std::vector<model::TensorView>>(&argument))
      for (const model::TensorView &view : *views)
        TRY(add(view));
    return {};
  }

  std::vector<TensorArgument> tensors;

private:
  DeviceResult<TensorArgument> bind(const model::TensorView &view) {
    if (view.buffer.empty())
      return TensorArgument{};
    const auto found = buffers_.find(view.buffer);
    if (found == buffers_.end())
      return fault(Fault::Kind::BadLaunch, "an operator names the unknown buffer " + view.buffer);
    const std::size_t width = model::size_bytes(found->second.dtype);
    return TensorArgument{found->second.address + static_cast<std::uint64_t>(view.offset) * width,
                          found->second.dtype, view.shape, view.strides, ""};
  }

  const BoundBuffers &buffers_;
};

bool is_given(const model::Buffer &buffer) { return buffer.direction != Direction::Out; }
bool is_made(const model::Buffer &buffer) { return buffer.direction == Direction::Out; }

} // namespace

TensorArgument tensor_of(const model::Buffer &buffer, const BoundBuffer &bound) {
  std::vector<std::int64_t> shape = buffer.shape;
  if (shape.empty() && bound.elements != 1)
    shape = {static_cast<std::int64_t>(bound.elements)};
  return {bound.address,
          bound.dtype,
          std::move(shape),
          {},
          buffer.torch_name.empty() ? buffer.name : buffer.torch_name};
}

std::vector<TensorArgument> tensors_of(const model::Task &task, const BoundBuffers &bound,
                                       const std::function<bool(const model::Buffer &)> &wanted) {
  std::vector<TensorArgument> tensors;
  for (const model::Buffer &buffer : task.buffers)
    if (wanted(buffer))
      tensors.push_back(tensor_of(buffer, bound.at(buffer.name)));
  return tensors;
}

Fault no_torch() {
  return {
      Fault::Kind::Unsupported,
      "this worker has no torch, which tasks of torch modules and plans that call ATen "
      "operators need: install it for the python3 on PATH, or name an interpreter that has it in "
      "WARPWRIGHT_PYTHON",
      {},
      false};
}

DeviceResult<Operation> bind_operator(TorchHost *torch, const model::AtenStep &step,
                                      const BoundBuffers &buffers) {
  if (!torch)
    return std::unexpected(no_torch());
  Views arguments(buffers), results(buffers);
  for (const model::AtenArgument &argument : step.arguments)
    TRY(arguments.add(argument));
  for (const auto &[name, argument] : step.keywords)
    TRY(arguments.add(argument));
  for (const model::TensorView &view : step.results)
    TRY(results.add(view));
  std::vector<TensorArgument> all = std::move(arguments.tensors);
  all.insert(all.end(), results.tensors.begin(), results.tensors.end());
  auto call = TRY(torch->bind_operator(step, all));
  return TorchOperation{
      .call = owned(*torch, call), .name = step.op, .results = std::move(results.tensors)};
}

DeviceResult<Operation> bind_module(TorchHost *torch, const model::ModuleStep &step,
                                    const model::Task &task, const BoundBuffers &buffers) {
  if (!torch)
    return std::unexpected(no_torch());
  std::vector<TensorArgument> outputs = tensors_of(task, buffers, is_made);
  auto call = TRY(torch->bind_module(step, tensors_of(task, buffers, is_given), outputs, false));
  const bool is_host_code = !step.source.empty();
  return TorchOperation{.call = owned(*torch, call),
                        .is_module = !is_host_code,
                        .is_host_code = is_host_code,
                        .name = is_host_code ? "the candidate's module" : "the module",
                        .results = std::move(outputs)};
}

DeviceResult<Operation> bind_exact_module(TorchHost *torch, const model::Task &task,
                                          const BoundBuffers &buffers,
                                          const BoundBuffers &results) {
  if (!torch)
    return std::unexpected(no_torch());
  std::vector<TensorArgument> outputs = tensors_of(task, results, is_made);
  for (TensorArgument &state : tensors_of(task, results, [](const model::Buffer &buffer) {
         return buffer.direction == Direction::InOut;
       }))
    outputs.push_back(std::move(state));
  auto call = TRY(torch->bind_module({}, tensors_of(task, buffers, is_given), outputs, true));
  return TorchOperation{.call = owned(*torch, call),
                        .is_module = true,
                        .name = "the module in float64",
                        .results = std::move(outputs)};
}

DeviceResult<void> run_torch(TorchHost &torch, const TorchOperation &operation) {
  if (operation.is_module)
    TRY(torch.refresh(*operation.call));
  TRY(torch.call(*operation.call));
  return torch.publish(*operation.call);
}

} // namespace warpwright::runner
