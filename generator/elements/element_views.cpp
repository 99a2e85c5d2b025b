// Views, generated values and indexed loads of ElementPass: nodes that only change where an element is read.
#include "generator/elements/element_pass.h"

#include "generator/ops/names.h"
#include "generator/ops/op.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"
#include "generator/elements/table_form.h"
#include "generator/ops/attributes.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace warpwright::elements {

using model::Node;
using model::Shape;

namespace {

/// Collects the numbers of a JSON text, however deeply nested.
void collect_numbers(const nlohmann::json &json, std::vector<double> &numbers) {
  if (json.is_array())
    for (const auto &item : json)
      collect_numbers(item, numbers);
  else if (json.is_boolean())
    numbers.push_back(json.get<bool>() ? 1 : 0);
  else if (json.is_number())
    numbers.push_back(json.get<double>());
  else if (json.is_string())
    numbers.push_back(std::strtod(json.get<std::string>().c_str(), nullptr));
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); }

} // namespace

LaneValues ElementPass::view(const Node &node, const ops::Lanes &lanes) {
  const ops::FromResult from_result = ops::op_of(node).from_result;
  if (!from_result)
    return cat(node, lanes);
  const std::string &operand = node.inputs[0];
  const ops::ViewSource source = from_result(math_, node, graph_.node(operand).type().shape, lanes);
  LaneValues conditions;
  for (const std::vector<ops::Guard> &guards : source.guards)
    conditions.push_back(condition_of(guards));
  if (std::ranges::all_of(conditions, [](const auto &c) { return c.empty(); }))
    return evaluate(operand, source.lanes);
  const std::string type = ops::compute_type_of(node.type().dtype),
                    value = ops::literal(ops::number_attribute(node, "value"), node.type().dtype);
  if (lanes.size() == 1 || !source.readable) { // what is masked need not be read
    const LaneValues results = declare(type, LaneValues(lanes.size(), value));
    guarded(conditions, source.lanes, results,
            [&](const ops::Lanes &chosen) { return evaluate(operand, chosen); });
    return results;
  }
  LaneValues values = evaluate(operand, source.lanes);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!conditions[i].empty())
      values[i] = "(" + conditions[i] + " ? " + values[i] + " : " + value + ")";
  return name_values(type, values);
}

std::string ElementPass::condition_of(const std::vector<ops::Guard> &guards) const {
  std::string condition;
  for (const auto &[form, low, high] : guards) {
    const std::string test = inside(form, low, high);
    if (test == "false")
      return test;
    if (!test.empty())
      condition += (condition.empty() ? "" : " && ") + test;
  }
  return condition;
}

std::string ElementPass::inside(const symbolic::IndexForm &form, std::int64_t low,
                                std::int64_t high) const {
  const symbolic::Interval range = math_.range(form);
  if (range.high < low || range.low > high)
    return "false";
  // The terms are a multiple of their coefficients' divisor: limits that are multiples too leave the constant out, so
  // that the lanes of a vector have one condition where no border cuts it.
  std::int64_t divisor = 0;
  for (const auto &[atom, coefficient] : form.terms)
    divisor = std::gcd(divisor, coefficient);
  divisor = std::max<std::int64_t>(divisor, 1);
  const std::int64_t left_out = divisor > 1 ? form.constant : 0;
  const symbolic::IndexForm tested{form.terms, form.constant - left_out};
  low = -floor_divide(left_out - low, divisor) * divisor;
  high = floor_divide(high - left_out, divisor) * divisor;
  std::string text;
  if (range.low - left_out < low)
    text = math_.text(tested) + " >= " + std::to_string(low);
  if (range.high - left_out > high)
    text += (text.empty() ? "" : " && ") + math_.text(tested) + " <= " + std::to_string(high);
  return text;
}

void ElementPass::guarded(const LaneValues &conditions, const ops::Lanes &lanes,
                          const LaneValues &results, const Body &body) {
  const auto run = [&](const std::string &condition, const ops::Lanes &chosen,
                       const LaneValues &targets) {
    if (condition == "false")
      return;
    if (!condition.empty())
      emit("if (" + condition + ") {");
    scopes_.emplace_back();
    const LaneValues values = body(chosen);
    for (std::size_t i = 0; i < values.size(); ++i)
      emit(targets[i] + " = " + values[i] + ";");
    scopes_.pop_back();
    if (!condition.empty())
      emit("}");
  };
  for (std::size_t first = 0; first < lanes.size(); ++first) {
    if (std::find(conditions.begin(), conditions.begin() + static_cast<std::ptrdiff_t>(first),
                  conditions[first]) != conditions.begin() + static_cast<std::ptrdiff_t>(first))
      continue; // it ran with an earlier lane
    ops::Lanes chosen;
    LaneValues targets;
    for (std::size_t i = first; i < lanes.size(); ++i)
      if (conditions[i] == conditions[first]) {
        chosen.push_back(lanes[i]);
        targets.push_back(results[i]);
      }
    run(conditions[first], chosen, targets);
  }
}

