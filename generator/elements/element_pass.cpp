#include "generator/elements/element_pass.h"

#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace warpwright::elements {

using model::Dtype;
using model::Node;
using model::Shape;

namespace {

/// Elements that lie apart by at most kMostStep are loaded with what lies between them, up to kMostRunBytes for all lanes.
constexpr std::int64_t kMostStep = 4, kMostRunBytes = 64;

/// True where each offset is the one before it and `step`.
bool is_even(const std::vector<symbolic::IndexForm> &offsets, std::int64_t step) {
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (offsets[i].terms != offsets[0].terms ||
        offsets[i].constant != offsets[0].constant + step * static_cast<std::int64_t>(i))
      return false;
  return true;
}

} // namespace

std::string vector_type_of(Dtype dtype, std::size_t count) {
  return "warpwright_vector<" + ops::memory_type_of(dtype) + ", " + std::to_string(count) + ">";
}

ElementPass::ElementPass(const Environment &environment, std::string &statements)
    : environment_(environment), graph_(*environment.graph), statements_(&statements), scopes_(1) {
  for (const auto &[name, range] : environment.ranges)
    math_.bound(name, range);
}

void ElementPass::pin(const std::string &node, LaneValues values) {
  pinned_.insert_or_assign(node, std::move(values));
}

std::string ElementPass::fresh_name() { return "e_" + std::to_string((*environment_.names)++); }

LaneValues ElementPass::name_values(const std::string &type, const LaneValues &values) {
  std::unordered_map<std::string, std::string> named;
  LaneValues result;
  for (const std::string &value : values) {
    std::string &name = named[value];
    if (name.empty()) {
      name = fresh_name();
      emit("const " + type + " " + name + " = " + value + ";");
    }
    result.push_back(name);
  }
  return result;
}

LaneValues ElementPass::declare(const std::string &type, const LaneValues &values) {
  LaneValues result;
  for (const std::string &value : values) {
    result.push_back(fresh_name());
    emit(type + " " + result.back() + " = " + value + ";");
  }
  return result;
}

const LaneValues *ElementPass::known(const std::string &key) const {
  for (const auto &scope : scopes_)
    if (const auto found = scope.find(key); found != scope.end())
      return &found->second;
  return nullptr;
}

LaneValues ElementPass::evaluate(const std::string &value, const ops::Lanes &lanes) {
  if (const auto bound = environment_.bound.find(value); bound != environment_.bound.end())
    return bound->second.size() == lanes.size() ? bound->second
                                                : LaneValues(lanes.size(), bound->second.at(0));
  if (const auto pinned = pinned_.find(value); pinned != pinned_.end())
    return pinned->second;
  const Node &node = graph_.node(value);
  std::string key = value;
  for (const auto &lane : lanes) {
    key += "|";
    for (const symbolic::IndexForm &form : lane)
      key += math_.text(form) + ",";
  }
  if (const LaneValues *computed = known(key))
    return *computed;

  LaneValues values;
  if (environment_.input_numbers.contains(value))
    values = memory(node, lanes);
  else if (ops::is_generated(node))
    values = constant(node, lanes);
  else if (ops::is_pointwise(node))
    values = pointwise(node, lanes);
  else if (ops::is_view(node))
    values = view(node, lanes);
  else if (ops::is_indexed(node))
    values = indexed(node, lanes);
  else // a fault of the partition: the compiler's message will name the value
    values = LaneValues(lanes.size(), "warpwright_value_outside_region_" + value);
  scopes_.back().emplace(std::move(key), values);
  return values;
}

std::vector<symbolic::IndexForm> ElementPass::offsets(const Shape &strides,
                                                      const ops::Lanes &lanes) {
  std::vector<symbolic::IndexForm> result;
  for (const auto &lane : lanes) {
    symbolic::IndexForm offset;
    for (std::size_t i = 0; i < lane.size(); ++i)
      offset = math_.add(offset, math_.scale(lane[i], strides[i]));
    result.push_back(std::move(offset));
  }
  return result;
}

int ElementPass::vector_direction(const std::vector<symbolic::IndexForm> &offsets,
                                  const model::TensorType &type) {
  const std::int64_t count = static_cast<std::int64_t>(offsets.size());
  if (count < 2 || !std::has_single_bit(offsets.size()) ||
      count * static_cast<std::int64_t>(model::size_bytes(type.dtype)) > 16)
    return 0;
  const auto consecutive = [&](int direction) {
    const symbolic::IndexForm &first = direction > 0 ? offsets.front() : offsets.back();
    return is_even(offsets, direction) && first.constant % count == 0 &&
           std::ranges::all_of(first.terms, [&](const auto &t) { return t.second % count == 0; });
  };
  return consecutive(1) ? 1 : consecutive(-1) ? -1 : 0;
}

std::string ElementPass::offset_text(const symbolic::IndexForm &offset,
                                     const model::TensorType &type) const {
  return math_.text(offset, memory_extent(type) > INT32_MAX);
}

