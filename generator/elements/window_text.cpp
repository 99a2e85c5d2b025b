// Texts, indices and attributes for the window families. See window_text.h.
#include "generator/elements/window_text.h"

#include <algorithm>

namespace warpwright::elements {

std::string fill_places(std::string_view text, const Substitutions &places) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = text.find('@', at);
    const std::size_t close = open == text.npos ? open : text.find('@', open + 1);
    if (close == text.npos) {
      filled += text.substr(at);
      break;
    }
    filled += text.substr(at, open - at);
    const auto found = places.find(std::string(text.substr(open + 1, close - open - 1)));
    filled += found != places.end() ? std::string_view(found->second)
                                    : text.substr(open, close + 1 - open);
    at = close + 1;
  }
  return filled;
}

std::string constants_text(const std::vector<std::pair<std::string, std::int64_t>> &constants) {
  std::string text;
  for (const auto &[name, value] : constants)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text;
}

Index unflatten(const std::string &text, const model::Shape &shape) {
  Index index(shape.size(), "0");
  std::int64_t below = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1)
      continue;
    const bool outermost =
        std::all_of(shape.begin(), shape.begin() + d, [](auto size) { return size == 1; });
    std::string part = below == 1 ? text : text + " / " + std::to_string(below);
    if (!outermost)
      part = (below == 1 ? part : "(" + part + ")") + " % " + std::to_string(shape[d]);
    index[d] = part == text ? text : "(" + part + ")";
    below *= shape[d];
  }
  return index;
}

std::string strided_terms(const Index &index, const model::Shape &strides) {
  std::string text;
  for (std::size_t d = 0; d < index.size(); ++d)
    if (strides[d] != 0 && index[d] != "0")
      text += " + " + index[d] + " * " + std::to_string(strides[d]) + "ll";
  return text;
}

std::int64_t elements_between(const model::Shape &shape, std::size_t begin, std::size_t end) {
  std::int64_t product = 1;
  for (std::size_t d = begin; d < end; ++d)
    product *= shape[d];
  return product;
}

std::string parameters_with(const ElementWriter &writer, const std::vector<std::string> &more) {
  std::string text = writer.parameters();
  for (const std::string &parameter : more)
    text += (text.empty() ? "" : ", ") + parameter;
  return text;
}

std::vector<model::Argument> arguments_with(const ElementWriter &writer,
                                            const std::vector<std::string> &temporaries) {
  std::vector<model::Argument> arguments = writer.arguments();
  for (const std::string &temporary : temporaries)
    arguments.push_back(model::BufferArgument{temporary, symbolic::Expression(0)});
  return arguments;
}

std::vector<KernelBody::Parameter> parameters_in(const std::string &declarations) {
  std::vector<KernelBody::Parameter> result;
  for (std::size_t at = 0; at < declarations.size();) {
    const std::size_t end = std::min(declarations.find(", ", at), declarations.size());
    const std::string one = declarations.substr(at, end - at);
    const std::size_t name = one.find_last_of(" *&") + 1;
    result.push_back({one.substr(0, name), one.substr(name)});
    at = end + 2;
  }
  return result;
}

std::string names_of(const std::vector<KernelBody::Parameter> &parameters) {
  std::string names;
  for (const KernelBody::Parameter &parameter : parameters)
    names += (names.empty() ? "" : ", ") + parameter.name;
  return names;
}

model::LaunchStep launch_of(std::string kernel, std::int64_t grid_x, std::int64_t block,
                            std::vector<model::Argument> arguments, std::int64_t shared_bytes,
                            std::int64_t grid_y, std::int64_t grid_z) {
  model::LaunchStep step;
  step.kernel = std::move(kernel);
  step.grid = {symbolic::Expression(grid_x), symbolic::Expression(grid_y),
               symbolic::Expression(grid_z)};
  step.block = {symbolic::Expression(block), symbolic::Expression(1), symbolic::Expression(1)};
  step.shared_bytes = symbolic::Expression(shared_bytes);
  step.arguments = std::move(arguments);
  return step;
}

Result<int> setting_of(const Configuration &configuration, const std::string &name, int low,
                       int high) {
  const auto found = configuration.find(name);
  if (found == configuration.end())
    return fail("the configuration has no \"" + name + "\"",
                "take a configuration from the family's list");
  if (found->second < low || found->second > high)
    return fail("the configuration's \"" + name + "\" is " + std::to_string(found->second) +
                    ", not between " + std::to_string(low) + " and " + std::to_string(high),
                "take a configuration from the family's list");
  return found->second;
}

Result<std::map<std::string, int>> settings_of(const Configuration &configuration,
                                               const std::vector<SettingRange> &ranges) {
  std::map<std::string, int> settings;
  for (const SettingRange &range : ranges) {
    auto setting = setting_of(configuration, range.name, range.low, range.high);
    if (!setting)
      return std::unexpected(setting.error());
    settings[range.name] = *setting;
  }
  return settings;
}

std::int64_t power_of_two_for(std::int64_t value, std::int64_t limit) {
  std::int64_t power = 1;
  while (power < value && power < limit)
    power *= 2;
  return power;
}

} // namespace warpwright::elements
