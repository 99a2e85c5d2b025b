#include "generator/ops/describe.h"

#include "generator/ops/op.h"

#include <nlohmann/json.hpp>

namespace warpwright::ops {
namespace {

const char *name_of(Kind kind) {
  switch (kind) {
  case Kind::Buffer:
    return "buffer";
  case Kind::Generated:
    return "generated";
  case Kind::Opaque:
    return "opaque";
  case Kind::Pointwise:
    return "pointwise";
  case Kind::View:
    return "view";
  case Kind::Indexed:
    return "indexed";
  case Kind::Scatter:
    return "scatter";
  case Kind::Reduction:
    return "reduction";
  case Kind::Selection:
    return "selection";
  case Kind::Scan:
    return "scan";
  case Kind::Norm:
    return "norm";
  case Kind::Product:
    return "product";
  case Kind::Window:
    return "window";
  case Kind::Internal:
    return "internal";
  }
  return "";
}

} // namespace

std::string operators_json() {
  std::string text = "{\n";
  for (const Op *op : all_ops()) {
    nlohmann::ordered_json row{{"kind", name_of(op->kind)},
                               {"operands", {op->least_operands, op->most_operands}},
                               {"attributes", nlohmann::json::array()}};
    for (const AttributeRule &rule : op->attributes)
      row["attributes"].push_back(std::string(rule.name) + (rule.required ? "" : "?"));
    if (op->compares || op->logical)
      row["truth"] = true;
    if (op->integral)
      row["integral"] = true;
    if (!op->meaning.empty())
      row["meaning"] = op->meaning;
    text += "  \"" + std::string(op->name) + "\": " + row.dump() +
            (op == all_ops().back() ? "\n" : ",\n");
  }
  return text + "}\n";
}

} // namespace warpwright::ops
