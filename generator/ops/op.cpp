#include "generator/ops/op.h"

#include "generator/ops/scalar_ops.h"
#include "generator/ops/table/rows.h"

#include <algorithm>
#include <unordered_map>

namespace warpwright::ops {
namespace {

struct Table {
  std::vector<const Op *> traced;
  std::unordered_map<std::string_view, const Op *> by_name;

  Table() {
    for (const auto *part : {&table::kLeaves, &table::kPointwise, &table::kViews,
                             &table::kReductions, &table::kNorms, &table::kProducts,
                             &table::kWindows})
      for (const Op &op : *part)
        traced.push_back(&op);
    std::ranges::sort(traced, {}, &Op::name);
    for (const Op *op : traced)
      by_name.emplace(op->name, op);
    for (const Op &op : table::kInternal)
      by_name.emplace(op.name, &op);
  }
};

const Table &the_table() {
  static const Table made;
  return made;
}

} // namespace

const Op *find_op(std::string_view name) {
  const auto found = the_table().by_name.find(name);
  return found == the_table().by_name.end() ? nullptr : found->second;
}

const Op &op_of(const model::Node &node) {
  static const Op kUnknown{};
  const Op *found = find_op(node.op);
  return found ? *found : kUnknown;
}

const std::vector<const Op *> &all_ops() { return the_table().traced; }

ElementText ElementText::number(double value) const { return {literal(value, dtype_), dtype_}; }

ElementText ElementText::call(const std::string &function) const {
  return {function + (dtype_ == model::Dtype::Float64 ? "(" : "f(") + text_ + ")", dtype_};
}

ElementText infix(const ElementText &a, const char *sign, const ElementText &b,
                  ElementText::Precedence precedence) {
  const auto right = static_cast<ElementText::Precedence>(precedence + 1);
  return {a.within(precedence) + " " + sign + " " + b.within(right), a.dtype(), precedence};
}

namespace element {

ElementText maximum(const ElementText &a, const ElementText &b) {
  return {"warpwright_maximum(" + a.bare() + ", " + b.bare() + ")", a.dtype()};
}

ElementText minimum(const ElementText &a, const ElementText &b) {
  return {"warpwright_minimum(" + a.bare() + ", " + b.bare() + ")", a.dtype()};
}

ElementText select(const ElementText &condition, const ElementText &yes, const ElementText &no) {
  return {condition.within(ElementText::Comparison) + " ? " + yes.within(ElementText::Comparison) +
              " : " + no.within(ElementText::Comparison),
          yes.dtype(), ElementText::Choice};
}

} // namespace element
} // namespace warpwright::ops
