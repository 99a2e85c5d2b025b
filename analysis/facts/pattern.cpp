// Names of well-known computations: matmul, transpose, softmax, block_reduction, row_reduction,
// histogram, stencil, matvec, elementwise.
//
// The names inform people and choose the first moves to try, so the tests are simple and may be
// wrong. The generator has its own, stricter matcher. The first match in order wins. Thread: the
// unit's thread.
#include "analysis/facts/kernel_context.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>
#include <array>

namespace warpwright::analysis {

using namespace clang;

namespace {

/// Properties of a kernel that the matchers need.
struct Summary {
  std::vector<const AccessSite *> global_reads, global_writes, shared_reads, shared_writes;
  bool has_atomics = false, has_exponential = false, has_maximum = false, has_division = false;
  bool has_shuffle = false, halves_a_counter = false, has_arithmetic = false;
  std::vector<std::pair<const Expr *, const Expr *>>
      accumulated_products; ///< acc += a * b inside loops
  bool accumulates_in_loop = false;
};

bool in_loop(const Flow &flow, const Stmt *statement) {
  const auto at = flow.position_of(statement);
  return at && flow.loop_depth(at->region) > 0;
}

const BinaryOperator *product(const Expr *expression) {
  const auto *binary =
      expression ? dyn_cast<BinaryOperator>(expression->IgnoreParenImpCasts()) : nullptr;
  return binary && binary->getOpcode() == BO_Mul ? binary : nullptr;
}

void note_accumulation(KernelContext &context, const Stmt *statement, Summary &summary) {
  const auto *binary = dyn_cast<BinaryOperator>(statement);
  if (!binary || !binary->isAssignmentOp() || !in_loop(context.values.flow(), statement))
    return;
  const VarDecl *target = named_variable(binary->getLHS());
  const bool is_index = binary->getType()->isIntegralOrEnumerationType();
  const Expr *value = binary->getRHS();
  if (binary->getOpcode() == BO_Assign) {
    const auto *sum = dyn_cast<BinaryOperator>(value->IgnoreParenImpCasts());
    const auto *call = dyn_cast<CallExpr>(value->IgnoreParenImpCasts());
    const std::string name = call ? callee_name(call) : "";
    if (sum && sum->getOpcode() == BO_Add && target && named_variable(sum->getLHS()) == target)
      value = sum->getRHS();
    else if ((name == "fmaf" || name == "fma" || name == "__fmaf_rn") && call->getNumArgs() == 3) {
      summary.accumulated_products.emplace_back(call->getArg(0), call->getArg(1));
      summary.accumulates_in_loop = true;
      return;
    } else {
      summary.accumulates_in_loop |= target && (name.find("max") != std::string::npos ||
                                                name.find("min") != std::string::npos);
      return;
    }
  } else if (binary->getOpcode() != BO_AddAssign) {
    return;
  }
  if (const BinaryOperator *factors = product(value))
    summary.accumulated_products.emplace_back(factors->getLHS(), factors->getRHS());
  summary.accumulates_in_loop |= !is_index || !target;
}

void note_statement(KernelContext &context, const Stmt *statement, Summary &summary) {
  if (const auto *call = dyn_cast<CallExpr>(statement); call && !isa<CXXOperatorCallExpr>(call)) {
    const std::string name = callee_name(call);
    summary.has_exponential |=
        name == "expf" || name == "exp" || name == "__expf" || name == "exp2f";
    summary.has_maximum |= name == "fmaxf" || name == "fmax" || name == "max";
    summary.has_shuffle |= name.starts_with("__shfl");
  }
  if (const auto *choice = dyn_cast<ConditionalOperator>(statement))
    if (const auto *comparison = dyn_cast<BinaryOperator>(choice->getCond()->IgnoreParenImpCasts()))
      summary.has_maximum |=
          comparison->isRelationalOp() && !comparison->getLHS()->getType()->isIntegerType();
  if (const auto *branch = dyn_cast<IfStmt>(statement); branch && branch->getCond())
    if (const auto *comparison = dyn_cast<BinaryOperator>(branch->getCond()->IgnoreParenImpCasts()))
      summary.has_maximum |=
          comparison->isRelationalOp() && comparison->getLHS()->getType()->isRealFloatingType();
  if (const auto *binary = dyn_cast<BinaryOperator>(statement)) {
    const bool is_float =
        !binary->getType()->isIntegralOrEnumerationType() && !binary->getType()->isAnyPointerType();
    summary.has_division |=
        is_float && (binary->getOpcode() == BO_Div || binary->getOpcode() == BO_DivAssign);
    summary.has_arithmetic |= is_float && (binary->isAdditiveOp() || binary->isMultiplicativeOp());
    const BinaryOperatorKind opcode = binary->getOpcode();
    const bool shifts = opcode == BO_ShrAssign || opcode == BO_ShlAssign;
    const bool scales = opcode == BO_DivAssign || opcode == BO_MulAssign;
    const auto number = shifts || scales ? context.values.value(binary->getRHS()).number()
                                         : std::nullopt;
    const bool halves = shifts && number == 1, divides = scales && number == 2;
    summary.halves_a_counter |= (halves || divides) && in_loop(context.values.flow(), statement);
  }
  note_accumulation(context, statement, summary);
}

Summary summarise(KernelContext &context) {
  Summary summary;
  for (const AccessSite &site : context.sites) {
    summary.has_atomics |= site.access.is_atomic;
    if (site.access.space == MemorySpace::Global)
      (site.access.is_write ? summary.global_writes : summary.global_reads).push_back(&site);
    else if (site.access.space == MemorySpace::Shared)
      (site.access.is_write ? summary.shared_writes : summary.shared_reads).push_back(&site);
  }
  for_each_statement(context.kernel.getBody(),
                     [&](const Stmt *statement) { note_statement(context, statement, summary); });
  return summary;
}

/// Whether the byte strides of threadIdx.x and threadIdx.y (one small, one large) are swapped
/// between two accesses.
bool is_swapped(const AccessSite &a, const AccessSite &b) {
  const auto strides = [](const AccessSite &site) {
    return std::pair(site.place.bytes.coefficient_of("threadIdx.x"),
                     site.place.bytes.coefficient_of("threadIdx.y"));
  };
  const auto [ax, ay] = strides(a);
  const auto [bx, by] = strides(b);
  if (ax.is_zero() || ay.is_zero() || bx.is_zero() || by.is_zero())
    return false;
  const auto is_unit = [](const symbolic::Polynomial &stride) {
    return stride.number() && *stride.number() <= 16;
  };
  return (is_unit(ax) && !is_unit(ay) && is_unit(by) && !is_unit(bx)) ||
         (is_unit(ay) && !is_unit(ax) && is_unit(bx) && !is_unit(by));
}

bool is_transpose(const Summary &s) {
  if (s.accumulates_in_loop || s.has_atomics || s.global_reads.empty() || s.global_writes.empty())
    return false;
  const AccessSite &read = *s.global_reads.front(), &write = *s.global_writes.front();
  if (read.place.base == write.place.base || s.has_division)
    return false;
  if (s.shared_writes.empty())
    return is_swapped(read, write) && s.global_reads.size() == s.global_writes.size();
  return std::ranges::any_of(s.shared_writes, [&](const AccessSite *stored) {
    return std::ranges::any_of(s.shared_reads, [&](const AccessSite *loaded) {
      return stored->place.base == loaded->place.base && is_swapped(*stored, *loaded);
    });
  });
}

/// Loop symbols of an index.
std::set<std::string> loop_symbols(const KernelContext &context,
                                   const symbolic::Polynomial &bytes) {
  std::set<std::string> loops;
  for (const std::string &name : context.values.root_symbols(bytes)) {
    const auto found = context.values.symbols().find(name);
    if (found != context.values.symbols().end() && found->second.kind == SymbolKind::Loop)
      loops.insert(name);
  }
  return loops;
}

enum class Product { None, Matmul, Matvec };

Product product_kind(KernelContext &context, const Expr *left, const Expr *right) {
  const auto a = context.values.place(left), b = context.values.place(right);
  if (!a || !b || a->base == b->base)
    return Product::None;
  for (const std::string &k : loop_symbols(context, a->bytes)) {
    const symbolic::Polynomial in_a = a->bytes.coefficient_of(k), in_b = b->bytes.coefficient_of(k);
    if (in_a.is_zero() || in_b.is_zero())
      continue;
    const auto other_positions = [&](const Place &place) {
      return !place.bytes.without(k).is_zero();
    };
    const auto is_large = [](const symbolic::Polynomial &stride) {
      return !stride.number() || *stride.number() > 16;
    };
    if (other_positions(*a) && other_positions(*b) && (is_large(in_a) || is_large(in_b)))
      return Product::Matmul;
    if (other_positions(*a) != other_positions(*b)) {
      const Place &matrix = other_positions(*a) ? *a : *b;
      const symbolic::Polynomial rest = matrix.bytes.without(k);
      const bool has_rows =
          std::ranges::any_of(rest.terms(), [](const auto &term) { return term.first.size() > 1; });
      if (has_rows)
        return Product::Matvec;
    }
  }
  return Product::None;
}

Product products(KernelContext &context, const Summary &summary) {
  Product best = Product::None;
  for (const auto &[left, right] : summary.accumulated_products) {
    const Product kind = product_kind(context, left, right);
    best = kind == Product::None ? best : kind;
    if (best == Product::Matmul)
      break;
  }
  return best;
}

bool is_histogram(const Summary &summary, const KernelContext &context) {
  return std::ranges::any_of(context.sites,
                             [](const AccessSite &site) {
                               return site.access.is_atomic &&
                                      site.access.pattern == AccessPattern::Irregular &&
                                      site.access.element_type.find("float") == std::string::npos;
                             }) &&
         !summary.global_reads.empty();
}

bool is_row_reduction(const KernelContext &context, const Summary &summary) {
  if (!summary.accumulates_in_loop || summary.global_writes.empty() ||
      !summary.shared_writes.empty())
    return false;
  const bool writes_once = std::ranges::all_of(
      summary.global_writes, [](const AccessSite *site) { return site->access.loop_depth == 0; });
  return writes_once && std::ranges::any_of(summary.global_reads, [&](const AccessSite *site) {
           const auto loops = loop_symbols(context, site->place.bytes);
           return site->access.loop_depth > 0 && !loops.empty() &&
                  std::ranges::any_of(site->place.bytes.terms(),
                                      [](const auto &term) { return term.first.size() > 1; });
         });
}

bool is_stencil(const Summary &summary) {
  if (summary.global_writes.empty() || summary.has_atomics)
    return false;
  const auto taps_of = [](const std::vector<const AccessSite *> &reads) {
    std::map<const ValueDecl *, std::set<symbolic::Polynomial>> taps;
    for (const AccessSite *site : reads)
      taps[site->place.base].insert(site->place.bytes);
    return std::ranges::any_of(taps, [](const auto &entry) {
      if (entry.second.size() < 3)
        return false;
      // Neighbors: each two taps differ only by uniform terms.
      return std::ranges::all_of(entry.second, [&](const symbolic::Polynomial &tap) {
        const auto difference = tap - *entry.second.begin();
        return std::ranges::none_of(difference.symbols(), [](const std::string &name) {
          return name.starts_with("threadIdx") || name.starts_with("(") ||
                 name.starts_with("trip(");
        });
      });
    });
  };
  return taps_of(summary.global_reads) || taps_of(summary.shared_reads);
}

bool is_elementwise(const Summary &summary) {
  if (summary.global_writes.empty() || !summary.shared_writes.empty() || summary.has_atomics ||
      summary.has_shuffle)
    return false;
  const auto is_flat = [](const AccessSite *site) {
    return site->access.pattern == AccessPattern::Coalesced ||
           site->access.pattern == AccessPattern::Broadcast;
  };
  const symbolic::Polynomial &index = summary.global_writes.front()->place.bytes;
  return summary.global_writes.front()->access.pattern == AccessPattern::Coalesced &&
         std::ranges::all_of(summary.global_writes, is_flat) &&
         std::ranges::all_of(summary.global_reads, is_flat) &&
         (summary.global_reads.empty() ||
          std::ranges::any_of(summary.global_reads, [&](const AccessSite *site) {
            return site->place.bytes == index || site->access.pattern == AccessPattern::Coalesced;
          }));
}

} // namespace

std::optional<std::string> recognise_pattern(KernelContext &context) {
  const Summary summary = summarise(context);
  if (is_histogram(summary, context))
    return "histogram";
  if (summary.has_exponential && summary.has_maximum && summary.has_division &&
      (summary.accumulates_in_loop || summary.has_shuffle))
    return "softmax";
  if (is_transpose(summary))
    return "transpose";
  const Product kind = products(context, summary);
  if (kind == Product::Matmul)
    return "matmul";
  const bool writes_result = !summary.global_writes.empty();
  if (writes_result &&
      ((summary.halves_a_counter && !summary.shared_writes.empty()) || summary.has_shuffle))
    return "block_reduction";
  if (kind == Product::Matvec)
    return "matvec";
  if (is_row_reduction(context, summary))
    return "row_reduction";
  if (is_stencil(summary))
    return "stencil";
  if (is_elementwise(summary))
    return "elementwise";
  return std::nullopt;
}

} // namespace warpwright::analysis
