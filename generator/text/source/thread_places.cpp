// Edits of a kernel's uses of its place along x; see thread_places.h.
#include "generator/text/source/thread_places.h"

#include <algorithm>

namespace warpwright::source {

using clang::dyn_cast;

namespace {

/// The texts of the original's places.
struct Names {
  std::string index, thread, block, block_extent, grid_extent;
  std::string thread_value, block_value; ///< where `thread` and `block` are names to declare
};

Names names_of(const IndexReader &form, int threads, bool grows_block) {
  const std::string factor = std::to_string(threads);
  if (grows_block && form.block()[0] == 1)
    return {"blockIdx.x", "0", "blockIdx.x", "1", "gridDim.x", "", ""};
  Names names;
  names.index = "blockIdx.x * (blockDim.x / " + factor + ") + threadIdx.x / " + factor;
  names.thread = form.source().unused_name("thread");
  if (grows_block) {
    names.thread_value = "threadIdx.x / " + factor;
    names.block = "blockIdx.x";
    names.block_extent = "(blockDim.x / " + factor + ")";
    names.grid_extent = "gridDim.x";
    return names;
  }
  names.thread_value = "blockIdx.x % " + factor + " * (blockDim.x / " + factor + ") + threadIdx.x / " + factor;
  names.block = form.source().unused_name("block");
  names.block_value = "blockIdx.x / " + factor;
  names.block_extent = "blockDim.x";
  names.grid_extent = "(gridDim.x / " + factor + ")";
  return names;
}

/// True if the expression computes the global index itself, from the built-in places and in 32 bits.
bool is_plain_index(const IndexReader &form, const clang::Expr *expression) {
  const auto *sum = dyn_cast<clang::BinaryOperator>(expression);
  if (!sum || sum->getOpcode() != clang::BO_Add || form.of(sum) != symbolic::Polynomial::symbol("gid.x") ||
      form.source().unit().context().getTypeSize(sum->getType()) != 32)
    return false;
  bool has_thread = false, has_block = false;
  for (const auto *member : find_all<clang::MemberExpr>(sum)) {
    has_thread |= builtin_of(member) == "threadIdx.x";
    has_block |= builtin_of(member) == "blockIdx.x";
  }
  return has_thread && has_block && find_all<clang::ExplicitCastExpr>(sum).empty();
}

} // namespace

bool uses_whole_place(const clang::Stmt *body) {
  std::ptrdiff_t uses = 0;
  for (const auto *reference : find_all<clang::DeclRefExpr>(body))
    for (const char *name : {"threadIdx", "blockIdx", "blockDim", "gridDim"})
      uses += reference->getDecl()->getNameAsString() == name;
  return uses != std::ranges::count_if(find_all<clang::MemberExpr>(body), [](const clang::MemberExpr *member) {
           return !builtin_of(member).empty();
         });
}

Result<ThreadPlaces> divided_places(const IndexReader &form, int threads, bool grows_block) {
  const KernelSource &source = form.source();
  const Names names = names_of(form, threads, grows_block);
  ThreadPlaces places;
  std::set<const clang::Stmt *> replaced;
  std::set<std::string> used;
  bool is_hidden = false;
  for_each_node(source.body(), [&](const clang::Stmt *node) {
    const auto *expression = dyn_cast<clang::Expr>(node);
    if (!expression || replaced.contains(node))
      return;
    std::string text;
    if (is_plain_index(form, expression)) {
      text = names.index;
      for_each_node(node, [&](const clang::Stmt *below) { replaced.insert(below); });
    } else if (llvm::isa<clang::MemberExpr>(node)) {
      const std::string builtin = builtin_of(expression);
      text = builtin == "threadIdx.x"  ? names.thread
             : builtin == "blockIdx.x" ? names.block
             : builtin == "blockDim.x" ? names.block_extent
             : builtin == "gridDim.x"  ? names.grid_extent
                                       : "";
      if (!text.empty())
        used.insert(builtin);
    }
    if (text.empty())
      return;
    const auto range = source.range_of(expression);
    is_hidden |= !range;
    if (range && source.text_of(*range) != text)
      places.edits.push_back({*range, text});
  });
  if (is_hidden)
    return fail("the thread's place comes from a macro");
  if (uses_whole_place(source.body()))
    return fail("the thread's place is used as a whole");
  if (used.contains("blockIdx.x") && !names.block_value.empty())
    places.declarations += "const unsigned " + names.block + " = " + names.block_value + ";\n";
  if (used.contains("threadIdx.x") && !names.thread_value.empty())
    places.declarations += "const unsigned " + names.thread + " = " + names.thread_value + ";\n";
  return places;
}

} // namespace warpwright::source
