#include "generator/elements/element_writer.h"

#include "generator/elements/element_forward.h"
#include "generator/ops/names.h"
#include "generator/ops/op_traits.h"
#include "generator/ops/scalar_ops.h"
#include "generator/ops/attributes.h"

#include <algorithm>

namespace warpwright::elements {
namespace {

const std::string kPrelude = std::string(R"(// N consecutive elements, moved as one access.
template <class T, int N> struct alignas(sizeof(T) * N) warpwright_vector {
  T v[N];
};
)") + ops::scalar_prelude();

/// Returns lanes over one dimension of a shape: index d0, d1, ..., and n consecutive elements.
ops::Lanes symbolic_lanes(symbolic::IndexMath &math, const model::Shape &shape, int count,
                          std::size_t along) {
  const symbolic::IndexForm group =
      math.scale(math.atom("group", {0, shape[along] / count - 1}), count);
  ops::Lanes lanes(static_cast<std::size_t>(count));
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (int i = 0; i < count; ++i)
      lanes[static_cast<std::size_t>(i)].push_back(
          d == along ? math.add(group, symbolic::IndexMath::constant(i))
                     : math.atom("d" + std::to_string(d), {0, shape[d] - 1}));
  return lanes;
}

/// Fewest elements for which vectors pay that leave a rest, which costs instructions of its own.
constexpr std::int64_t kLeastForRest = 1 << 14;

} // namespace

const char *ElementWriter::prelude() { return kPrelude.c_str(); }

ElementWriter::ElementWriter(const ops::GraphIndex &graph, const Region &region)
    : graph_(graph), region_(region) {
  environment_.graph = &graph_;
  environment_.region = &region_;
  environment_.names = &names_;
  for (std::size_t i = 0; i < region.inputs.size(); ++i)
    environment_.input_numbers.emplace(region.inputs[i], static_cast<int>(i));
}

std::string ElementWriter::parameters() const {
  std::string text;
  const auto add = [&](const std::string &value, const std::string &name, const char *constant) {
    text += (text.empty() ? "" : ", ") + std::string(constant) +
            ops::memory_type_of(graph_.node(value).type().dtype) + " *__restrict__ " + name;
  };
  for (std::size_t i = 0; i < region_.inputs.size(); ++i)
    add(region_.inputs[i], "in" + std::to_string(i), "const ");
  for (std::size_t i = 0; i < region_.outputs.size(); ++i)
    add(region_.outputs[i], "out" + std::to_string(i), "");
  return text;
}

std::vector<model::Argument> ElementWriter::arguments() const {
  std::vector<model::Argument> result;
  for (const auto *values : {&region_.inputs, &region_.outputs})
    for (const std::string &value : *values)
      result.push_back(model::BufferArgument{value, {}});
  return result;
}

void ElementWriter::bound(const std::string &variable, std::int64_t size) {
  environment_.ranges.insert_or_assign(variable,
                                       symbolic::Interval{0, std::max<std::int64_t>(size, 1) - 1});
}

void ElementWriter::bind(const std::string &value, const std::string &expression) {
  if (expression.empty())
    environment_.bound.erase(value);
  else
    environment_.bound.insert_or_assign(value, LaneValues{expression});
}

void ElementWriter::bind(const std::string &value, std::vector<std::string> lanes) {
  environment_.bound.insert_or_assign(value, std::move(lanes));
}

std::string ElementWriter::compute_type(const std::string &value) const {
  return ops::compute_type_of(graph_.node(value).type().dtype);
}

ops::Lanes ElementWriter::parse(ElementPass &pass, std::span<const Index> lanes,
                                const model::Shape &shape) const {
  ops::Lanes result;
  for (const Index &lane : lanes) {
    auto &index = result.emplace_back();
    for (std::size_t d = 0; d < shape.size(); ++d)
      index.push_back(pass.math().parse(lane.at(d), {0, shape[d] - 1}));
  }
  return result;
}

std::string ElementWriter::load(const std::string &value, const Index &index, std::string &before) {
  return load(value, std::span(&index, 1), before).front();
}

std::vector<std::string> ElementWriter::load(const std::string &value, std::span<const Index> lanes,
                                             std::string &before) {
  ElementPass pass(environment_, before);
  return pass.evaluate(value, parse(pass, lanes, graph_.node(value).type().shape));
}

std::string ElementWriter::store(const Index &index, const std::string &element, int result) {
  return store(std::span(&index, 1), std::span(&element, 1), result);
}

std::string ElementWriter::store(std::span<const Index> lanes,
                                 std::span<const std::string> elements, int result) {
  const Stored text = values_and_stores(lanes, elements, result);
  return text.values + text.stores;
}

ElementWriter::Stored ElementWriter::values_and_stores(std::span<const Index> lanes,
                                                       std::span<const std::string> elements,
                                                       int result) {
  Stored text;
  ElementPass pass(environment_, text.values);
  const model::Shape &shape =
      region_.anchor.empty() ? stored_shape() : graph_.node(region_.anchor).types.at(result).shape;
  store_all(pass, parse(pass, lanes, shape), LaneValues(elements.begin(), elements.end()), result);
  text.stores = std::move(pass.stores);
  return text;
}

std::string ElementWriter::store_output(const std::string &output, std::span<const Index> lanes) {
  std::string statements;
  ElementPass pass(environment_, statements);
  const auto number = std::ranges::find(region_.outputs, output) - region_.outputs.begin();
  write(pass, number, parse(pass, lanes, graph_.node(output).type().shape));
  return statements + pass.stores;
}

std::string ElementWriter::offset(const std::string &output, const Index &index) const {
  std::string statements;
  ElementPass pass(environment_, statements);
  const model::TensorType type = region_type(graph_, region_, output);
  const auto offsets =
      pass.offsets(model::strides_of(type), parse(pass, std::span(&index, 1), type.shape));
  return pass.offset_text(offsets.front(), type);
}

const model::Shape &ElementWriter::stored_shape() const {
  return graph_.node(region_.anchor.empty() ? region_.outputs.at(0) : region_.anchor).type().shape;
}

void ElementWriter::store_all(ElementPass &pass, const ops::Lanes &lanes, LaneValues elements,
                              int result) const {
  if (region_.anchor.empty()) {
    for (std::size_t i = 0; i < region_.outputs.size(); ++i) {
      const model::Shape &shape = graph_.node(region_.outputs[i]).type().shape;
      write(pass, i,
            shape == stored_shape() ? lanes
                                    : ops::reshaped(pass.math(), lanes, stored_shape(), shape));
    }
    return;
  }
  const model::Node &anchor = graph_.node(region_.anchor);
  std::vector<std::string> starts;
  if (result == 0)
    starts.push_back(region_.anchor);
  for (const std::string &name : region_.nodes)
    if (const model::Node &node = graph_.node(name);
        node.op == op::item && node.inputs[0] == region_.anchor &&
        ops::integer_attribute(node, "index") == result)
      starts.push_back(name);
  // Elements may be used several times: name them once.
  const std::string type = ops::compute_type_of(anchor.types.at(result).dtype);
  for (std::string &element : elements) {
    const std::string name = pass.fresh_name();
    pass.emit("const " + type + " " + name + " = " + element + ";");
    element = name;
  }
  for (const std::string &start : starts)
    pass.pin(start, elements);
  const auto mapped = forward_all(pass, graph_, region_.nodes, starts, lanes);
  for (std::size_t i = 0; i < region_.outputs.size(); ++i) {
    if (!mapped) {
      pass.emit("warpwright_value_at_two_places_" + region_.outputs[i] + ";");
      continue;
    }
    for (const auto &[name, places] : *mapped)
      if (name == region_.outputs[i])
        write(pass, i, places);
  }
}

void ElementWriter::write(ElementPass &pass, std::size_t output, const ops::Lanes &lanes) const {
  const std::string &value = region_.outputs[output];
  const model::TensorType type = region_type(graph_, region_, value);
  const LaneValues values = pass.evaluate(value, lanes);
  const std::vector<symbolic::IndexForm> where = pass.offsets(model::strides_of(type), lanes);
  const std::string target = "out" + std::to_string(output);
  if (const int direction = pass.vector_direction(where, type)) {
    const std::string vector = pass.fresh_name(),
                      vector_type = vector_type_of(type.dtype, lanes.size());
    pass.emit(vector_type + " " + vector + ";");
    for (std::size_t i = 0; i < values.size(); ++i)
      pass.emit(vector + ".v[" + std::to_string(direction > 0 ? i : values.size() - 1 - i) +
                "] = " + ops::to_memory(values[i], type.dtype) + ";");
    pass.emit_store("*(" + vector_type + " *)(" + target + " + " +
                    pass.offset_text(direction > 0 ? where.front() : where.back(), type) +
                    ") = " + vector + ";");
    ++pass.vector_loads;
    return;
  }
  ++pass.scalar_loads;
  pass.scalar_inputs.insert(value);
  for (std::size_t i = 0; i < values.size(); ++i)
    pass.emit_store(target + "[" + pass.offset_text(where[i], type) +
                    "] = " + ops::to_memory(values[i], type.dtype) + ";");
}

int ElementWriter::load_width(const std::string &value) const {
  const std::size_t rank = graph_.node(value).type().shape.size();
  return rank == 0 ? 1 : load_width(value, rank - 1);
}

int ElementWriter::store_width() const {
  return stored_shape().empty() ? 1 : store_width(stored_shape().size() - 1);
}

int ElementWriter::load_width(const std::string &value, std::size_t dim) const {
  const model::Shape &shape = graph_.node(value).type().shape;
  return widest(shape, dim,
                [&](ElementPass &pass, const ops::Lanes &lanes) { pass.evaluate(value, lanes); });
}

int ElementWriter::store_width(std::size_t dim) const {
  return widest(stored_shape(), dim, [&](ElementPass &pass, const ops::Lanes &lanes) {
    store_all(pass, lanes, LaneValues(lanes.size(), "x"), 0);
  });
}

int ElementWriter::widest(
    const model::Shape &shape, std::size_t dim,
    const std::function<void(ElementPass &, const ops::Lanes &)> &write) const {
  for (const int width : {8, 4, 2}) {
    if (shape.at(dim) % width != 0)
      continue;
    std::string statements;
    int names = 0;
    ElementPass::Environment environment = environment_;
    environment.names = &names;
    ElementPass pass(environment, statements);
    write(pass, symbolic_lanes(pass.math(), shape, width, dim));
    if (pass.scalar_loads == 0)
      return width;
  }
  return 1;
}

std::vector<Index> ElementWriter::row_major_index(const std::string &group, int width) {
  const model::Shape &shape = stored_shape();
  bound(group, std::max<std::int64_t>(model::elements_of(shape) / width, 1));
  // In the order in which the first output lies in memory, the fastest dimension first.
  std::vector<std::size_t> order;
  for (std::size_t d = shape.size(); d-- > 0;)
    order.push_back(d);
  if (region_.anchor.empty()) {
    const model::Shape strides =
        model::strides_of(region_type(graph_, region_, region_.outputs.at(0)));
    std::ranges::stable_sort(order, {}, [&](std::size_t d) { return strides[d]; });
  }
  std::vector<Index> lanes;
  for (int lane = 0; lane < width; ++lane) {
    Index index(shape.size());
    std::int64_t inner = 1;
    const std::string element =
        "(" + std::to_string(width) + " * " + group + " + " + std::to_string(lane) + ")";
    for (const std::size_t d : order) {
      index[d] = element + " / " + std::to_string(inner) + " % " + std::to_string(shape[d]);
      inner *= shape[d];
    }
    lanes.push_back(std::move(index));
  }
  return lanes;
}

int ElementWriter::flat_width() const {
  const std::int64_t elements = model::elements_of(stored_shape());
  for (const int width : {8, 4, 2}) {
    if (elements < width || (elements % width != 0 && elements < kLeastForRest))
      continue;
    ElementWriter trial(graph_, region_);
    std::string statements;
    const std::vector<Index> index = trial.row_major_index("i", width);
    ElementPass pass(trial.environment_, statements);
    trial.store_all(pass, trial.parse(pass, index, stored_shape()), LaneValues(width, "x"), 0);
    if (std::ranges::all_of(pass.scalar_inputs, [&](const std::string &value) {
          return model::elements_of(graph_.node(value).type().shape) * 8 < elements;
        }))
      return width;
  }
  return 1;
}

std::int64_t ElementWriter::stride(const std::string &value, std::size_t dim) const {
  const model::Shape &shape = graph_.node(value).type().shape;
  if (shape.at(dim) < 2)
    return 0;
  std::string statements;
  int names = 0;
  ElementPass::Environment environment = environment_;
  environment.names = &names;
  ElementPass pass(environment, statements);
  ops::Lanes lanes(2);
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (int lane = 0; lane < 2; ++lane)
      lanes[lane].push_back(
          d == dim ? pass.math().add(
                         pass.math().scale(pass.math().atom("pair", {0, shape[d] / 2 - 1}), 2),
                         symbolic::IndexMath::constant(lane))
                   : pass.math().atom("d" + std::to_string(d), {0, shape[d] - 1}));
  pass.evaluate(value, lanes);
  if (pass.last_offsets.size() != 2)
    return 0;
  const symbolic::IndexForm step =
      pass.math().add(pass.last_offsets[1], pass.math().scale(pass.last_offsets[0], -1));
  return step.is_constant() ? step.constant : 0;
}

int ElementWriter::vector_width() const {
  int width = store_width();
  if (region_.anchor.empty())
    return width;
  const model::Node &anchor = graph_.node(region_.anchor);
  for (const std::string &input : anchor.inputs) {
    const model::Shape &shape = graph_.node(input).type().shape;
    if (!shape.empty() && !anchor.type().shape.empty() &&
        shape.back() == anchor.type().shape.back())
      width = std::min(width, load_width(input));
  }
  return width;
}

} // namespace warpwright::elements
