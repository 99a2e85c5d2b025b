// Checks of a plan that a schema cannot express: names exist, expressions evaluate at the task's
// sizes, shapes and extents lie within CUDA's limits, the source includes only toolkit headers
// (check_includes.cpp), and operators are pure and stay inside their buffers (check_aten.cpp).
#include "support/model/json.h"
#include "support/model/plan_checks.h"

#include <algorithm>

namespace warpwright::model {
namespace {

constexpr std::int64_t kMaxBufferBytes = std::int64_t{1} << 36;
constexpr std::int64_t kMaxGridX = (std::int64_t{1} << 31) - 1,
                       kMaxGridYZ = 65535; // CUDA guide, 21.2
constexpr std::int64_t kMaxThreads = 1024, kMaxBlockZ = 64;
constexpr std::int64_t kMaxSharedBytes = 256 * 1024;
constexpr std::int64_t kMapAlignment = 16, kMaxMapExtent = std::int64_t{1} << 32,
                       kMaxMapStride = (std::int64_t{1} << 40) - 1; // bytes, but of extents

Result<std::int64_t> bounded(const symbolic::Expression &expression, const symbolic::Sizes &sizes,
                             std::int64_t low, std::int64_t high, const std::string &what) {
  auto value = expression.evaluate(sizes);
  if (!value)
    return fail(what + " \"" + expression.text() + "\": " + value.error().message,
                value.error().remedy);
  if (*value < low || *value > high)
    return fail(what + " \"" + expression.text() + "\" is " + std::to_string(*value) +
                    " at the task's sizes",
                "It must lie between " + std::to_string(low) + " and " + std::to_string(high));
  return *value;
}

/// Generated source contains the name, so the name must not add lines or directives.
Result<void> check_kernel_name(const std::string &name, const std::string &where) {
  for (const char c : name)
    if (static_cast<unsigned char>(c) < ' ' || std::string_view("#\"'\\;{}").contains(c))
      return fail(where + ".kernel: this is not the name of a kernel",
                  "Name a kernel of the source, with its template arguments: reduce<float, 256>");
  return {};
}

class Checker {
public:
  /// @param is_reference whether the task's module may be called
  Checker(const Plan &plan, const Task &task, bool is_reference)
      : plan_(plan), task_(task), is_reference_(is_reference) {}

  Result<void> run() {
    TRY(check_includes(plan_.source));
    TRY(check_names());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      TRY(check_step(plan_.steps[i], "steps[" + std::to_string(i) + "]"));
    return {};
  }

private:
  Result<void> check_names() {
    for (const Buffer &buffer : task_.buffers)
      if (auto added = add_buffer(buffer.name, buffer.dtype, buffer.extent, "buffers"); !added)
        return added;
      else
        buffers_[buffer.name].is_input = buffer.direction == Direction::In;
    for (const Temporary &temporary : plan_.temporaries)
      if (auto added = add_buffer(temporary.name, temporary.dtype, temporary.extent, "temporaries");
          !added)
        return added;
      else
        buffers_[temporary.name].is_temporary = true;
    for (const Step &step : plan_.steps)
      if (const auto *aten = std::get_if<AtenStep>(&step))
        for (const TensorView &view : aten->results)
          if (const auto found = buffers_.find(view.buffer); found != buffers_.end())
            found->second.is_result = true;
    return {};
  }

  Result<void> add_buffer(const std::string &name, Dtype dtype, const symbolic::Expression &extent,
                          const char *list) {
    const std::string where = std::string(list) + "." + name;
    auto elements = TRY(bounded(extent, task_.sizes, 0,
                                kMaxBufferBytes / static_cast<std::int64_t>(size_bytes(dtype)),
                                where + ".extent"));
    dtypes_[name] = dtype;
    if (!buffers_.emplace(name, KnownBuffer{.elements = elements}).second)
      return fail(where + ": the name is taken", "Give every buffer and temporary its own name");
    return {};
  }

  Result<std::int64_t> extent_of(const std::string &name, const std::string &where) {
    auto buffer = TRY(find_buffer(buffers_, name, where));
    TRY(check_made(*buffer, name, where));
    return buffer->elements;
  }