std::optional<LaneValues> ElementPass::cat_in_memory(const Node &node, const ops::Lanes &lanes) {
  const std::size_t dim = ops::integer_attribute(node, "dim");
  if (std::ranges::any_of(lanes, [&](const auto &lane) { return lane[dim] != lanes[0][dim]; }))
    return std::nullopt;
  const model::Dtype dtype = node.type().dtype;
  std::optional<int> direction;
  std::string address;
  std::int64_t start = 0;
  for (const std::string &input : node.inputs) {
    const auto number = environment_.input_numbers.find(input);
    const model::TensorType &source = graph_.node(input).type();
    if (number == environment_.input_numbers.end() || environment_.bound.contains(input) ||
        pinned_.contains(input) || source.dtype != dtype ||
        source.shape.size() != node.type().shape.size() || model::elements_of(source.shape) == 0)
      return std::nullopt;
    const model::TensorType type = region_type(graph_, *environment_.region, input);
    ops::Lanes moved = lanes;
    for (auto &lane : moved)
      lane[dim] = math_.add(lane[dim], symbolic::IndexMath::constant(-start));
    const std::vector<symbolic::IndexForm> where = offsets(model::strides_of(type), moved);
    const int own = vector_direction(where, type);
    if (direction.value_or(own) != own || (own == 0 && lanes.size() > 1))
      return std::nullopt;
    direction = own;
    start += source.shape[dim];
    const symbolic::IndexForm &first = own < 0 ? where.back() : where.front();
    const std::string place =
        "in" + std::to_string(number->second) + " + " + offset_text(first, type);
    // The parts are in order, so that the first whose end is not reached holds the element.
    const std::string before_end = inside(lanes[0][dim], -symbolic::Interval::kInfinity, start - 1);
    if (before_end == "false")
      continue;
    last_offsets = where;
    address += before_end.empty() || start == node.type().shape[dim]
                   ? place
                   : "(" + before_end + ") ? " + place + " : ";
    if (before_end.empty() || start == node.type().shape[dim])
      break;
  }
  const std::string memory = ops::memory_type_of(dtype), pointer = fresh_name();
  emit("const " + memory + " *const " + pointer + " = " + address + ";");
  LaneValues parts;
  if (*direction == 0) {
    parts.push_back(ops::from_memory("*" + pointer, dtype));
    return name_values(ops::compute_type_of(dtype), parts);
  }
  ++vector_loads;
  const std::string vector = fresh_name(), vector_type = vector_type_of(dtype, lanes.size());
  emit("const " + vector_type + " " + vector + " = *(const " + vector_type + " *)" + pointer + ";");
  for (std::size_t i = 0; i < lanes.size(); ++i)
    parts.push_back(ops::from_memory(
        vector + ".v[" + std::to_string(*direction > 0 ? i : lanes.size() - 1 - i) + "]", dtype));
  return name_values(ops::compute_type_of(dtype), parts);
}

std::optional<LaneValues> ElementPass::cat_of_one(const Node &node, const ops::Lanes &lanes) {
  const std::size_t dim = ops::integer_attribute(node, "dim");
  const std::string &first = node.inputs[0];
  const std::string &whole =
      ops::is_view(graph_.node(first)) ? graph_.node(first).inputs[0] : first;
  if (graph_.node(whole).type().shape.size() != node.type().shape.size())
    return std::nullopt;
  ops::Lanes places;
  std::vector<std::string> choices(lanes.size());
  std::vector<char> is_known(lanes.size(), 0);
  bool share_parts = lanes.size() > 1;
  std::int64_t start = 0;
  for (const std::string &input : node.inputs) {
    const Node &part = graph_.node(input);
    const ops::FromResult from_result = ops::is_view(part) ? ops::op_of(part).from_result : nullptr;
    if (!from_result || part.inputs[0] != whole || environment_.input_numbers.contains(input) ||
        part.type().dtype != node.type().dtype ||
        part.type().shape.size() != node.type().shape.size() ||
        environment_.bound.contains(input) || pinned_.contains(input))
      return std::nullopt;
    ops::Lanes moved = lanes;
    for (auto &lane : moved)
      lane[dim] = math_.add(lane[dim], symbolic::IndexMath::constant(-start));
    const ops::ViewSource source = from_result(math_, part, graph_.node(whole).type().shape, moved);
    if (std::ranges::any_of(source.guards, [](const auto &guards) { return !guards.empty(); }))
      return std::nullopt;
    const std::int64_t end = start + part.type().shape[dim];
    const std::string first_lane = inside(lanes[0][dim], start, end - 1);
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (places.size() <= i)
        places.push_back(source.lanes[i]);
      for (std::size_t d = 0; d < places[i].size(); ++d)
        if (d != dim && source.lanes[i][d] != places[i][d])
          return std::nullopt;
      const std::string condition = inside(lanes[i][dim], start, end - 1);
      share_parts = share_parts && condition == first_lane;
      if (condition == "false")
        continue;
      if (condition.empty()) {
        is_known[i] = 1;
        places[i] = source.lanes[i];
      }
      const std::string place = math_.text(source.lanes[i][dim]);
      choices[i] +=
          end == node.type().shape[dim] ? place : "(" + condition + ") ? " + place + " : ";
    }
    start = end;
  }
  if (share_parts)
    return std::nullopt;
  for (std::size_t i = 0; i < lanes.size(); ++i)
    if (!is_known[i])
      places[i][dim] = math_.atom(name_values("int", {choices[i]}).front(),
                                  {0, graph_.node(whole).type().shape[dim] - 1});
  return evaluate(whole, places);
}

