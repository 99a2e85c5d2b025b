#include "plan/program.h"

#include <algorithm>

namespace warpwright::plan {
namespace {

using model::Dtype;

constexpr std::int64_t kMaxGridX = (std::int64_t{1} << 31) - 1, kMaxGridYZ = 65535;
constexpr std::int64_t kMaxThreads = 1024, kMaxSharedBytes = 256 * 1024;

class Builder {
public:
  Builder(const model::Plan &plan, const model::Task &task, const symbolic::Sizes &sizes)
      : plan_(plan), task_(task), sizes_(sizes) {}

  Result<Program> build() {
    if (auto added = add_places(); !added)
      return std::unexpected(added.error());
    for (const std::string &kernel : kernels_of(plan_))
      program_.kernels.push_back({kernel});
    for (const model::Step &step : plan_.steps) {
      auto made = std::visit([&](const auto &one) { return make(one); }, step);
      if (!made)
        return std::unexpected(made.error());
      program_.steps.push_back(std::move(*made));
    }
    return std::move(program_);
  }

private:
  Result<void> add_places() {
    const auto add = [&](const auto &memory, Place::Kind kind, const std::vector<std::int64_t> &shape) {
      const auto elements = memory.extent.evaluate(sizes_);
      if (elements)
        program_.places.push_back({kind, memory.name, memory.dtype, *elements, shape});
      return elements;
    };
    for (const model::Buffer &buffer : task_.buffers)
      if (auto added = add(buffer,
                           buffer.direction == model::Direction::Out ? Place::Kind::Output
                                                                     : Place::Kind::Argument,
                           buffer.shape);
          !added)
        return fail("the extent of " + buffer.name + ": " + describe(added.error()));
    for (const model::Temporary &temporary : plan_.temporaries)
      if (auto added = add(temporary, Place::Kind::Temporary, {}); !added)
        return fail("the extent of " + temporary.name + ": " + describe(added.error()));
    return {};
  }

  Result<std::size_t> use(const std::string &buffer, const std::string &user) {
    const auto place = program_.find(buffer);
    if (!place)
      return fail(user + " the unknown buffer " + buffer);
    program_.places[*place].is_used = true;
    return *place;
  }

  Result<std::int64_t> value(const symbolic::Expression &expression, const std::string &what,
                             std::int64_t low, std::int64_t high) {
    const auto result = expression.evaluate(sizes_);
    if (!result)
      return fail(what + ": " + describe(result.error()));
    if (*result < low || *result > high)
      return fail(what + " is " + std::to_string(*result) + " at " +
                  symbolic::describe_sizes(sizes_) + ", which CUDA refuses (" +
                  std::to_string(low) + " to " + std::to_string(high) + ")");
    return *result;
  }

  Result<Step> make(const model::LaunchStep &step) {
    Launch launch{.cooperative = step.cooperative, .overlapped = step.overlapped};
    launch.kernel = static_cast<std::size_t>(
        std::ranges::find(program_.kernels, step.kernel, &Kernel::name) - program_.kernels.begin());
    std::uint64_t blocks = 1, threads = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto grid =
          value(step.grid[axis], "the grid of " + step.kernel, 1, axis ? kMaxGridYZ : kMaxGridX);
      const auto block = value(step.block[axis], "the block of " + step.kernel, 1, kMaxThreads);
      if (!grid || !block)
        return std::unexpected((grid ? block : grid).error());
      launch.grid[axis] = static_cast<std::uint32_t>(*grid);
      launch.block[axis] = static_cast<std::uint32_t>(*block);
      blocks *= launch.grid[axis];
      threads *= launch.block[axis];
    }
    if (threads > kMaxThreads)
      return fail("the block of " + step.kernel + " holds " + std::to_string(threads) +
                  " threads at " + symbolic::describe_sizes(sizes_) + "; CUDA allows 1024");
    const auto shared =
        value(step.shared_bytes, "the shared memory of " + step.kernel, 0, kMaxSharedBytes);
    if (!shared)
      return std::unexpected(shared.error());
    launch.shared_bytes = static_cast<std::uint32_t>(*shared);
    for (const model::Argument &argument : step.arguments)
      launch.arguments.push_back(
          TRY(std::visit([&](const auto &given) { return argument_of(given, step.kernel); }, argument)));
    Kernel &kernel = program_.kernels[launch.kernel];
    kernel.shared_bytes = std::max(kernel.shared_bytes, launch.shared_bytes);
    kernel.threads = std::max(kernel.threads, static_cast<std::uint32_t>(threads));
    if (step.cooperative)
      kernel.resident_blocks = std::max(kernel.resident_blocks, blocks);
    return launch;
  }