  Result<void> check_step(const Step &step, const std::string &where) {
    if (const auto *fill = std::get_if<FillStep>(&step)) {
      auto extent = extent_of(fill->buffer, where + ".fill.buffer");
      if (extent && buffers_.at(fill->buffer).is_temporary && buffers_.at(fill->buffer).is_result)
        return fail(where + ".fill.buffer: \"" + fill->buffer + "\" is an operator's own memory",
                    "Fill another temporary");
      return extent ? Result<void>{} : std::unexpected(extent.error());
    }
    if (const auto *aten = std::get_if<AtenStep>(&step))
      return check_aten(*aten, buffers_, where + ".aten");
    if (const auto *module = std::get_if<ModuleStep>(&step))
      return check_module(*module, where + ".module");
    const auto &launch = std::get<LaunchStep>(step);
    if (plan_.source.empty())
      return fail(where + ".launch: the plan has no source", "Put the kernels into `source`");
    TRY(check_kernel_name(launch.kernel, where + ".launch"));
    TRY(check_shape(launch, where + ".launch"));
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      TRY(check_argument(launch.arguments[i],
                         where + ".launch.arguments[" + std::to_string(i) + "]"));
    return {};
  }

  Result<void> check_module(const ModuleStep &step, const std::string &where) const {
    if (!task_.module)
      return fail(where + ": only torch tasks have modules", "Compute it by launches");
    if (step.source.empty())
      return is_reference_ ? Result<void>{}
                           : fail(where + ": only the reference of a torch task calls its module",
                                  "Compute it by launches and operators");
    if (is_reference_)
      return fail(where + ".source: a reference calls the task's own module", "Leave it out");
    if (plan_.steps.size() != 1 || step.compiled || !plan_.source.empty())
      return fail(where + ": another system's module is a plan's only step",
                  "Give {\"source\": \"\", \"steps\": [{\"module\": {\"source\": ...}}]}");
    for (const auto &[name, text] : step.files)
      if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos)
        return fail(where + ".files: \"" + name + "\" is not a plain file name",
                    "Name files without folders");
    return {};
  }

  Result<void> check_shape(const LaunchStep &launch, const std::string &where) {
    std::int64_t threads = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::string index = "[" + std::to_string(axis) + "]";
      auto grid = bounded(launch.grid[axis], task_.sizes, 1, axis ? kMaxGridYZ : kMaxGridX,
                          where + ".grid" + index);
      auto block = bounded(launch.block[axis], task_.sizes, 1, axis == 2 ? kMaxBlockZ : kMaxThreads,
                           where + ".block" + index);
      if (!grid || !block)
        return std::unexpected(grid ? block.error() : grid.error());
      threads *= *block;
    }
    if (threads > kMaxThreads)
      return fail(where + ".block: a block of " + std::to_string(threads) + " threads",
                  "A block holds at most " + std::to_string(kMaxThreads));
    auto shared =
        bounded(launch.shared_bytes, task_.sizes, 0, kMaxSharedBytes, where + ".shared_bytes");
    return shared ? Result<void>{} : std::unexpected(shared.error());
  }

  Result<void> check_argument(const Argument &argument, const std::string &where) {
    if (const auto *whole = std::get_if<StructArgument>(&argument))
      return check_struct(*whole, where);
    return check_plain(argument, where);
  }

  std::int64_t bytes_of(const PlainArgument &value) const {
    const auto width = [](Dtype dtype) { return static_cast<std::int64_t>(size_bytes(dtype)); };
    if (const auto *size = std::get_if<SizeArgument>(&value))
      return width(size->dtype);
    if (const auto *constant = std::get_if<ConstantArgument>(&value))
      return width(constant->dtype);
    if (const auto *scalar = std::get_if<ScalarArgument>(&value))
      for (const Scalar &candidate : task_.scalars)
        if (candidate.name == scalar->scalar)
          return width(candidate.dtype);
    return 8; // an address
  }

