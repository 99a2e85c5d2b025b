// Common state of the row kernel writers; see row_layout.h.
#include "generator/families/rows/row_layout.h"

#include "generator/ops/scalar_ops.h"

#include <algorithm>

namespace warpwright::families::rows {
namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

} // namespace

RowLayout::RowLayout(const RowProgram &program, const RowShape &shape, std::string prefix)
    : program(program), graph(program.expanded.graph), region(program.expanded.region),
      shape(shape), passes(plan_passes(program, graph, shape.hold)), indices(program, shape),
      states(program, graph), prefix(std::move(prefix)), inner(program.reduces_inner()) {}

std::int64_t RowLayout::split_length() const {
  const std::int64_t step = inner ? shape.vector : 1;
  const std::int64_t length = ceil_divide(program.row_length, shape.splits);
  return ceil_divide(length, step) * step;
}
int RowLayout::last_reduction() const {
  int last = 0;
  for (const RowReduction &reduction : program.reductions)
    last = std::max(last, reduction.pass);
  return last;
}

bool RowLayout::has_row_outputs(int pass) const {
  return std::ranges::any_of(program.outputs, [&](const RowOutput &output) {
    return output.value.kind == RowValue::Kind::Row && output.value.pass == pass;
  });
}
bool RowLayout::exact() const {
  const std::int64_t length = shape.splits == 1 ? program.row_length : split_length();
  return length % chunk() == 0 && length * shape.splits == program.row_length &&
         program.rows % rows_a_block() == 0;
}

std::int64_t RowLayout::scratch_size() const {
  if (inner)
    return shape.group > 32 ? shape.threads / 32 + (shape.cluster > 1) : 1;
  return column_states(shape.threads, shape.group, shape.vector);
}

Result<void> RowLayout::check() const {
  const std::int64_t innermost = program.groups.back().size;
  if (innermost % shape.vector != 0)
    return fail("vectors of " + std::to_string(shape.vector) + " do not divide " + std::to_string(innermost));
  if (shape.gang > 1) {
    if (!inner || shape.splits > 1 || shape.cluster > 1 || !shape.hold ||
        shape.group != shape.threads * shape.gang)
      return fail("gangs of " + std::to_string(shape.gang) + " blocks do not fit the group");
  } else if (shape.cluster > 1) {
    if (!inner || shape.splits > 1 || shape.group != shape.threads * shape.cluster)
      return fail("clusters of " + std::to_string(shape.cluster) + " blocks do not fit the group");
  } else if (shape.threads % shape.group != 0 || (!inner && shape.threads % 32 != 0))
    return fail("groups of " + std::to_string(shape.group) + " do not divide the block");
  if (shape.hold && (shape.splits > 1 || chunk() < program.row_length))
    return fail("a row does not fit into the registers of its group");
  std::int64_t shared = 0;
  for (int pass = 0; pass < program.passes; ++pass)
    shared += std::int64_t{8} * states.words(pass) * scratch_size();
  if (shared > 48 * 1024)
    return fail("the partial results of a block take " + std::to_string(shared) + " bytes");
  return {};
}

void RowLayout::bind_rows(elements::ElementWriter &writer, int pass,
                          std::optional<int> lane) const {
  indices.bound(writer);
  const auto bind = [&](const std::string &value) {
    const std::string name = "r_" + value;
    std::vector<std::string> lanes;
    for (int i = 0; i < indices.width(); ++i)
      lanes.push_back(name + "[" + std::to_string(i) + "]");
    if (lane)
      writer.bind(value, lanes[static_cast<std::size_t>(*lane)]);
    else
      writer.bind(value, lanes);
  };
  for (const RowReduction &reduction : program.reductions)
    if (reduction.pass < pass)
      bind(reduction.node);
  for (const std::string &value : passes.row_values)
    if (program.values.at(value).pass <= pass && known_rows.contains(value))
      bind(value);
}

std::string RowLayout::element_of(const RowOutput &output, const elements::Index &index) const {
  const model::TensorType type = elements::region_type(graph, region, output.node);
  const model::Shape strides = model::strides_of(type);
  std::string offset;
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (type.shape[i] == 1)
      continue;
    offset += (offset.empty() ? "(" : " + (") + index[i] + ")";
    if (strides[i] != 1)
      offset += " * static_cast<" + indices.type() + ">(" + std::to_string(strides[i]) + ")";
  }
  return "out" + std::to_string(static_cast<std::int64_t>(output.index)) + "[" +
         (offset.empty() ? "0" : offset) + "]";
}

std::string RowLayout::declare_state(int pass) const {
  const std::string state = "state" + std::to_string(pass);
  std::string text =
      "  " + struct_name(pass) + " " + state + "[" + std::to_string(indices.width()) + "];\n";
  for (int lane = 0; lane < indices.width(); ++lane)
    text += "  " + state + "[" + std::to_string(lane) + "] = " + struct_name(pass) + "::identity();\n";
  return text;
}

std::string RowLayout::compute_type(const std::string &value) const {
  return ops::compute_type_of(graph.node(value).type().dtype);
}

} // namespace warpwright::families::rows
