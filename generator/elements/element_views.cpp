// Views, generated values and indexed loads of ElementPass: what only changes where an element is looked for.
#include "generator/elements/element_pass.h"

#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"
#include "generator/elements/table_form.h"
#include "generator/ops/attributes.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace warpwright::generator {

using model::Node;
using model::Shape;

namespace {

/// The numbers of a JSON text, however deeply nested.
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

} // namespace

IndexForm ElementPass::tame(const IndexForm &form, std::int64_t size) {
  const IndexRange range = math_.range(form);
  if (range.low >= 0 && range.high < size)
    return form;
  return math_.assume(form, {0, size - 1});
}

Lanes ElementPass::reshape(const Lanes &lanes, const Shape &to, const Shape &from) {
  Lanes result(lanes.size(), std::vector<IndexForm>(from.size()));
  // Dimensions line up where the products of what lies behind them are equal: each such group is flattened on its own.
  std::size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    const std::size_t i0 = i, j0 = j;
    std::int64_t a = i < from.size() ? from[i++] : 1, b = j < to.size() ? to[j++] : 1;
    while (a != b) {
      if (a < b && i < from.size())
        a *= from[i++];
      else if (j < to.size())
        b *= to[j++];
      else
        break;
    }
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      auto &index = result[lane];
      // One dimension on either side, besides those of size 1, passes as it is.
      std::vector<std::size_t> wide_from, wide_to;
      for (std::size_t k = i0; k < i; ++k)
        if (from[k] != 1)
          wide_from.push_back(k);
      for (std::size_t k = j0; k < j; ++k)
        if (to[k] != 1)
          wide_to.push_back(k);
      if (wide_from.size() == 1 && wide_to.size() == 1) {
        index[wide_from[0]] = lanes[lane][wide_to[0]];
        continue;
      }
      IndexForm flat;
      for (const std::size_t k : wide_to)
        flat = math_.add(math_.scale(flat, to[k]), tame(lanes[lane][k], to[k]));
      std::int64_t inner = 1;
      for (auto k = wide_from.rbegin(); k != wide_from.rend(); ++k) {
        IndexForm part = math_.divide(flat, inner);
        index[*k] = *k == wide_from.front() ? part : math_.modulo(part, from[*k]);
        inner *= from[*k];
      }
    }
  }
  return result;
}

LaneValues ElementPass::view(const Node &node, const Lanes &lanes) {
  const std::string &op = node.op;
  if (op == op::cat)
    return cat(node, lanes);
  if (op == op::pad)
    return pad(node, lanes);
  if (op == op::triu || op == op::tril || op == op::diag_embed)
    return masked(node, lanes);
  const std::string &source = node.inputs[0];
  const Shape &from = graph_.node(source).type().shape;
  if (op == op::reshape)
    return evaluate(source, reshape(lanes, node.type().shape, from));
  if (op == op::layout)
    return evaluate(source, lanes);
  if (op == op::expand)
    return evaluate(source, broadcast(lanes, from));
  Lanes moved;
  for (const auto &lane : lanes) {
    std::vector<IndexForm> index = lane;
    if (op == op::permute) {
      const Shape dims = *list_attribute(node, "dims");
      for (std::size_t d = 0; d < dims.size(); ++d)
        index[dims[d]] = lane[d];
    } else if (op == op::slice) {
      const std::size_t dim = integer_attribute(node, "dim");
      index[dim] = math_.add(math_.scale(lane[dim], integer_attribute(node, "step", 1)),
                             IndexMath::constant(integer_attribute(node, "start")));
    } else if (op == op::flip) {
      for (const std::int64_t dim : *list_attribute(node, "dims"))
        index[dim] = math_.add(IndexMath::constant(from[dim] - 1), math_.scale(lane[dim], -1));
    } else if (op == op::roll) {
      const Shape dims = *list_attribute(node, "dims"), shifts = *list_attribute(node, "shifts");
      for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::int64_t size = from[dims[d]], shift = (shifts[d] % size + size) % size;
        index[dims[d]] =
            math_.modulo(math_.add(lane[dims[d]], IndexMath::constant(size - shift)), size);
      }
    } else { // diagonal: the other dimensions, then the diagonal's
      const std::size_t dim1 = integer_attribute(node, "dim1", 0),
                        dim2 = integer_attribute(node, "dim2", 1);
      const std::int64_t offset = integer_attribute(node, "offset");
      index.assign(from.size(), {});
      for (std::size_t d = 0, next = 0; d < from.size(); ++d)
        if (d != dim1 && d != dim2)
          index[d] = lane[next++];
      index[dim1] = math_.add(lane.back(), IndexMath::constant(std::max<std::int64_t>(-offset, 0)));
      index[dim2] = math_.add(lane.back(), IndexMath::constant(std::max<std::int64_t>(offset, 0)));
    }
    moved.push_back(std::move(index));
  }
  return evaluate(source, moved);
}