  Result<void> check_struct(const StructArgument &whole, const std::string &where) {
    if (task_.module)
      return fail(where + ": plans of modules pass no structs", "Pass addresses and numbers");
    for (const StructArgument::Field &field : whole.fields) {
      const std::string place = where + ".fields at " + std::to_string(field.offset);
      TRY(std::visit([&](const auto &value) { return check_plain(value, place); }, field.value));
      if (const auto *buffer = std::get_if<BufferArgument>(&field.value); buffer && buffer->map)
        return fail(place + ": a struct contains no tensor map", "Pass the map as a separate argument");
      if (field.offset + bytes_of(field.value) > whole.size_bytes)
        return fail(place + ": the field ends behind the struct of " + std::to_string(whole.size_bytes) + " bytes",
                    "Give struct_bytes as sizeof has it");
    }
    return {};
  }

  Result<void> check_plain(const Argument &argument, const std::string &where) {
    if (const auto *buffer = std::get_if<BufferArgument>(&argument)) {
      auto extent = TRY(extent_of(buffer->buffer, where + ".buffer"));
      const auto offset = TRY(bounded(buffer->offset, task_.sizes, 0, extent, where + ".offset"));
      return buffer->map ? check_map(*buffer, extent - offset, offset, where + ".map")
                         : Result<void>{};
    }
    if (const auto *size = std::get_if<SizeArgument>(&argument)) {
      auto value = size->value.evaluate(task_.sizes);
      return value ? Result<void>{}
                   : fail(where + ".size: " + value.error().message, value.error().remedy);
    }
    if (const auto *scalar = std::get_if<ScalarArgument>(&argument)) {
      for (const Scalar &candidate : task_.scalars)
        if (candidate.name == scalar->scalar)
          return {};
      return fail(where + ": there is no scalar \"" + scalar->scalar + "\"",
                  "Name one of the task's scalars");
    }
    return {};
  }

  /// Whether the tiles' memory lies within the buffer, and the driver can encode the map (CUDA driver
  /// API, cuTensorMapEncodeTiled). @param room elements from the map's first one on
  Result<void> check_map(const BufferArgument &argument, std::int64_t room, std::int64_t offset,
                         const std::string &where) {
    const TensorMap &map = *argument.map;
    const auto bytes = static_cast<std::int64_t>(size_bytes(dtypes_.at(argument.buffer)));
    if (map.strides.size() + 1 != map.extents.size() ||
        (!map.window && map.extents.size() != map.box.size()))
      return fail(where + ": extents and box need as many numbers, strides one less",
                  "Omit the innermost stride, which is 1");
    if (map.rounds_to_tf32 && dtypes_.at(argument.buffer) != Dtype::Float32)
      return fail(where + ": only float32 rounds to TF32", "Leave out rounds_to_tf32");
    if (map.window)
      TRY(check_window(map, where + ".window"));
    if (map.swizzle_bytes > 0 && map.box.front() * bytes > map.swizzle_bytes)
      return fail(where + ".box: a row of " + std::to_string(map.box.front() * bytes) +
                      " bytes is wider than the swizzle",
                  "Make it at most " + std::to_string(map.swizzle_bytes) + " bytes");
    if (offset * bytes % kMapAlignment != 0 || map.box.front() * bytes % kMapAlignment != 0)
      return fail(where + ": it begins, or its rows end, at no multiple of 16 bytes",
                  "Copy such operands by the threads");
    constexpr std::int64_t kMostRows = 256;
    if (!map.window && std::ranges::max(map.box) > kMostRows)
      return fail(where + ".box: a tile has more than 256 elements along a dimension", "Take several tiles");
    std::int64_t last = 0;
    for (std::size_t i = 0; i < map.extents.size(); ++i) {
      const auto extent =
          TRY(bounded(map.extents[i], task_.sizes, 1, kMaxMapExtent, where + ".extents"));
      const auto stride = i == 0 ? std::int64_t{1}
                                 : TRY(bounded(map.strides[i - 1], task_.sizes, 0,
                                               kMaxMapStride / bytes, where + ".strides"));
      if (i > 0 && stride * bytes % kMapAlignment != 0)
        return fail(where + ".strides: " + std::to_string(stride) +
                        " elements are not a multiple of 16 bytes",
                    "Copy such operands by the threads");
      last += (extent - 1) * stride;
    }
    if (last >= room)
      return fail(where + ": its last element lies " + std::to_string(last - room + 1) +
                      " elements behind the buffer " + argument.buffer,
                  "Let extents and strides describe the buffer");
    return {};
  }

