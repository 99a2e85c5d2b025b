// Move local_to_shared(array): an array of each thread, indexed by values that the compiler does not
// know, becomes one column per thread in shared memory.
//
//   char count[16];                          __shared__ char count[16][256];
//   count[value[i]]++;          becomes      count[value[i]][threadIdx.x]++;
//
// Registers have no addresses, so the compiler keeps such an array in local memory, which is memory
// behind the caches. A thread uses its own column only, so no barrier is needed. Legal for arrays
// that are used by their elements only. All launches must have the same constant block.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/index_form.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>

#include <algorithm>
#include <array>

namespace warpwright::moves {
namespace {

using clang::dyn_cast;

constexpr std::int64_t kSharedBytes = 48 << 10; // of a block, without asking for more at the launch
constexpr std::int64_t kUnrolled = 32; ///< iterations up to which compilers unroll a loop whole

using Block = std::array<std::int64_t, 3>;

/// The block of all launches. Errors: the reason why it is not one constant.
Result<Block> constant_block(const source::KernelSource &source) {
  if (!source.can_change_launches())
    return fail("the kernel's launches are not known");
  Block block{};
  const auto extents = source::IndexReader(source).block();
  for (std::size_t axis = 0; axis < block.size(); ++axis) {
    if (!extents[axis] || *extents[axis] < 1)
      return fail("the block's size is not known");
    block[axis] = *extents[axis];
  }
  return block;
}

/// Loops of the body by their counters, for those that run a constant number of times.
std::map<const clang::VarDecl *, std::int64_t> constant_loops(const source::KernelSource &source) {
  std::map<const clang::VarDecl *, std::int64_t> found;
  for (const auto *loop : source::find_all<clang::ForStmt>(source.body())) {
    const clang::VarDecl *counter = source::only_variable(loop->getInit());
    const auto *test = loop->getCond() ? source::as<clang::BinaryOperator>(loop->getCond()) : nullptr;
    if (!counter || !counter->hasInit() || !test || source::variable_of(test->getLHS()) != counter)
      continue;
    const auto begin = source::integer_value(source, counter->getInit());
    const auto end = source::integer_value(source, test->getRHS());
    if (begin && end)
      found[counter] = std::abs(*end - *begin);
  }
  return found;
}

/// True if the compiler can replace the index by a number.
bool is_known_index(const source::KernelSource &source, const clang::Expr *index,
                    const std::map<const clang::VarDecl *, std::int64_t> &loops) {
  if (!source::find_all<clang::ArraySubscriptExpr>(index).empty() ||
      !source::find_all<clang::CallExpr>(index).empty() || !source::find_all<clang::MemberExpr>(index).empty())
    return false;
  return std::ranges::all_of(source::find_all<clang::DeclRefExpr>(index), [&](const clang::DeclRefExpr *use) {
    const auto *variable = dyn_cast<clang::VarDecl>(use->getDecl());
    const auto loop = loops.find(variable);
    return !variable || (loop != loops.end() && loop->second <= kUnrolled) ||
           source::integer_value(source, use).has_value();
  });
}

struct LocalArray {
  std::string name;
  Range declaration;             ///< with its extents, without its initializer
  Range initializer;             ///< empty: it has none
  std::size_t statement_end = 0; ///< behind the semicolon
  std::vector<std::size_t> ends; ///< of its elements
  std::int64_t bytes = 0, length = 0;
};

/// True for `{}` and `{0, 0}`.
bool is_zeros(const clang::Expr *initializer) {
  const auto *list = source::as<clang::InitListExpr>(initializer);
  return list && std::ranges::all_of(list->inits(), [](const clang::Expr *one) {
           return llvm::isa<clang::ImplicitValueInitExpr>(one) || source::is_zero(one);
         });
}

/// The outermost subscript of an element of the array, with as many subscripts as it has extents.
std::vector<const clang::ArraySubscriptExpr *> elements_of(const source::KernelSource &source,
                                                           const clang::VarDecl *array, int extents) {
  std::vector<const clang::ArraySubscriptExpr *> found;
  for (const auto *element : source::find_all<clang::ArraySubscriptExpr>(source.body())) {
    const clang::Expr *base = element;
    for (int depth = 0; depth < extents; ++depth) {
      const auto *subscript = source::as<clang::ArraySubscriptExpr>(base);
      base = subscript ? subscript->getBase() : nullptr;
    }
    if (base && source::variable_of(base) == array)
      found.push_back(element);
  }
  return found;
}

/// The array that a statement declares, if it can move. Errors: the reason why not.
Result<LocalArray> local_array(const source::KernelSource &source, const clang::DeclStmt *statement,
                               const std::map<const clang::VarDecl *, std::int64_t> &loops) {
  const clang::VarDecl *array = source::only_variable(statement);
  if (!array || !array->getType()->isConstantArrayType() || array->hasAttr<clang::CUDASharedAttr>() ||
      array->isStaticLocal())
    return fail("the statement does not declare one array of a thread");
  const std::string name = array->getNameAsString();
  if (array->getType().isConstQualified())
    return fail(name + " is constant");
  const clang::ASTContext &context = source.unit().context();
  int extents = 0;
  clang::QualType element = array->getType();
  for (; element->isConstantArrayType(); ++extents)
    element = context.getAsConstantArrayType(element)->getElementType();
  if (!element->isArithmeticType())
    return fail(name + " does not hold numbers");
  if (array->hasInit() && (extents > 1 || !is_zeros(array->getInit())))
    return fail(name + " has an initializer other than zeros");
  const auto elements = elements_of(source, array, extents);
  if (elements.empty() || elements.size() != source::uses_of(source.body(), array).size())
    return fail(name + " is used as a whole");
  LocalArray found{.name = name,
                   .declaration = {},
                   .initializer = {},
                   .ends = {},
                   .bytes = context.getTypeSizeInChars(array->getType()).getQuantity(),
                   .length = context.getAsConstantArrayType(array->getType())->getSize().getSExtValue()};
  bool is_local = false;
  for (const clang::ArraySubscriptExpr *one : elements) {
    const auto range = source.range_of(one);
    if (!range)
      return fail(name + " is used in a macro");
    found.ends.push_back(range->end);
    for (const auto *subscript = one; subscript; subscript = source::as<clang::ArraySubscriptExpr>(subscript->getBase()))
      is_local |= !is_known_index(source, subscript->getIdx(), loops);
  }
  if (!is_local)
    return fail("all indices of " + name + " are known when it is compiled");
  const auto range = source.range_of(array->getSourceRange()), whole = source.statement_range(statement);
  if (!range || !whole)
    return fail(name + " is declared in a macro");
  found.declaration = *range;
  found.statement_end = whole->end;
  if (array->hasInit()) {
    const std::string text = source.text_of(*range);
    const std::size_t end = source::without_trailing_space(text.substr(0, text.find_first_of("={"))).size();
    found.declaration.end = range->begin + end;
    found.initializer = {found.declaration.end, range->end};
  }
  return found;
}

/// Bytes of shared arrays that the kernel declares.
std::int64_t shared_bytes_of(const source::KernelSource &source) {
  std::int64_t bytes = 0;
  for (const auto *statement : source::find_all<clang::DeclStmt>(source.body()))
    for (const clang::VarDecl *variable : source::variables_of(statement))
      if (variable->hasAttr<clang::CUDASharedAttr>() && variable->getType()->isConstantArrayType())
        bytes += source.unit().context().getTypeSizeInChars(variable->getType()).getQuantity();
  return bytes;
}

/// The index of a thread in its block, as further subscripts of an element.
std::string column_text(const Block &block) {
  std::string text;
  for (int axis = 2; axis >= 0; --axis)
    if (axis == 0 || block[axis] != 1)
      text += std::string("[threadIdx.") + "xyz"[axis] + "]";
  return text;
}

constexpr std::string_view kZeros = R"cuda(
for (int $element = 0; $element < $length; ++$element)
  $array[$element]$column = 0;)cuda";

/// The block as further extents of an array.
std::string extents_text(const Block &block) {
  std::string text;
  for (int axis = 2; axis >= 0; --axis)
    if (axis == 0 || block[axis] != 1)
      text += "[" + std::to_string(block[axis]) + "]";
  return text;
}

} // namespace