std::string ElementPass::inside(const IndexForm &form, std::int64_t low, std::int64_t high) const {
  const IndexRange range = math_.range(form);
  if (range.high < low || range.low > high)
    return "false";
  std::string text;
  if (range.low < low)
    text = math_.text(form) + " >= " + std::to_string(low);
  if (range.high > high)
    text += (text.empty() ? "" : " && ") + math_.text(form) + " <= " + std::to_string(high);
  return text;
}

void ElementPass::guarded(const LaneValues &conditions, const Lanes &lanes,
                          const LaneValues &results, const Body &body) {
  const auto run = [&](const std::string &condition, const Lanes &chosen,
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
  if (std::ranges::all_of(conditions, [&](const auto &c) { return c == conditions[0]; }))
    return run(conditions[0], lanes, results);
  for (std::size_t i = 0; i < lanes.size(); ++i)
    run(conditions[i], {lanes[i]}, {results[i]});
}

LaneValues ElementPass::pad(const Node &node, const Lanes &lanes) {
  const model::TensorType &source = graph_.node(node.inputs[0]).type();
  const Shape low = list_attribute(node, "low", source.shape.size(), 0);
  Lanes moved;
  LaneValues conditions;
  for (const auto &lane : lanes) {
    auto &index = moved.emplace_back();
    std::string condition;
    for (std::size_t d = 0; d < lane.size(); ++d) {
      index.push_back(math_.add(lane[d], IndexMath::constant(-low[d])));
      const std::string test = inside(index[d], 0, source.shape[d] - 1);
      if (test == "false" || condition == "false")
        condition = "false";
      else if (!test.empty())
        condition += (condition.empty() ? "" : " && ") + test;
    }
    conditions.push_back(condition);
  }
  if (std::ranges::all_of(conditions, [](const auto &c) { return c.empty(); }))
    return evaluate(node.inputs[0], moved);
  const std::string value = literal(number_attribute(node, "value"), node.type().dtype);
  const LaneValues results =
      declare(compute_type_of(node.type().dtype), LaneValues(lanes.size(), value));
  guarded(conditions, moved, results,
          [&](const Lanes &chosen) { return evaluate(node.inputs[0], chosen); });
  return results;
}

std::optional<LaneValues> ElementPass::cat_in_memory(const Node &node, const Lanes &lanes) {
  const std::size_t dim = integer_attribute(node, "dim");
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
    Lanes moved = lanes;
    for (auto &lane : moved)
      lane[dim] = math_.add(lane[dim], IndexMath::constant(-start));
    const std::vector<IndexForm> where = offsets(model::strides_of(type), moved);
    const int own = vector_direction(where, type);
    if (direction.value_or(own) != own || (own == 0 && lanes.size() > 1))
      return std::nullopt;
    direction = own;
    start += source.shape[dim];
    const IndexForm &first = own < 0 ? where.back() : where.front();
    const std::string place =
        "in" + std::to_string(number->second) + " + " + offset_text(first, type);
    // The parts are in order, so that the first whose end is not reached holds the element.
    const std::string before_end = inside(lanes[0][dim], -IndexMath::kUnbounded, start - 1);
    if (before_end == "false")
      continue;
    last_offsets = where;
    address += before_end.empty() || start == node.type().shape[dim]
                   ? place
                   : "(" + before_end + ") ? " + place + " : ";
    if (before_end.empty() || start == node.type().shape[dim])
      break;
  }
  const std::string memory = memory_type_of(dtype), pointer = fresh_name();
  emit("const " + memory + " *const " + pointer + " = " + address + ";");
  LaneValues parts;
  if (*direction == 0) {
    parts.push_back(from_memory("*" + pointer, dtype));
    return name_values(compute_type_of(dtype), parts);
  }
  ++vector_loads;
  const std::string vector = fresh_name(), vector_type = "warpwright_vector<" + memory + ", " +
                                                         std::to_string(lanes.size()) + ">";
  emit("const " + vector_type + " " + vector + " = *(const " + vector_type + " *)" + pointer + ";");
  for (std::size_t i = 0; i < lanes.size(); ++i)
    parts.push_back(from_memory(
        vector + ".v[" + std::to_string(*direction > 0 ? i : lanes.size() - 1 - i) + "]", dtype));
  return name_values(compute_type_of(dtype), parts);
}

LaneValues ElementPass::cat(const Node &node, const Lanes &lanes) {
  if (auto values = cat_in_memory(node, lanes))
    return *std::move(values);
  const std::size_t dim = integer_attribute(node, "dim");
  const LaneValues results = declare(compute_type_of(node.type().dtype),
                                     LaneValues(lanes.size(), literal(0, node.type().dtype)));
  std::int64_t start = 0;
  for (const std::string &input : node.inputs) {
    const Node &source = graph_.node(input);
    if (source.type().shape.size() != node.type().shape.size())
      continue; // PyTorch skips legacy empty operands of shape [0]
    const std::int64_t size = source.type().shape[dim];
    if (size == 0)
      continue;
    Lanes moved;
    LaneValues conditions;
    for (const auto &lane : lanes) {
      moved.push_back(lane);
      moved.back()[dim] = math_.add(lane[dim], IndexMath::constant(-start));
      conditions.push_back(inside(lane[dim], start, start + size - 1));
    }
    guarded(conditions, moved, results, [&](const Lanes &chosen) {
      LaneValues values = evaluate(input, chosen);
      for (std::string &value : values)
        value = convert(value, source.type().dtype, node.type().dtype);
      return values;
    });
    start += size;
  }
  return results;
}

