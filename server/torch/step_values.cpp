#include "server/torch/step_values.h"

#include <sstream>

namespace warpwright::server {
namespace {

Result<std::array<std::int64_t, 3>> values_of(const std::array<Expression, 3> &expressions,
                                              const Sizes &sizes) {
  std::array<std::int64_t, 3> values{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto value = expressions[axis].evaluate(sizes);
    if (!value)
      return std::unexpected(value.error());
    values[axis] = *value;
  }
  return values;
}

Result<ArgumentValue> value_of(const model::Argument &argument, const Sizes &sizes) {
  if (const auto *buffer = std::get_if<model::BufferArgument>(&argument)) {
    const auto offset = buffer->offset.evaluate(sizes);
    if (!offset)
      return std::unexpected(offset.error());
    return BufferPlace{buffer->buffer, *offset};
  }
  if (const auto *size = std::get_if<model::SizeArgument>(&argument)) {
    const auto value = size->value.evaluate(sizes);
    if (!value)
      return std::unexpected(value.error());
    return SizeValue{size->dtype, *value};
  }
  if (const auto *constant = std::get_if<model::ConstantArgument>(&argument))
    return *constant;
  return fail("a torch task has no scalars");
}

} // namespace

Result<LaunchValues> launch_values(const model::LaunchStep &launch, const Sizes &sizes) {
  const auto grid = values_of(launch.grid, sizes), block = values_of(launch.block, sizes);
  const auto shared = launch.shared_bytes.evaluate(sizes);
  if (!grid || !block)
    return std::unexpected((grid ? block : grid).error());
  if (!shared)
    return std::unexpected(shared.error());
  LaunchValues values{*grid, *block, *shared, {}};
  for (const model::Argument &argument : launch.arguments) {
    auto value = value_of(argument, sizes);
    if (!value)
      return std::unexpected(value.error());
    values.arguments.push_back(std::move(*value));
  }
  return values;
}

std::vector<std::int64_t> strides_of(const model::TensorView &view) {
  std::vector<std::int64_t> strides = view.strides;
  if (!strides.empty())
    return strides;
  strides.assign(view.shape.size(), 1);
  for (std::size_t i = strides.size(); i-- > 1;)
    strides[i - 1] = strides[i] * view.shape[i];
  return strides;
}

std::string exact_number(double value) {
  std::ostringstream text;
  text.precision(17);
  text << value;
  const std::string digits = text.str();
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

} // namespace warpwright::server
