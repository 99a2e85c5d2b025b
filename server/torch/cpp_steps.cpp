// Statement by statement as the runner's executor does it: buffers are tensors, temporaries come from torch's allocator, results of ATen
// calls are the operator's own memory.
#include "server/torch/cpp_steps.h"

#include "server/torch/step_values.h"

#include <algorithm>
#include <set>

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
    return {}; // unsigned types wider than a byte are younger than the oldest torch
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

std::string triple(const std::array<std::int64_t, 3> &values) {
  return "dim3(" + std::to_string(values[0]) + ", " + std::to_string(values[1]) + ", " +
         std::to_string(values[2]) + ")";
}

class Writer {
public:
  Writer(const model::Task &task, const model::Plan &plan, std::size_t given)
      : task_(task), plan_(plan), given_(given) {}

  Result<CppSteps> write() {
    for (const model::Step &step : plan_.steps)
      if (const auto *aten = std::get_if<model::AtenStep>(&step))
        for (const model::TensorView &result : aten->results)
          adopted_.insert(result.buffer);
    if (auto declared = declare_buffers(); !declared)
      return std::unexpected(declared.error());
    for (const model::Step &step : plan_.steps)
      if (auto written = write_step(step); !written)
        return std::unexpected(written.error());
    for (const Buffer &buffer : task_.buffers)
      if (buffer.direction == Direction::Out)
        steps_.outputs += (steps_.outputs.empty() ? "" : ", ") + buffer.name + "_";
    return std::move(steps_);
  }

private:
  Result<void> declare_buffers() {
    std::string outputs;
    for (const Buffer &buffer : task_.buffers) {
      const std::string dtype = scalar_type(buffer.dtype);
      if (dtype.empty())
        return fail("no dtype of torch for the buffer " + buffer.name);
      if (buffer.direction == Direction::Out) {
        if (!adopted_.contains(buffer.name))
          outputs += "  at::Tensor " + buffer.name + "_ = at::empty(" + list(buffer.shape) +
                     ", on_device.dtype(" + dtype + "));\n";
        else
          outputs += "  at::Tensor " + buffer.name + "_;\n";
        continue;
      }
      if (static_cast<std::size_t>(&buffer - task_.buffers.data()) >= given_ &&
          !is_used(buffer.name))
        continue;
      const std::string input = "inputs[" + std::to_string(steps_.inputs.size()) + "]";
      steps_.inputs.push_back(buffer.name);
      steps_.checks += "  if (!fits(" + input + ", " + dtype + ", " + list(buffer.shape) +
                       "))\n    return {};\n";
      steps_.body += "  at::Tensor " + buffer.name + "_ = " + input + ";\n";
    }
    steps_.body += outputs;
    for (const model::Temporary &temporary : plan_.temporaries) {
      const std::string dtype = scalar_type(temporary.dtype);
      const auto extent = temporary.extent.evaluate(task_.sizes);
      if (!extent || dtype.empty())
        return fail("the temporary " + temporary.name + " has no size or dtype in torch");
      if (adopted_.contains(temporary.name))
        steps_.body += "  at::Tensor " + temporary.name + "_;\n";
      else
        steps_.body += "  at::Tensor " + temporary.name + "_ = at::empty({" +
                       std::to_string(*extent) + "}, on_device.dtype(" + dtype + "));\n";
    }
    return {};
  }

  bool is_used(const std::string &buffer) const {
    const auto views = [&](const model::AtenArgument &argument) {
      const auto *one = std::get_if<model::TensorView>(&argument);
      const auto *several = std::get_if<std::vector<model::TensorView>>(&argument);
      return (one && one->buffer == buffer) ||
             (several &&
              std::ranges::find(*several, buffer, &model::TensorView::buffer) != several->end());
    };
    return std::ranges::any_of(plan_.steps, [&](const model::Step &step) {
      if (const auto *launch = std::get_if<model::LaunchStep>(&step))
        return std::ranges::any_of(launch->arguments, [&](const model::Argument &argument) {
          const auto *use = std::get_if<model::BufferArgument>(&argument);
          return use && use->buffer == buffer;
        });
      if (const auto *fill = std::get_if<model::FillStep>(&step))
        return fill->buffer == buffer;
      const auto *aten = std::get_if<model::AtenStep>(&step);
      return aten && (std::ranges::any_of(aten->arguments, views) ||
                      std::ranges::find(aten->results, buffer, &model::TensorView::buffer) !=
                          aten->results.end());
    });
  }