  Result<Step> make(const model::FillStep &step) {
    const auto place = use(step.buffer, "a fill names");
    if (!place)
      return std::unexpected(place.error());
    return Fill{*place, static_cast<unsigned char>(step.byte)};
  }

  Result<Step> make(const model::AtenStep &step) {
    const auto name = [&](const model::TensorView &view) -> Result<std::size_t> {
      return view.buffer.empty() ? 0 : use(view.buffer, "an operator names");
    };
    for (const model::TensorView *view : views_of(step))
      if (auto used = name(*view); !used)
        return std::unexpected(used.error());
    for (const model::TensorView &view : step.results) {
      auto used = name(view);
      if (!used)
        return std::unexpected(used.error());
      if (!view.buffer.empty())
        program_.places[*used].is_an_operators = true;
    }
    return &step;
  }

  Result<Step> make(const model::ModuleStep &step) { return &step; }

  Result<Argument> argument_of(const model::StructArgument &whole, const std::string &kernel) {
    StructArgument made{.size_bytes = static_cast<std::uint32_t>(whole.size_bytes), .fields = {}};
    for (const model::StructArgument::Field &field : whole.fields)
      made.fields.emplace_back(
          static_cast<std::uint32_t>(field.offset),
          TRY(std::visit([&](const auto &given) { return plain_of(given, kernel); }, field.value)));
    return made;
  }

  Result<Argument> argument_of(const auto &given, const std::string &kernel) {
    auto made = TRY(plain_of(given, kernel));
    return std::visit([](auto &one) -> Argument { return std::move(one); }, made);
  }

  Result<PlainArgument> plain_of(const model::BufferArgument &argument, const std::string &kernel) {
    const auto place = use(argument.buffer, kernel + " is given");
    if (!place)
      return std::unexpected(place.error());
    const auto offset = value(argument.offset, "the offset into " + argument.buffer, 0,
                              program_.places[*place].elements);
    if (!offset)
      return std::unexpected(offset.error());
    PlaceArgument made{*place, *offset};
    if (argument.map) {
      made.map = TensorMap{.dtype = program_.places[*place].dtype,
                           .box = argument.map->box,
                           .swizzle_bytes = argument.map->swizzle_bytes,
                           .rounds_to_tf32 = argument.map->rounds_to_tf32,
                           .window = argument.map->window};
      const auto take = [&](const std::vector<symbolic::Expression> &from,
                            std::vector<std::int64_t> &to) -> Result<void> {
        for (const symbolic::Expression &one : from) {
          const auto number = value(one, "the map of " + argument.buffer, 0, std::int64_t{1} << 40);
          if (!number)
            return std::unexpected(number.error());
          to.push_back(*number);
        }
        return {};
      };
      for (auto taken : {take(argument.map->extents, made.map->extents),
                         take(argument.map->strides, made.map->strides)})
        if (!taken)
          return std::unexpected(taken.error());
    }
    return made;
  }

  Result<PlainArgument> plain_of(const model::ScalarArgument &argument, const std::string &kernel) {
    const auto scalar = std::ranges::find(task_.scalars, argument.scalar, &model::Scalar::name);
    if (scalar == task_.scalars.end())
      return fail(kernel + " is given the unknown scalar " + argument.scalar);
    if (const auto *number = std::get_if<double>(&scalar->value))
      return NumberArgument{scalar->dtype, *number, true};
    return integer(std::get<symbolic::Expression>(scalar->value), scalar->dtype,
                   "the scalar " + scalar->name);
  }