  /// Errors: the driver would not encode the window (CUDA driver API, cuTensorMapEncodeIm2col). A copy
  /// reads no element outside of the extents, so no window leaves the buffer.
  static Result<void> check_window(const TensorMap &map, const std::string &where) {
    constexpr std::int64_t kMostSteps = 8, kMostChannels = 256;
    const MapWindow &window = *map.window;
    const std::size_t spatial = window.steps.size();
    if (spatial < 1 || spatial > 3 || map.extents.size() != spatial + 2 || map.box.size() != 2 ||
        window.first.size() != spatial || window.last.size() != spatial)
      return fail(where + ": one to three spatial dimensions need two extents more, and a box of two numbers",
                  "Give the extents of channels, columns, rows and images, and a box of channels and positions");
    const std::int64_t reach = spatial == 1 ? 1 << 15 : spatial == 2 ? 1 << 7 : 1 << 4;
    for (std::size_t i = 0; i < spatial; ++i)
      if (window.first[i] < -reach || window.first[i] >= reach || window.last[i] < -reach ||
          window.last[i] >= reach || window.steps[i] < 1 || window.steps[i] > kMostSteps)
        return fail(where + ": a corner or a step is out of range",
                    "Let corners be from " + std::to_string(-reach) + " to " + std::to_string(reach - 1) +
                        ", and steps from 1 to 8");
    if (map.box.front() > kMostChannels)
      return fail(where + ": a tile has more than 256 channels", "Take several tiles");
    return {};
  }

  const Plan &plan_;
  const Task &task_;
  bool is_reference_;
  std::map<std::string, Dtype> dtypes_; ///< of the buffers
  KnownBuffers buffers_;
};

/// Checks that a torch task's reference is a call of its module, and that its buffers are whole
/// tensors with outputs last.
Result<void> check_torch_task(const Task &task) {
  const bool calls_module = task.reference.steps.size() == 1 &&
                            std::holds_alternative<ModuleStep>(task.reference.steps.front());
  if (!calls_module || task.reference_fp64)
    return fail("the reference of a task with a module is one call of it",
                "Give {\"source\": \"\", \"steps\": [{\"module\": {}}]}, and no reference_fp64");
  bool outputs = false;
  for (const Buffer &buffer : task.buffers) {
    const std::string where = "buffers." + buffer.name;
    if (outputs && buffer.direction != Direction::Out)
      return fail(where + ": outputs come last", "Order buffers: inputs, parameters, outputs");
    outputs = buffer.direction == Direction::Out;
    std::int64_t elements = 1;
    for (const std::int64_t extent : buffer.shape)
      if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements))
        return fail(where + ".shape: this is not the shape of a tensor",
                    "Give extents of 0 and more");
    const auto extent = buffer.extent.evaluate(task.sizes);
    if (!buffer.shape.empty() && (!extent || *extent != elements))
      return fail(where + ".shape holds " + std::to_string(elements) + " elements, its extent is " +
                      buffer.extent.text(),
                  "The tensors of torch tasks are contiguous");
  }
  return {};
}

} // namespace

bool is_host_code(const Plan &plan) {
  return std::ranges::any_of(plan.steps, [](const Step &step) {
    const auto *module = std::get_if<ModuleStep>(&step);
    return module && !module->source.empty();
  });
}

bool is_export(const Plan &plan) {
  return std::ranges::any_of(plan.steps, [](const Step &step) {
    const auto *module = std::get_if<ModuleStep>(&step);
    return module && !module->source.empty() && module->exported;
  });
}

Result<void> check_plan(const Plan &plan, const Task &task) {
  return Checker(plan, task, false).run();
}

Result<void> check_task(const Task &task) {
  for (const Plan *plan : {&task.reference, task.reference_fp64 ? &*task.reference_fp64 : nullptr})
    if (plan)
      if (auto checked = Checker(*plan, task, true).run(); !checked)
        return fail("the task's reference: " + checked.error().message, checked.error().remedy);
  return task.module ? check_torch_task(task) : Result<void>{};
}

} // namespace warpwright::model