std::optional<LaneValues>
ElementPass::strided_run(const std::string &name, const model::TensorType &type,
                         const std::vector<symbolic::IndexForm> &offsets) {
  const std::int64_t count = static_cast<std::int64_t>(offsets.size()),
                     size = static_cast<std::int64_t>(model::size_bytes(type.dtype));
  if (count < 2)
    return std::nullopt;
  const std::int64_t step = offsets[1].constant - offsets[0].constant, run = step * count;
  if (step < 2 || step > kMostStep || run * size > kMostRunBytes || !is_even(offsets, step))
    return std::nullopt;
  const std::int64_t within = ((offsets[0].constant % run) + run) % run;
  const symbolic::IndexForm start = math_.add(offsets[0], symbolic::IndexMath::constant(-within));
  if (within >= step ||
      std::ranges::any_of(start.terms, [&](const auto &term) { return term.second % run != 0; }))
    return std::nullopt;
  const symbolic::Interval range = math_.range(start);
  if (range.low < 0 ||
      range.high + run > memory_extent(type)) // the run's ends need not be elements of the value
    return std::nullopt;
  const std::int64_t piece = std::gcd(run, 16 / size);
  const std::string text = offset_text(start, type),
                    key = "run|" + name + "|" + std::to_string(run) + "|" + text;
  if (!known(key)) {
    const std::string vector_type =
        vector_type_of(type.dtype, static_cast<std::size_t>(piece));
    LaneValues pieces;
    for (std::int64_t at = 0; at < run; at += piece) {
      pieces.push_back(fresh_name());
      emit("const " + vector_type + " " + pieces.back() + " = *(const " + vector_type + " *)(" +
           name + " + " + text + (at > 0 ? " + " + std::to_string(at) : "") + ");");
    }
    scopes_.back().emplace(key, std::move(pieces));
  }
  LaneValues values;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t element = within + step * i;
    values.push_back(ops::from_memory(
        (*known(key))[element / piece] + ".v[" + std::to_string(element % piece) + "]", type.dtype));
  }
  return values;
}

LaneValues ElementPass::memory(const Node &node, const ops::Lanes &lanes) {
  model::TensorType type = region_type(graph_, *environment_.region, node.name);
  const std::string name = "in" + std::to_string(environment_.input_numbers.at(node.name));
  const std::vector<symbolic::IndexForm> where = offsets(model::strides_of(type), lanes);
  last_offsets = where;
  const std::string compute = ops::compute_type_of(type.dtype);
  if (const int direction = vector_direction(where, type)) {
    ++vector_loads;
    const symbolic::IndexForm &first = direction > 0 ? where.front() : where.back();
    const std::string vector = fresh_name(),
                      vector_type = vector_type_of(type.dtype, lanes.size());
    emit("const " + vector_type + " " + vector + " = *(const " + vector_type + " *)(" + name +
         " + " + offset_text(first, type) + ");");
    LaneValues parts;
    for (std::size_t i = 0; i < lanes.size(); ++i)
      parts.push_back(ops::from_memory(
          vector + ".v[" + std::to_string(direction > 0 ? i : lanes.size() - 1 - i) + "]",
          type.dtype));
    return name_values(compute, parts);
  }
  if (auto values = strided_run(name, type, where)) {
    ++vector_loads;
    return name_values(compute, *values);
  }
  if (std::ranges::any_of(where,
                          [&](const symbolic::IndexForm &form) { return form != where[0]; })) {
    ++scalar_loads;
    scalar_inputs.insert(node.name);
  }
  LaneValues loads;
  for (const symbolic::IndexForm &offset : where)
    loads.push_back(ops::from_memory(name + "[" + offset_text(offset, type) + "]", type.dtype));
  return name_values(compute, loads);
}

ops::Lanes ElementPass::broadcast(const ops::Lanes &lanes, const Shape &to) const {
  ops::Lanes result;
  for (const auto &lane : lanes) {
    auto &index =
        result.emplace_back(lane.end() - static_cast<std::ptrdiff_t>(to.size()), lane.end());
    for (std::size_t i = 0; i < to.size(); ++i)
      if (to[i] == 1)
        index[i] = symbolic::IndexMath::constant(0);
  }
  return result;
}

LaneValues ElementPass::pointwise(const Node &node, const ops::Lanes &lanes) {
  std::vector<LaneValues> operands;
  for (const std::string &input : node.inputs)
    operands.push_back(evaluate(input, broadcast(lanes, graph_.node(input).type().shape)));
  LaneValues results;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    std::vector<std::string> values;
    for (const LaneValues &operand : operands)
      values.push_back(operand[lane]);
    results.push_back(ops::pointwise_expression(graph_, node, values));
  }
  return name_values(ops::compute_type_of(node.type().dtype), results);
}

} // namespace warpwright::elements
