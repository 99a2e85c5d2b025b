// C++ statements for each step of a plan, as the runner's executor runs it: buffers are tensors, torch's allocator
// provides temporaries, and the result of an ATen call uses the operator's own memory.
#include "server/export/cpp_steps.h"

#include "support/model/graph.h"
#include "support/text.h"

#include <algorithm>

namespace warpwright::server {
namespace {

using model::Buffer;
using model::Direction;
using model::Dtype;

std::string scalar_type(Dtype dtype) {
  switch (dtype) {
  case Dtype::Bool:
    return "at::kBool";
  case Dtype::Int8:
    return "at::kChar";
  case Dtype::UInt8:
    return "at::kByte";
  case Dtype::Int16:
    return "at::kShort";
  case Dtype::Int32:
    return "at::kInt";
  case Dtype::Int64:
    return "at::kLong";
  case Dtype::Float16:
    return "at::kHalf";
  case Dtype::BFloat16:
    return "at::kBFloat16";
  case Dtype::Float64:
    return "at::kDouble";
  case Dtype::Float32:
    return "at::kFloat";
  default:
    return {}; // the oldest supported torch lacks unsigned types wider than a byte
  }
}

/// The C++ type of a kernel's scalar argument.
std::string c_type(Dtype dtype) {
  switch (dtype) {
  case Dtype::Bool:
    return "bool";
  case Dtype::Float64:
    return "double";
  case Dtype::Float32:
    return "float";
  case Dtype::Int64:
    return "long long";
  case Dtype::UInt64:
    return "unsigned long long";
  case Dtype::UInt32:
    return "unsigned";
  case Dtype::Int16:
    return "short";
  case Dtype::UInt16:
    return "unsigned short";
  case Dtype::Int8:
    return "signed char";
  case Dtype::UInt8:
    return "unsigned char";
  case Dtype::Float16:
    return "at::Half";
  case Dtype::BFloat16:
    return "at::BFloat16";
  default:
    return "int";
  }
}

std::string list(const std::vector<std::int64_t> &values) {
  std::string text = "at::IntArrayRef({";
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return values.empty() ? "at::IntArrayRef()" : text + "})";
}

std::string number(double value) {
  if (value != value)
    return "NAN";
  if (value - value != 0)
    return value > 0 ? "INFINITY" : "-INFINITY";
  return exact_number(value);
}

std::string triple(const std::array<std::uint32_t, 3> &values) {
  return "dim3(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + ")";
}

class Writer {
public:
  Writer(const model::Task &task, const plan::Program &program, std::size_t given)
      : task_(task), program_(program), given_(given) {}

  Result<CppSteps> write() {
    steps_.kernels = program_.kernels;
    if (auto declared = declare_places(); !declared)
      return std::unexpected(declared.error());
    for (const plan::Step &step : program_.steps)
      if (auto written = std::visit([&](const auto &one) { return write_step(one); }, step);
          !written)
        return std::unexpected(written.error());
    for (const plan::Place &place : program_.places)
      if (place.kind == plan::Place::Kind::Output)
        steps_.outputs += (steps_.outputs.empty() ? "" : ", ") + place.name + "_";
    return std::move(steps_);
  }

private:
  Result<void> declare_places() {
    std::string made;
    for (std::size_t i = 0; i < program_.places.size(); ++i) {
      const plan::Place &place = program_.places[i];
      const std::string dtype = scalar_type(place.dtype);
      if (dtype.empty())
        return fail("torch has no dtype " + std::string(model::name(place.dtype)) + " for " +
                    place.name);
      if (place.kind == plan::Place::Kind::Argument) {
        if (i < given_ || place.is_used)
          declare_input(place, dtype);
      } else if (place.is_an_operators) {
        made += "  at::Tensor " + place.name + "_;\n";
      } else {
        const bool is_output = place.kind == plan::Place::Kind::Output;
        made += "  at::Tensor " + place.name + "_ = at::empty(" +
                list(is_output ? place.shape : std::vector{place.elements}) +
                ", on_device.dtype(" + dtype + "));\n";
      }
    }
    steps_.body += made;
    return {};
  }

  void declare_input(const plan::Place &place, const std::string &dtype) {
    const std::string input = "inputs[" + std::to_string(steps_.inputs.size()) + "]";
    steps_.inputs.push_back(place.name);
    steps_.checks += "  if (!fits(" + input + ", " + dtype + ", " + list(place.shape) +
                     "))\n    return {};\n";
    steps_.body += "  at::Tensor " + place.name + "_ = " + input + ";\n";
  }

  Result<void> write_step(const plan::Launch &launch) {
    std::string arguments;
    for (const plan::Argument &argument : launch.arguments)
      arguments +=
          ", " + std::visit([&](const auto &value) { return argument_text(value); }, argument);
    const char *how = launch.cooperative ? "_together" : launch.overlapped ? "_overlapped" : "";
    steps_.body += std::string("  launch") + how + "(kernels->functions[" +
                   std::to_string(launch.kernel) + "], " + triple(launch.grid) + ", " +
                   triple(launch.block) + ", " + std::to_string(launch.shared_bytes) + ", stream" +
                   arguments + ");\n";
    return {};
  }

  Result<void> write_step(const plan::Fill &fill) {
    const std::string buffer = program_.places[fill.place].name + "_";
    steps_.body += "  C10_CUDA_CHECK(cudaMemsetAsync(" + buffer + ".data_ptr(), " +
                   std::to_string(fill.byte) + ", " + buffer + ".nbytes(), stream));\n";
    return {};
  }

