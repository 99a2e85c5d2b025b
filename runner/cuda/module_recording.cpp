// Implementation of ModuleRecorder: warm-up, capture, and the program of the timed call.
#include "runner/cuda/module_recording.h"

#include <algorithm>

namespace warpwright::runner::cuda {
namespace {

constexpr unsigned kEventRecordExternal = 1; ///< CU_EVENT_RECORD_EXTERNAL
/// Runs before a capture, as PyTorch's notes on CUDA graphs require: cuDNN chooses plans, and
/// cuBLAS allocates workspaces.
constexpr int kWarmUps = 3;

std::size_t size_bytes_of(const TensorArgument &tensor) {
  std::int64_t last = 0, stride = 1;
  for (std::size_t i = tensor.shape.size(); i-- > 0;) {
    if (tensor.shape[i] == 0)
      return 0;
    last += (tensor.shape[i] - 1) * (tensor.strides.empty() ? stride : tensor.strides[i]);
    stride *= tensor.shape[i];
  }
  return static_cast<std::size_t>(last + 1) * model::size_bytes(tensor.dtype);
}

Place place_of(const TensorArgument &tensor) { return {tensor.address, size_bytes_of(tensor)}; }

/// Whether a result of torch updates an argument (state). Kernels then read the argument's memory.
bool is_argument(const CallFrame &frame, const TensorArgument &result) {
  return std::ranges::find(frame.arguments, result.address, &TensorArgument::address) !=
         frame.arguments.end();
}

/// An unpublished result of torch: `to` is the result's address, and `from` is the buffer that the
/// result will be published to.
struct Moved {
  Place from;
  Address to = 0;
};

Address moved(const std::vector<Moved> &places, Address address) {
  for (auto place = places.rbegin(); place != places.rend(); ++place)
    if (address >= place->from.address && address <= place->from.address + place->from.size_bytes)
      return place->to + (address - place->from.address);
  return address;
}

LaunchOperation moved(const std::vector<Moved> &places, LaunchOperation launch) {
  for (ArgumentValue &argument : launch.arguments)
    argument.move_addresses([&](Address address) { return moved(places, address); });
  return launch;
}

} // namespace

ModuleRecording::~ModuleRecording() {
  if (call >= 0)
    torch_.forget_call(call);
  if (graph >= 0)
    torch_.forget_graph(graph);
}

DeviceResult<void> ModuleRecording::refresh() const {
  for (const auto &handle : calls)
    TRY(torch_.refresh(*handle));
  return {};
}

DeviceResult<std::unique_ptr<ModuleRecording>>
ModuleRecorder::record(std::span<const Operation> operations, const CallFrame &frame) {
  auto recording = std::make_unique<ModuleRecording>(torch_);
  recording->start = make_event(driver_);
  recording->stop = make_event(driver_);
  if (!recording->start || !recording->stop)
    return fault(Fault::Kind::Internal, "cannot make events");
  for (const Operation &operation : operations)
    if (const auto *torch = std::get_if<TorchOperation>(&operation))
      recording->calls.push_back(torch->call);
  TRY(recording->refresh());
  TRY(warm_up(operations));
  if (auto captured = capture(operations, *recording); !captured) {
    const bool is_module = std::ranges::any_of(operations, [](const Operation &operation) {
      const auto *torch = std::get_if<TorchOperation>(&operation);
      return torch && torch->is_module;
    });
    if (!is_module || captured.error().kind != Fault::Kind::Unsupported)
      return std::unexpected(captured.error());
    recording->uncaptured = captured.error().message;
  }
  const bool is_part = frame.arguments.empty() && frame.outputs.empty() &&
                       std::ranges::none_of(operations, [](const Operation &operation) {
                         const auto *torch = std::get_if<TorchOperation>(&operation);
                         return torch && torch->is_module;
                       });
  if (!is_part)
    TRY(make_call(operations, frame, *recording));
  return recording;
}

DeviceResult<void> ModuleRecorder::start(std::span<const Operation> operations) {
  std::vector<Moved> places;
  for (const Operation &operation : operations) {
    DeviceResult<void> started;
    if (const auto *launch = std::get_if<LaunchOperation>(&operation)) {
      started = device_.launch(moved(places, *launch));
    } else if (const auto *fill = std::get_if<FillOperation>(&operation)) {
      started = device_.fill({moved(places, fill->address), fill->byte, fill->size_bytes});
    } else {
      const auto &torch = std::get<TorchOperation>(operation);
      started = torch_.call(*torch.call);
      if (started && !torch.is_module) {
        const auto results = TRY(torch_.results(*torch.call));
        for (std::size_t i = 0; i < std::min(results.size(), torch.results.size()); ++i)
          if (torch.results[i].address != 0)
            places.push_back({place_of(torch.results[i]), results[i]});
      }
    }
    if (!started)
      return started;
  }
  return {};
}

DeviceResult<void> ModuleRecorder::warm_up(std::span<const Operation> operations) {
  for (int i = 0; i < kWarmUps; ++i) {
    TRY(torch_.begin_unpublished());
    auto started = start(operations);
    auto ended = torch_.end_unpublished();
    if (!started || !ended)
      return started ? ended : started;
    TRY(device_.synchronize());
  }
  return {};
}

DeviceResult<void> ModuleRecorder::capture(std::span<const Operation> operations,
                                           ModuleRecording &recording) {
  TRY(torch_.begin_unpublished());
  auto graph = torch_.begin_capture();
  if (!graph) {
    (void)torch_.end_unpublished();
    return std::unexpected(graph.error());
  }
  const Status first =
      driver_.cuEventRecordWithFlags(recording.start.get(), stream_, kEventRecordExternal);
  auto started = start(operations);
  const Status second =
      driver_.cuEventRecordWithFlags(recording.stop.get(), stream_, kEventRecordExternal);
  auto ended = torch_.end_capture(*graph, started.has_value() && first == 0 && second == 0);
  auto published = torch_.end_unpublished();
  recording.graph = *graph;
  if (!ended && ended.error().device_lost)
    return ended;
  if (!started)
    return started;
  for (const Status status : {first, second})
    if (status != 0)
      return std::unexpected(driver_.to_fault(status, "recording a time stamp"));
  return ended ? published : ended;
}

DeviceResult<void> ModuleRecorder::make_call(std::span<const Operation> operations,
                                             const CallFrame &frame, ModuleRecording &recording) {
  CallProgram program{.module = 0, .steps = {}, .executor = 0, .frame = frame};
  std::vector<Place> results;
  for (const Operation &operation : operations)
    if (const auto *torch = std::get_if<TorchOperation>(&operation)) {
      if (torch->is_module)
        program.module = *torch->call;
      for (const TensorArgument &result : torch->results)
        results.push_back(is_argument(frame, result) ? Place() : place_of(result));
    }
  if (program.module == 0) {
    // The call does not allocate temporaries that are results of torch calls.
    std::erase_if(program.frame.temporaries, [&](const TensorArgument &temporary) {
      return std::ranges::find(results, temporary.address, &Place::address) != results.end();
    });
    std::vector<Place> places;
    for (const auto *tensors :
         {&program.frame.arguments, &program.frame.outputs, &program.frame.temporaries})
      for (const TensorArgument &tensor : *tensors)
        places.push_back(place_of(tensor));
    places.insert(places.end(), results.begin(), results.end());
    recording.launches = std::make_unique<FrameLaunches>(driver_, stream_, std::move(places));
    program.executor =
        reinterpret_cast<std::int64_t>(static_cast<CallExecutor *>(recording.launches.get()));
  }
  bool in_group = false;
  for (const Operation &operation : operations) {
    if (const auto *torch = std::get_if<TorchOperation>(&operation)) {
      if (!torch->is_module)
        program.steps.push_back({.call = *torch->call});
      in_group = false;
      continue;
    }
    if (program.module != 0)
      return fault(Fault::Kind::Unsupported, "a plan calls either the module or kernels");
    if (!std::exchange(in_group, true))
      program.steps.push_back(
          {.group = static_cast<std::int64_t>(recording.launches->begin_group())});
    if (const auto *fill = std::get_if<FillOperation>(&operation)) {
      recording.launches->add(*fill);
      continue;
    }
    const auto &launch = std::get<LaunchOperation>(operation);
    auto function = TRY(prepare_(launch));
    recording.launches->add(function, launch);
  }
  recording.call = TRY(torch_.make_call(program));
  return {};
}

} // namespace warpwright::runner::cuda
