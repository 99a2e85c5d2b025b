#include "generator/torch_cpp/operators.h"

#include "generator/ops/infer.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace warpwright::generator::torch_cpp {
namespace {

using Table = std::unordered_map<std::string_view, const Operator *>;

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(' ', at), text.size());
    if (stop > at)
      result.push_back(text.substr(at, stop - at));
    at = stop + 1;
  }
  return result;
}

Table all_operators() {
  Table table;
  for (const auto &part : {pointwise_operators(), activation_operators(), view_operators(),
                           copy_operators(), reduction_operators(), product_operators(),
                           window_operators(), norm_operators(), loss_operators()})
    for (const Operator &one : part)
      for (const std::string_view name : words(one.names))
        table.emplace(name, &one);
  return table;
}

/// What is larger is taken for this: sums of a few stay within int64.
constexpr double kMostInteger = static_cast<double>(std::int64_t{1} << 60);

int category(model::Dtype dtype) {
  return model::is_floating(dtype) ? 2 : dtype == model::Dtype::Bool ? 0 : 1;
}

model::Dtype dtype_of_number(const Value &value) {
  return value.as<double>() ? model::Dtype::Float32
         : value.as<bool>() ? model::Dtype::Bool
                            : model::Dtype::Int64;
}

} // namespace

const Operator *find_operator(std::string_view name) {
  static const Table kTable = all_operators();
  const auto found = kTable.find(name);
  return found == kTable.end() ? nullptr : found->second;
}

model::Dtype floating(model::Dtype dtype) {
  return model::is_floating(dtype) ? dtype : model::Dtype::Float32;
}

const Value &Call::operator[](const std::string &parameter) const {
  static const Value kAbsent;
  const auto found = arguments_.find(parameter);
  return found == arguments_.end() ? kAbsent : found->second;
}

Value Call::refuse(const std::string &why) {
  if (refusal_.empty())
    refusal_ = why;
  return Unknown{refusal_};
}

void Call::refuse_argument(const Value &value, const std::string &why) {
  const auto *unknown = value.as<Unknown>();
  if (unknown && refusal_.empty())
    refused_line_ = unknown->line;
  refuse(unknown ? unknown->why : why);
}

std::string Call::tensor(const std::string &parameter) {
  const auto *tensor = (*this)[parameter].as<Tensor>();
  if (tensor)
    return (*tensor)->read();
  refuse_argument((*this)[parameter], "its argument " + parameter + " is no tensor");
  return {};
}

std::string Call::as_operand(const Value &value, model::Dtype dtype) {
  if (const auto *tensor = value.as<Tensor>())
    return graph.cast((*tensor)->read(), dtype);
  if (const auto *integer = value.as<std::int64_t>())
    return graph.integer_constant(*integer, dtype);
  if (const auto number = value.number())
    return graph.constant(*number, dtype);
  refuse_argument(value, "an argument is no tensor and no number");
  return {};
}

std::string Call::operand(const std::string &parameter, model::Dtype dtype) {
  return as_operand((*this)[parameter], dtype);
}

std::vector<std::string> Call::tensors(const std::string &parameter) {
  std::vector<std::string> result;
  const auto *list = (*this)[parameter].as<List>();
  if (!list)
    refuse("its argument " + parameter + " is no list of tensors");
  for (const Value &item : list ? *list : List{}) {
    const auto *tensor = item.as<Tensor>();
    if (!tensor)
      refuse("its argument " + parameter + " holds something that is no tensor");
    else
      result.push_back((*tensor)->read());
  }
  if (result.empty())
    refuse("its argument " + parameter + " is empty");
  return result;
}

double Call::number(const std::string &parameter, double fallback) {
  const Value &value = (*this)[parameter];
  if (!value.is_given())
    return fallback;
  if (const auto number = value.number())
    return *number;
  refuse("its argument " + parameter + " is no number that is known here");
  return fallback;
}