  Result<void> write_step(const model::ModuleStep *) {
    return fail("a plan holds the module itself as a step");
  }

  std::string argument_text(const plan::PlaceArgument &argument) const {
    const std::string address = "address(" + program_.places[argument.place].name + "_, " +
                                std::to_string(argument.offset) + ")";
    if (const auto &map = argument.map)
      return "tensor_map(" + address + ", " + std::to_string(map->driver_dtype()) + ", " +
             list(map->extents) + ", " + list(map->strides_bytes()) + ", " + list(map->box) + ", " +
             std::to_string(map->driver_swizzle()) +
             (map->window ? ", " + list(map->window->first) + ", " + list(map->window->last) + ", " +
                                list(map->window->steps)
                          : "") +
             ")";
    return address;
  }
  /// Plans of modules pass no structs (support/model/check_plan.cpp).
  static std::string argument_text(const plan::StructArgument &) { return {}; }
  static std::string argument_text(const plan::NumberArgument &argument) {
    const auto *real = std::get_if<double>(&argument.value);
    return "static_cast<" + c_type(argument.dtype) + ">(" +
           (real ? number(*real) : std::to_string(std::get<std::int64_t>(argument.value))) + ")";
  }

  std::string view(const model::TensorView &tensor) const {
    return tensor.buffer + "_.as_strided(" + list(tensor.shape) + ", " +
           list(model::strides_of({model::Dtype::Float32, tensor.shape, tensor.strides})) +
           ", " + tensor.buffer + "_.storage_offset() + " + std::to_string(tensor.offset) + ")";
  }

  Result<std::string> aten_argument(const model::AtenArgument &argument) const {
    if (std::holds_alternative<std::monostate>(argument))
      return std::string("{}");
    if (const auto *tensor = std::get_if<model::TensorView>(&argument))
      return view(*tensor);
    if (const auto *tensors = std::get_if<std::vector<model::TensorView>>(&argument)) {
      std::string text = "std::vector<at::Tensor>{";
      if (std::ranges::find(*tensors, "", &model::TensorView::buffer) != tensors->end())
        return fail("an operator takes a list with missing tensors",
                    "Apply another variant, or optimize the module from Python");
      for (std::size_t i = 0; i < tensors->size(); ++i)
        text += (i ? ", " : "") + view((*tensors)[i]);
      return text + "}";
    }
    if (const auto *flag = std::get_if<bool>(&argument))
      return std::string(*flag ? "true" : "false");
    if (const auto *integer = std::get_if<std::int64_t>(&argument))
      return "static_cast<int64_t>(" + std::to_string(*integer) + ")";
    if (const auto *real = std::get_if<double>(&argument))
      return number(*real);
    if (const auto *integers = std::get_if<std::vector<std::int64_t>>(&argument))
      return list(*integers);
    const auto &word = std::get<std::string>(argument);
    if (const auto dtype = model::dtype_from_name(word); dtype && !scalar_type(*dtype).empty())
      return scalar_type(*dtype);
    return "\"" + word + "\"";
  }

  Result<void> write_step(const model::AtenStep *given) {
    const model::AtenStep &step = *given;
    const std::string name = step.op.substr(step.op.find("::") + 2);
    std::string call = "at::" + name.substr(0, name.find('.')) + "(";
    bool first = true;
    for (const model::AtenArgument &argument : step.arguments) {
      auto text = aten_argument(argument);
      if (!text)
        return std::unexpected(text.error());
      call += (first ? "" : ", ") + *text;
      first = false;
    }
    if (!step.keywords.empty())
      return fail(step.op + " is called with keywords, which C++ does not have",
                  "Give all arguments by position");
    const std::string results = "results" + std::to_string(calls_++);
    steps_.body += "  const auto " + results + " = " + call + ");\n";
    for (std::size_t i = 0; i < step.results.size(); ++i)
      if (!step.results[i].buffer.empty())
        adopt(step.results[i], step.results.size() == 1
                                   ? results
                                   : "std::get<" + std::to_string(i) + ">(" + results + ")");
    return {};
  }

  /// Assigns an operator's result to its buffer: a temporary or an output uses its memory, state is copied in place.
  void adopt(const model::TensorView &result, const std::string &tensor) {
    for (const Buffer &buffer : task_.buffers)
      if (buffer.name == result.buffer && buffer.direction == Direction::InOut) {
        steps_.body += "  " + view(result) + ".copy_(" + tensor + ");\n";
        return;
      } else if (buffer.name == result.buffer) {
        steps_.body +=
            "  " + result.buffer + "_ = " + tensor + ".reshape(" + list(buffer.shape) + ");\n";
        return;
      }
    steps_.body += "  " + result.buffer + "_ = " + tensor + ";\n";
  }

  const model::Task &task_;
  const plan::Program &program_;
  const std::size_t given_;
  CppSteps steps_;
  int calls_ = 0;
};

} // namespace

Result<CppSteps> write_cpp_steps(const model::Task &task, const model::Plan &plan,
                                 std::size_t given) {
  const auto program = plan::program_of(plan, task, task.sizes);
  if (!program)
    return std::unexpected(program.error());
  return Writer(task, *program, given).write();
}

} // namespace warpwright::server