LaneValues ElementPass::cat(const Node &node, const ops::Lanes &lanes) {
  if (auto values = cat_in_memory(node, lanes))
    return *std::move(values);
  if (auto values = cat_of_one(node, lanes))
    return *std::move(values);
  const std::size_t dim = ops::integer_attribute(node, "dim");
  const LaneValues results = declare(ops::compute_type_of(node.type().dtype),
                                     LaneValues(lanes.size(), ops::literal(0, node.type().dtype)));
  std::int64_t start = 0;
  for (const std::string &input : node.inputs) {
    const Node &source = graph_.node(input);
    if (source.type().shape.size() != node.type().shape.size())
      continue; // PyTorch skips legacy empty operands of shape [0]
    const std::int64_t size = source.type().shape[dim];
    if (size == 0)
      continue;
    ops::Lanes moved;
    LaneValues conditions;
    for (const auto &lane : lanes) {
      moved.push_back(lane);
      moved.back()[dim] = math_.add(lane[dim], symbolic::IndexMath::constant(-start));
      conditions.push_back(inside(lane[dim], start, start + size - 1));
    }
    guarded(conditions, moved, results, [&](const ops::Lanes &chosen) {
      LaneValues values = evaluate(input, chosen);
      for (std::string &value : values)
        value = ops::convert(value, source.type().dtype, node.type().dtype);
      return values;
    });
    start += size;
  }
  return results;
}

LaneValues ElementPass::indexed(const Node &node, const ops::Lanes &lanes) {
  const bool embedding = node.op == op::embedding;
  const std::string &source = node.inputs[0], &index = node.inputs[1];
  const Shape &from = graph_.node(source).type().shape;
  const std::size_t dim = embedding ? 0 : ops::integer_attribute(node, "dim");
  ops::Lanes where;
  for (const auto &lane : lanes) {
    if (node.op == op::gather)
      where.push_back(lane);
    else if (embedding)
      where.emplace_back(lane.begin(), lane.end() - 1);
    else
      where.push_back(graph_.node(index).type().shape.empty() ? std::vector<symbolic::IndexForm>{}
                                                              : std::vector{lane[dim]});
  }
  LaneValues rows = evaluate(index, where);
  for (std::string &row : rows)
    row = "(int)" + row;
  rows = name_values("int", rows);
  ops::Lanes moved;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    std::vector<symbolic::IndexForm> element = lanes[i];
    if (embedding)
      element = {{}, lanes[i].back()};
    element[dim] = math_.atom(rows[i], {0, from[dim] - 1});
    moved.push_back(std::move(element));
  }
  return evaluate(source, moved);
}

LaneValues ElementPass::constant(const Node &node, const ops::Lanes &lanes) {
  const model::Dtype dtype = node.type().dtype;
  if (node.op == op::iota) {
    LaneValues values;
    for (const auto &lane : lanes)
      values.push_back("(" + ops::compute_type_of(dtype) + ")" +
                       math_.text(lane[ops::integer_attribute(node, "dim")]));
    return name_values(ops::compute_type_of(dtype), values);
  }
  if (!ops::find_attribute(node, "values"))
    return LaneValues(lanes.size(), ops::literal(ops::number_attribute(node, "value"), dtype));
  std::vector<double> numbers;
  collect_numbers(nlohmann::json::parse(ops::text_attribute(node, "values"), nullptr, false),
                  numbers);
  const std::vector<symbolic::IndexForm> where =
      offsets(model::strides_of({dtype, node.type().shape, {}}), lanes);
  if (std::ranges::all_of(where,
                          [](const symbolic::IndexForm &form) { return form.is_constant(); })) {
    LaneValues values;
    for (const symbolic::IndexForm &form : where)
      values.push_back(ops::literal(numbers.at(form.constant), dtype));
    return values;
  }
  LaneValues values;
  for (const symbolic::IndexForm &form : where)
    values.push_back(math_.text(form));
  const bool is_integer = !model::is_floating(dtype) && dtype != model::Dtype::Bool;
  if (const auto form = is_integer ? table_form(numbers) : std::nullopt) {
    values = name_values("int", values);
    for (std::string &value : values)
      value = (*form)(value);
  } else {
    // A table of finite numbers is static; otherwise each thread writes the table into its own memory.
    const bool is_static =
        std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
    const std::string table = fresh_name();
    std::string list;
    for (const double number : numbers)
      list += (list.empty() ? "" : ", ") + ops::literal(number, dtype);
    emit((is_static ? "static constexpr " : "const ") + ops::compute_type_of(dtype) + " " + table +
         "[] = {" + list + "};");
    for (std::string &value : values)
      value = table + "[" + value + "]";
  }
  return name_values(ops::compute_type_of(dtype), values);
}

} // namespace warpwright::elements
