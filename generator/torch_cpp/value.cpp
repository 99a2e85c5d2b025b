#include "generator/torch_cpp/value.h"

namespace warpwright::generator::torch_cpp {

const std::string &Tracked::read() {
  if (base && version != root().version) {
    node = forward(base->read());
    version = root().version;
  }
  return node;
}

bool Tracked::write(const std::string &value) {
  if (!base) {
    ++version;
  } else {
    if (!backward || !base->write(backward(base->read(), value)))
      return false;
    version = root().version;
  }
  node = value;
  return true;
}

std::optional<double> Value::number() const {
  if (const auto *flag = as<bool>())
    return *flag ? 1 : 0;
  if (const auto *integer = as<std::int64_t>())
    return static_cast<double>(*integer);
  if (const auto *real = as<double>())
    return *real;
  return std::nullopt;
}

std::optional<std::int64_t> Value::integer() const {
  if (const auto *flag = as<bool>())
    return *flag ? 1 : 0;
  if (const auto *integer = as<std::int64_t>())
    return *integer;
  return std::nullopt;
}

std::optional<model::Shape> Value::integers() const {
  if (const auto single = integer())
    return model::Shape{*single};
  const auto *list = as<List>();
  if (!list)
    return std::nullopt;
  model::Shape result;
  for (const Value &item : *list) {
    const auto value = item.integer();
    if (!value)
      return std::nullopt;
    result.push_back(*value);
  }
  return result;
}

} // namespace warpwright::generator::torch_cpp
