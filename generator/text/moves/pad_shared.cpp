// Move pad_shared(padding): one more column in two-dimensional shared arrays whose row length is a
// multiple of all banks.
//
// With rows of 32 words a column lies in one bank; one word of padding spreads it over all. Legal
// when the array is only used as a[i][j], so that no code depends on the distance of its rows.
#include "generator/text/moves/move_kind.h"

#include <clang/AST/TypeLoc.h>

#include <algorithm>
#include <cctype>

namespace warpwright::moves {
namespace {

constexpr int kBankBytes = 128; // 32 banks of 4 bytes: CUDA C++ Programming Guide, "Shared Memory"

/// True if every use of the array in the body is an element a[i][j].
bool is_used_by_elements(const source::KernelSource &source, const clang::VarDecl *array) {
  std::size_t elements = 0;
  for (const auto *element : source::find_all<clang::ArraySubscriptExpr>(source.body())) {
    const auto *row = source::as<clang::ArraySubscriptExpr>(element->getBase());
    elements += row && source::variable_of(row->getBase()) == array;
  }
  return elements > 0 && source::uses_of(source.body(), array).size() == elements;
}

/// Source range of the array's last extent; nullopt where it cannot be padded.
std::optional<Range> paddable_extent(const source::KernelSource &source,
                                     const clang::VarDecl *array) {
  const clang::ASTContext &context = source.unit().context();
  const auto *outer = context.getAsConstantArrayType(array->getType());
  const auto *inner = outer ? context.getAsConstantArrayType(outer->getElementType()) : nullptr;
  if (!array->hasAttr<clang::CUDASharedAttr>() || !inner ||
      inner->getElementType()->isArrayType() || !array->getTypeSourceInfo() ||
      context.getTypeSizeInChars(outer->getElementType()).getQuantity() % kBankBytes != 0 ||
      !is_used_by_elements(source, array))
    return std::nullopt;
  const auto rows = array->getTypeSourceInfo()->getTypeLoc().getAsAdjusted<clang::ArrayTypeLoc>();
  const auto columns =
      rows ? rows.getElementLoc().getAsAdjusted<clang::ArrayTypeLoc>() : clang::ArrayTypeLoc();
  return columns ? source.range_of(columns.getSizeExpr()) : std::nullopt;
}

} // namespace

Result<Offer> offer_pad_shared(const source::KernelSource &source) {
  std::vector<Range> extents;
  for (const auto *statement : source::find_all<clang::DeclStmt>(source.body()))
    for (const clang::VarDecl *array : source::variables_of(statement))
      if (const auto extent = paddable_extent(source, array))
        extents.push_back(*extent);
  if (extents.empty())
    return fail("there is no two-dimensional shared array with rows that fill all banks");
  return Offer{
      choices_of("padding", {1}), [&source, extents](const Parameters &choice) {
        source::Edits edits;
        for (const Range &extent : extents) {
          const std::string text = source.text_of(extent);
          const bool is_number =
              std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
          edits.push_back({extent, is_number
                                       ? std::to_string(std::stoi(text) + number(choice, "padding"))
                                       : text + " + " + choice.at("padding")});
        }
        return edits;
      }};
}

} // namespace warpwright::moves
