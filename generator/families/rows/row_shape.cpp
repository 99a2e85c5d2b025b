// Index texts of row regions; see row_shape.h.
#include "generator/families/rows/row_shape.h"

namespace warpwright::families::rows {

RowIndices::RowIndices(const RowProgram &program, const RowShape &shape)
    : program_(program), shape_(shape) {
  // The margin above the number of elements allows loop variables to run past the end.
  type_ =
      program.elements() > (std::int64_t{1} << 31) - (std::int64_t{1} << 24) ? "long long" : "int";
  strides_.resize(program.groups.size());
  std::int64_t stride = 1;
  for (std::size_t g = program.groups.size(); g-- > 0;) {
    strides_[g] = stride;
    stride *= program.groups[g].size;
  }
}

std::string RowIndices::coordinate(std::size_t group, int lane) const {
  const std::string name = "g" + std::to_string(group);
  if (group + 1 < program_.groups.size() || shape_.vector == 1)
    return name;
  return name + " * " + std::to_string(shape_.vector) + " + " + std::to_string(lane);
}

std::string RowIndices::declare(bool reduced, const std::string &from,
                                const std::string &indent) const {
  std::string text;
  std::int64_t inner = 1;
  std::int64_t total = reduced ? program_.row_length : program_.rows;
  for (std::size_t g = program_.groups.size(); g-- > 0;) {
    const RowGroup &group = program_.groups[g];
    if (group.reduced != reduced)
      continue;
    const std::int64_t step = g + 1 == program_.groups.size() ? shape_.vector : 1;
    std::string value = from;
    if (inner * step > 1)
      value += " / " + std::to_string(inner * step);
    inner *= group.size;
    if (inner < total)
      value = "(" + value + ") % " + std::to_string(group.size / step);
    text += indent + "const " + type_ + " g" + std::to_string(g) + " = " + value + ";\n";
  }
  return text;
}

std::string RowIndices::declare_kept(const std::string &indent) const {
  return declare(false, "row", indent);
}
std::string RowIndices::declare_reduced(const std::string &indent) const {
  return declare(true, "r", indent);
}

std::string RowIndices::offset() const {
  std::string text;
  for (std::size_t g = 0; g < program_.groups.size(); ++g) {
    text += (g ? " + g" : "g") + std::to_string(g);
    const std::int64_t step = g + 1 == program_.groups.size() ? shape_.vector : 1;
    if (strides_[g] * step > 1)
      text += " * " + std::to_string(strides_[g] * step);
  }
  return text;
}

void RowIndices::bound(elements::ElementWriter &writer) const {
  for (std::size_t g = 0; g < program_.groups.size(); ++g)
    writer.bound("g" + std::to_string(g),
                 program_.groups[g].size / (g + 1 == program_.groups.size() ? shape_.vector : 1));
}

std::optional<elements::Index> RowIndices::aligned(const model::Shape &shape, int lane,
                                                   bool with_reduced) const {
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < program_.groups.size(); ++g)
    if (with_reduced || !program_.groups[g].reduced)
      groups.push_back(g);
  elements::Index index;
  std::size_t next = 0;
  std::int64_t left = groups.empty() ? 1 : program_.groups[groups[0]].size;
  for (const std::int64_t extent : shape) {
    while (extent > 1 && left == 1 && next + 1 < groups.size())
      left = program_.groups[groups[++next]].size;
    if (extent == 1) {
      index.push_back("0");
      continue;
    }
    if (left % extent != 0)
      return std::nullopt;
    const std::size_t group = groups[next];
    const std::int64_t inner = left / extent;
    std::string text = coordinate(group, lane);
    if (inner > 1)
      text = "(" + text + ") / " + std::to_string(inner);
    if (left < program_.groups[group].size)
      text = "(" + text + ") % " + std::to_string(extent);
    index.push_back(text);
    left = inner;
  }
  return index;
}

elements::Index RowIndices::flat(const model::Shape &shape, const std::string &position) const {
  elements::Index index(shape.size(), "0");
  std::int64_t inner = 1, total = model::elements_of(shape);
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 1)
      continue;
    std::string text = "(" + position + ")";
    if (inner > 1)
      text += " / " + std::to_string(inner);
    inner *= shape[i];
    if (inner < total)
      text = "(" + text + ") % " + std::to_string(shape[i]);
    index[i] = text;
  }
  return index;
}

elements::Index RowIndices::element(const model::Shape &shape, int lane) const {
  if (auto index = aligned(shape, lane, true))
    return *index;
  return flat(shape, offset() + " + " + std::to_string(lane));
}

elements::Index RowIndices::row(const model::Shape &shape, int lane) const {
  const int within = program_.reduces_inner() ? 0 : lane;
  if (auto index = aligned(shape, within, false))
    return *index;
  return flat(shape, "row + " + std::to_string(within));
}

} // namespace warpwright::families::rows
