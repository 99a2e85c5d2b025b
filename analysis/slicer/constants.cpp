// Values are derived from the position with a linear congruential generator, so they vary between
// elements and are always the same. Thread: any.
#include "analysis/slicer/constants.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>

#include <cstdint>
#include <cstdio>

namespace warpwright::analysis::slicer {
namespace {

constexpr std::int64_t kMaxElements = 16384;

/// Multiplier and increment of Knuth's MMIX generator; the high bits have the best quality.
std::uint64_t scramble(std::uint64_t i) {
  return (i + 1) * 6364136223846793005ull + 1442695040888963407ull;
}

std::string value(clang::QualType type, std::int64_t i) {
  const int number = static_cast<int>(scramble(static_cast<std::uint64_t>(i)) >> 56); // 0..255
  if (!type->isRealFloatingType())
    return std::to_string(number % 7 + 1);
  // Multiples of 1/16 between -8/16 and 7/16, without zero, are exact in every floating-point type.
  const int sixteenths = number % 16 - 8;
  char text[32];
  std::snprintf(text, sizeof text, "%.4ff", (sixteenths == 0 ? 3 : sixteenths) / 16.0);
  return text;
}

} // namespace

std::string constant_initializer(const clang::VarDecl &variable) {
  if (!variable.hasAttr<clang::CUDAConstantAttr>() || variable.hasInit() ||
      variable.hasExternalStorage())
    return {};
  std::int64_t count = 1;
  clang::QualType type = variable.getType();
  bool is_array = false;
  while (const auto *array =
             llvm::dyn_cast_or_null<clang::ConstantArrayType>(type->getAsArrayTypeUnsafe())) {
    count *= static_cast<std::int64_t>(array->getSize().getZExtValue());
    type = array->getElementType();
    is_array = true;
  }
  if (count < 1 || count > kMaxElements || !(type->isDependentType() || type->isArithmeticType()))
    return {};
  if (!is_array)
    return " = " + value(type, 0);
  std::string text = " = {";
  for (std::int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + value(type, i);
  return text + "}";
}

} // namespace warpwright::analysis::slicer