std::int64_t Call::integer(const std::string &parameter, std::int64_t fallback) {
  const double given = number(parameter, static_cast<double>(fallback));
  // "To the end" is often written as the largest number there is.
  return static_cast<std::int64_t>(std::clamp(given, -kMostInteger, kMostInteger));
}

bool Call::flag(const std::string &parameter, bool fallback) {
  return number(parameter, fallback) != 0;
}

std::optional<model::Dtype> Call::dtype(const std::string &parameter) const {
  const auto *dtype = (*this)[parameter].as<model::Dtype>();
  return dtype ? std::optional(*dtype) : std::nullopt;
}

std::optional<model::Shape> Call::list(const std::string &parameter) {
  const Value &value = (*this)[parameter];
  if (!value.is_given())
    return std::nullopt;
  auto result = value.integers();
  if (!result)
    refuse("its argument " + parameter + " is no list of whole numbers that are known here");
  if (!result)
    return result;
  for (std::int64_t &one : *result)
    one = std::clamp(one, static_cast<std::int64_t>(-kMostInteger),
                     static_cast<std::int64_t>(kMostInteger));
  return result;
}

model::Shape Call::list(const std::string &parameter, std::size_t count,
                        const model::Shape &fallback) {
  model::Shape result = list(parameter).value_or(fallback);
  if (result.empty())
    result = fallback;
  if (result.size() == 1)
    result.resize(count, result.front());
  if (result.size() != count)
    refuse("its argument " + parameter + " has " + std::to_string(result.size()) + " numbers");
  return result;
}

std::int64_t Call::dim(const std::string &parameter, std::int64_t rank, std::int64_t fallback) {
  const std::int64_t given = integer(parameter, fallback), count = std::max<std::int64_t>(rank, 1);
  if (given < -count || given >= count) {
    refuse("dimension " + std::to_string(given) + " of a tensor with " + std::to_string(rank));
    return 0;
  }
  return given < 0 ? given + count : given;
}

model::Shape Call::dims(const std::string &parameter, std::int64_t rank) {
  model::Shape result = list(parameter).value_or(model::Shape{});
  for (std::int64_t &dim : result) {
    if (dim < -rank || dim >= rank)
      refuse("dimension " + std::to_string(dim) + " of a tensor with " + std::to_string(rank));
    dim = dim < 0 ? dim + rank : dim;
  }
  if (result.empty())
    for (std::int64_t dim = 0; dim < rank; ++dim)
      result.push_back(dim);
  std::ranges::sort(result);
  return result;
}

model::Dtype Call::promoted(std::initializer_list<const char *> parameters) {
  std::optional<model::TensorType> type;
  for (const char *parameter : parameters)
    if (const auto *tensor = (*this)[parameter].as<Tensor>()) {
      const std::string node = (*tensor)->read();
      const model::TensorType other{graph.dtype(node), graph.shape(node), {}};
      if (!type) {
        type = other;
        continue;
      }
      type->dtype = infer::promote(*type, other);
      if (type->shape.empty())
        type->shape = other.shape;
    }
  std::optional<model::Dtype> result = type ? std::optional(type->dtype) : std::nullopt;
  for (const char *parameter : parameters)
    if (const Value &value = (*this)[parameter]; value.is_number()) {
      const model::Dtype number = dtype_of_number(value);
      if (!result || category(number) > category(*result))
        result = number;
    }
  return result.value_or(model::Dtype::Float32);
}

Value Call::several(std::vector<std::string> nodes) const {
  List list;
  for (std::string &node : nodes)
    list.push_back(made(std::move(node)));
  return list;
}

Value Call::view(const std::string &parameter,
                 std::function<std::string(const std::string &)> forward,
                 std::function<std::string(const std::string &, const std::string &)> backward) {
  const auto *base = (*this)[parameter].as<Tensor>();
  if (!base)
    return refuse("its argument " + parameter + " is no tensor");
  const std::string now = forward((*base)->read());
  return Tensor(
      new Tracked{now, *base, std::move(forward), std::move(backward), (*base)->root().version});
}

} // namespace warpwright::generator::torch_cpp
