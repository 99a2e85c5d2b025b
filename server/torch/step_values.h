// Steps of a plan with the task's sizes put in, as whoever writes them down in another language needs them (cpp_steps, plan_literal).
// Thread: pure functions.
#pragma once

#include "support/error.h"
#include "support/model/task.h"

#include <array>
#include <string>
#include <variant>
#include <vector>

namespace warpwright::server {

struct BufferPlace {
  std::string buffer;
  std::int64_t offset = 0; ///< elements
};
struct SizeValue {
  model::Dtype dtype;
  std::int64_t value = 0;
};
using ArgumentValue = std::variant<BufferPlace, SizeValue, model::ConstantArgument>;

struct LaunchValues {
  std::array<std::int64_t, 3> grid{}, block{};
  std::int64_t shared_bytes = 0;
  std::vector<ArgumentValue> arguments;
};

/// Errors: an expression that the sizes do not decide, or a scalar of the task, which torch tasks have none of.
Result<LaunchValues> launch_values(const model::LaunchStep &launch, const Sizes &sizes);

/// The strides of a view, spelled out.
std::vector<std::int64_t> strides_of(const model::TensorView &view);

/// A double that reads back as the same value, with a point or an exponent; not for what is not finite.
std::string exact_number(double value);

} // namespace warpwright::server