  Result<void> write_step(const model::Step &step) {
    if (const auto *launch = std::get_if<model::LaunchStep>(&step))
      return write_launch(*launch);
    if (const auto *fill = std::get_if<model::FillStep>(&step)) {
      steps_.body += "  C10_CUDA_CHECK(cudaMemsetAsync(" + fill->buffer + "_.data_ptr(), " +
                     std::to_string(fill->byte) + ", " + fill->buffer + "_.nbytes(), stream));\n";
      return {};
    }
    if (const auto *aten = std::get_if<model::AtenStep>(&step))
      return write_aten(*aten);
    return fail("a plan holds the module itself as a step");
  }

  Result<void> write_launch(const model::LaunchStep &launch) {
    const auto values = launch_values(launch, task_.sizes);
    if (!values)
      return std::unexpected(values.error());
    std::string arguments;
    for (const ArgumentValue &argument : values->arguments)
      arguments +=
          ", " + std::visit([](const auto &value) { return argument_text(value); }, argument);
    const std::size_t which = kernel_index(launch.kernel, values->shared_bytes);
    const auto product = [](const std::array<std::int64_t, 3> &of) {
      return of[0] * of[1] * of[2];
    };
    if (launch.cooperative)
      steps_.together[which] = std::max(steps_.together[which], product(values->grid));
    steps_.threads[which] = std::max(steps_.threads[which], product(values->block));
    steps_.body += std::string("  launch") + (launch.cooperative ? "_together" : "") +
                   "(kernels->functions[" + std::to_string(which) + "], " + triple(values->grid) +
                   ", " + triple(values->block) + ", " + std::to_string(values->shared_bytes) +
                   ", stream" + arguments + ");\n";
    return {};
  }

  std::size_t kernel_index(const std::string &kernel, std::int64_t shared) {
    const auto known = std::ranges::find(steps_.kernels, kernel);
    const auto index = static_cast<std::size_t>(known - steps_.kernels.begin());
    if (known == steps_.kernels.end()) {
      steps_.kernels.push_back(kernel);
      steps_.shared_bytes.push_back(shared);
      steps_.together.push_back(0);
      steps_.threads.push_back(1);
    }
    steps_.shared_bytes[index] = std::max(steps_.shared_bytes[index], shared);
    return index;
  }

  static std::string argument_text(const BufferPlace &place) {
    return "address(" + place.buffer + "_, " + std::to_string(place.offset) + ")";
  }
  static std::string argument_text(const SizeValue &size) {
    return "static_cast<" + c_type(size.dtype) + ">(" + std::to_string(size.value) + ")";
  }
  static std::string argument_text(const model::ConstantArgument &constant) {
    return "static_cast<" + c_type(constant.dtype) + ">(" + number(constant.value) + ")";
  }

  std::string view(const model::TensorView &tensor) const {
    return tensor.buffer + "_.as_strided(" + list(tensor.shape) + ", " + list(strides_of(tensor)) +
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
        return fail("an operator takes a list with tensors left out",
                    "Apply another variant, or optimise the module from Python");
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

  Result<void> write_aten(const model::AtenStep &step) {
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

  /// A temporary or an output takes the operator's memory; state is written in place.
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
  const model::Plan &plan_;
  const std::size_t given_;
  std::set<std::string> adopted_;
  CppSteps steps_;
  int calls_ = 0;
};

} // namespace

Result<CppSteps> write_cpp_steps(const model::Task &task, const model::Plan &plan,
                                 std::size_t given) {
  return Writer(task, plan, given).write();
}

} // namespace warpwright::server