Result<Offer> offer_local_to_shared(const source::KernelSource &source) {
  const Block block = TRY(constant_block(source));
  if (source.kernel()->getTemplatedKind() != clang::FunctionDecl::TK_NonTemplate)
    return fail("the kernel is a template");
  const auto loops = constant_loops(source);
  const std::int64_t left = kSharedBytes - shared_bytes_of(source);
  std::map<std::string, LocalArray> arrays;
  std::vector<Parameters> choices;
  std::string why = "the kernel has no array of a thread";
  for (const auto *statement : source::find_all<clang::DeclStmt>(source.body())) {
    auto array = local_array(source, statement, loops);
    if (!array) {
      if (const clang::VarDecl *variable = source::only_variable(statement);
          variable && variable->getType()->isConstantArrayType())
        why = array.error().message;
      continue;
    }
    if (array->bytes * block[0] * block[1] * block[2] > left) {
      why = "the block's shared memory cannot hold " + array->name;
      continue;
    }
    choices.push_back({{"array", array->name}});
    arrays.emplace(array->name, *array);
  }
  if (choices.empty())
    return fail(why);
  return Offer{choices, [&source, arrays, block](const Parameters &choice) -> Result<source::Edits> {
                 const LocalArray &array = arrays.at(choice.at("array"));
                 const std::size_t begin = array.declaration.begin, end = array.declaration.end;
                 source::Edits edits{{{begin, begin}, "__shared__ "},
                                     {{end, std::max(end, array.initializer.end)}, extents_text(block)}};
                 for (const std::size_t element : array.ends)
                   edits.push_back({{element, element}, column_text(block)});
                 if (array.initializer.size() > 0) {
                   const std::string zeros = source::render(kZeros, {{"array", array.name},
                                                                     {"length", std::to_string(array.length)},
                                                                     {"column", column_text(block)}},
                                                            source.taken_names());
                   edits.push_back({{array.statement_end, array.statement_end},
                                    "\n" + source::indent(zeros.substr(1), indentation_at(source.text(), begin),
                                                          source.indent_step())});
                 }
                 return edits;
               }};
}

} // namespace warpwright::moves