  Result<PlainArgument> plain_of(const model::SizeArgument &argument, const std::string &kernel) {
    return integer(argument.value, argument.dtype, "an argument of " + kernel);
  }

  Result<PlainArgument> plain_of(const model::ConstantArgument &argument, const std::string &kernel) {
    if (model::is_floating(argument.dtype))
      return NumberArgument{argument.dtype, argument.value};
    return integer(symbolic::Expression(static_cast<std::int64_t>(argument.value)), argument.dtype,
                   "a constant of " + kernel);
  }

  Result<PlainArgument> integer(const symbolic::Expression &expression, Dtype dtype,
                           const std::string &what) {
    const auto result = expression.evaluate(sizes_);
    if (!result)
      return fail(what + ": " + describe(result.error()));
    const bool is_signed = dtype == Dtype::Int8 || dtype == Dtype::Int16 || dtype == Dtype::Int32;
    const int bits = static_cast<int>(8 * model::size_bytes(dtype)) - (is_signed ? 1 : 0);
    const bool fits = bits >= 63 || (*result < (std::int64_t{1} << bits) &&
                                     *result >= (is_signed ? -(std::int64_t{1} << bits) : 0));
    if (!fits)
      return fail(what + " is " + std::to_string(*result) + " at " +
                  symbolic::describe_sizes(sizes_) + ", which does not fit " +
                  std::string(model::name(dtype)));
    return NumberArgument{dtype, *result};
  }

  const model::Plan &plan_;
  const model::Task &task_;
  const symbolic::Sizes &sizes_;
  Program program_;
};

} // namespace

std::optional<std::size_t> Program::find(std::string_view name) const {
  const auto found = std::ranges::find(places, name, &Place::name);
  return found == places.end() ? std::nullopt : std::optional(found - places.begin());
}

int TensorMap::driver_dtype() const {
  switch (dtype) {
  case Dtype::UInt8:
    return 0;
  case Dtype::Int32:
    return 3;
  case Dtype::Float16:
    return 6;
  case Dtype::Float32:
    return rounds_to_tf32 ? 11 : 7;
  case Dtype::BFloat16:
    return 9;
  default:
    return -1;
  }
}

int TensorMap::driver_swizzle() const {
  return swizzle_bytes == 128 ? 3 : swizzle_bytes == 64 ? 2 : swizzle_bytes == 32 ? 1 : 0;
}

std::vector<std::int64_t> TensorMap::strides_bytes() const {
  std::vector<std::int64_t> result;
  for (const std::int64_t stride : strides)
    result.push_back(stride * static_cast<std::int64_t>(model::size_bytes(dtype)));
  return result;
}

Result<Program> program_of(const model::Plan &plan, const model::Task &task,
                           const symbolic::Sizes &sizes) {
  return Builder(plan, task, sizes).build();
}

std::vector<std::string> kernels_of(const model::Plan &plan) {
  std::vector<std::string> kernels;
  for (const model::Step &step : plan.steps)
    if (const auto *launch = std::get_if<model::LaunchStep>(&step);
        launch && std::ranges::find(kernels, launch->kernel) == kernels.end())
      kernels.push_back(launch->kernel);
  return kernels;
}

std::vector<const model::TensorView *> views_of(const model::AtenStep &step) {
  std::vector<const model::TensorView *> views;
  const auto add = [&](const model::AtenArgument &argument) {
    if (const auto *view = std::get_if<model::TensorView>(&argument))
      views.push_back(view);
    if (const auto *several = std::get_if<std::vector<model::TensorView>>(&argument))
      for (const model::TensorView &view : *several)
        views.push_back(&view);
  };
  for (const model::AtenArgument &argument : step.arguments)
    add(argument);
  for (const auto &[name, argument] : step.keywords)
    add(argument);
  return views;
}

} // namespace warpwright::plan
