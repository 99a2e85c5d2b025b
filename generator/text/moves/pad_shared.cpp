// pad_shared(padding): one more column in two-dimensional shared arrays whose rows are whole turns of the banks.
//
// With rows of 32 words a column lies in one bank; one word of padding spreads it over all. Legal when the array
// is only used as a[i][j], so that nothing depends on how far apart its rows lie.
#include "generator/text/moves/move_kind.h"

#include <clang/AST/TypeLoc.h>

#include <algorithm>
#include <cctype>

namespace warpwright::generator {

using clang::dyn_cast;

namespace {

constexpr int kBankBytes = 128; // 32 banks of 4 bytes: CUDA C++ Programming Guide, "Shared Memory"

/// Places of the last extent of arrays that can be padded.
std::vector<Range> paddable(const KernelSource &source) {
  std::vector<Range> extents;
  for (const auto *statement : find_all<clang::DeclStmt>(source.body()))
    for (const clang::Decl *declaration : statement->decls()) {
      const auto *array = dyn_cast<clang::VarDecl>(declaration);
      if (!array || !array->hasAttr<clang::CUDASharedAttr>())
        continue;
      const auto *outer = source.unit().context().getAsConstantArrayType(array->getType());
      const auto *inner =
          outer ? source.unit().context().getAsConstantArrayType(outer->getElementType()) : nullptr;
      if (!inner || inner->getElementType()->isArrayType() || !array->getTypeSourceInfo())
        continue;
      const auto bytes =
          source.unit().context().getTypeSizeInChars(outer->getElementType()).getQuantity();
      auto outer_loc =
          array->getTypeSourceInfo()->getTypeLoc().getAsAdjusted<clang::ArrayTypeLoc>();
      auto inner_loc = outer_loc ? outer_loc.getElementLoc().getAsAdjusted<clang::ArrayTypeLoc>()
                                 : clang::ArrayTypeLoc();
      auto range = inner_loc ? source.range_of(inner_loc.getSizeExpr()) : std::nullopt;
      std::size_t uses = 0, elements = 0;
      for_each_node(source.body(), [&](const clang::Stmt *node) {
        const auto *reference = dyn_cast<clang::DeclRefExpr>(node);
        uses += reference && reference->getDecl() == array;
        const auto *element = dyn_cast<clang::ArraySubscriptExpr>(node);
        const auto *row =
            element ? dyn_cast<clang::ArraySubscriptExpr>(strip(element->getBase())) : nullptr;
        elements += row && variable_of(row->getBase()) == array;
      });
      if (range && bytes % kBankBytes == 0 && uses == elements && uses > 0)
        extents.push_back(*range);
    }
  return extents;
}

} // namespace

Choices check_pad_shared(const KernelSource &source) {
  if (paddable(source).empty())
    return Choices::none("there is no two-dimensional shared array whose rows fill all banks");
  return {choices_of("padding", {1}), {}};
}

Result<Edits> apply_pad_shared(const KernelSource &source, const Parameters &parameters) {
  Edits edits;
  for (const Range &extent : paddable(source)) {
    const std::string text(source.text().substr(extent.begin, extent.size()));
    const bool is_number =
        std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
    edits.push_back({extent, is_number
                                 ? std::to_string(std::stoi(text) + number(parameters, "padding"))
                                 : text + " + " + parameters.at("padding")});
  }
  return edits;
}

} // namespace warpwright::generator