LaneValues ElementPass::masked(const Node &node, const Lanes &lanes) {
  const std::int64_t diagonal = integer_attribute(node, "diagonal");
  Lanes sources;
  LaneValues conditions;
  for (const auto &lane : lanes) {
    const std::size_t rank = lane.size();
    const IndexForm distance = // column - row
        math_.add(lane[rank - 1], math_.scale(lane[rank - 2], -1));
    sources.push_back(lane);
    if (node.op == op::diag_embed) {
      sources.back().pop_back();
      conditions.push_back(inside(distance, 0, 0));
    } else if (node.op == op::triu) {
      conditions.push_back(inside(distance, diagonal, IndexMath::kUnbounded));
    } else {
      conditions.push_back(inside(distance, -IndexMath::kUnbounded, diagonal));
    }
  }
  if (std::ranges::all_of(conditions, [](const auto &c) { return c.empty(); }))
    return evaluate(node.inputs[0], sources);
  const std::string type = compute_type_of(node.type().dtype), zero = literal(0, node.type().dtype);
  if (lanes.size() == 1 || node.op == op::diag_embed) { // what is masked need not be read
    const LaneValues results = declare(type, LaneValues(lanes.size(), zero));
    guarded(conditions, sources, results,
            [&](const Lanes &chosen) { return evaluate(node.inputs[0], chosen); });
    return results;
  }
  LaneValues values = evaluate(node.inputs[0], sources);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!conditions[i].empty())
      values[i] = "(" + conditions[i] + " ? " + values[i] + " : " + zero + ")";
  return name_values(type, values);
}

LaneValues ElementPass::indexed(const Node &node, const Lanes &lanes) {
  const bool embedding = node.op == op::embedding;
  const std::string &source = node.inputs[0], &index = node.inputs[1];
  const Shape &from = graph_.node(source).type().shape;
  const std::size_t dim = embedding ? 0 : integer_attribute(node, "dim");
  Lanes where;
  for (const auto &lane : lanes) {
    if (node.op == op::gather)
      where.push_back(lane);
    else if (embedding)
      where.emplace_back(lane.begin(), lane.end() - 1);
    else
      where.push_back(graph_.node(index).type().shape.empty() ? std::vector<IndexForm>{}
                                                              : std::vector{lane[dim]});
  }
  LaneValues rows = evaluate(index, where);
  for (std::string &row : rows)
    row = "(int)" + row;
  rows = name_values("int", rows);
  Lanes moved;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    std::vector<IndexForm> element = lanes[i];
    if (embedding)
      element = {{}, lanes[i].back()};
    element[dim] = math_.atom(rows[i], {0, from[dim] - 1});
    moved.push_back(std::move(element));
  }
  return evaluate(source, moved);
}

LaneValues ElementPass::constant(const Node &node, const Lanes &lanes) {
  const model::Dtype dtype = node.type().dtype;
  if (node.op == op::iota) {
    LaneValues values;
    for (const auto &lane : lanes)
      values.push_back("(" + compute_type_of(dtype) + ")" +
                       math_.text(lane[integer_attribute(node, "dim")]));
    return name_values(compute_type_of(dtype), values);
  }
  if (!find_attribute(node, "values"))
    return LaneValues(lanes.size(), literal(number_attribute(node, "value"), dtype));
  std::vector<double> numbers;
  collect_numbers(nlohmann::json::parse(text_attribute(node, "values"), nullptr, false), numbers);
  const std::vector<IndexForm> where =
      offsets(model::strides_of({dtype, node.type().shape, {}}), lanes);
  if (std::ranges::all_of(where, [](const IndexForm &form) { return form.is_constant(); })) {
    LaneValues values;
    for (const IndexForm &form : where)
      values.push_back(literal(numbers.at(form.constant), dtype));
    return values;
  }
  LaneValues values;
  for (const IndexForm &form : where)
    values.push_back(math_.text(form));
  const bool is_integer = !model::is_floating(dtype) && dtype != model::Dtype::Bool;
  if (const auto form = is_integer ? table_form(numbers) : std::nullopt) {
    values = name_values("int", values);
    for (std::string &value : values)
      value = (*form)(value);
  } else {
    // Static where its numbers can be: else each thread writes the table into memory of its own.
    const bool is_static =
        std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); });
    const std::string table = fresh_name();
    std::string list;
    for (const double number : numbers)
      list += (list.empty() ? "" : ", ") + literal(number, dtype);
    emit((is_static ? "static constexpr " : "const ") + compute_type_of(dtype) + " " + table +
         "[] = {" + list + "};");
    for (std::string &value : values)
      value = table + "[" + value + "]";
  }
  return name_values(compute_type_of(dtype), values);
}

} // namespace warpwright::generator
