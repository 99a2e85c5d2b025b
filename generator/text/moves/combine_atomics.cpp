// Move combine_atomics(kind): fewer atomic operations for threads that meet at one address. The
// atomics may stand anywhere in the kernel, and in device functions that only this kernel runs.
//
// `warp`: atomics with one address for the whole block are combined over the active threads of a
// warp. `peers`: in addition, atomics with addresses from data are combined over the
// threads of a warp that have the same address. The combining loop takes log2 of the number of
// threads (Westphal, "Voting and shuffling to optimize atomic operations"). `test`: a maximum or
// minimum is written only where it exceeds the value that memory had before. That value may be old;
// then the atomic repeats the comparison. Legal for atomics with unused results that more than one
// thread of a warp runs. `test` is legal where the kernel uses the array in no other way.
#include "generator/text/moves/move_kind.h"

#include "generator/text/source/atomics.h"
#include "generator/text/source/combine.h"
#include "generator/text/source/effects.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace warpwright::moves {
namespace {

using source::Combine;

struct Atomic {
  const clang::CallExpr *call = nullptr;
  Range statement; ///< text without indentation, with the semicolon
  std::string function, address, value, type;
  Combine combine = Combine::Sum;
  bool is_uniform = false; ///< the address is the same for the whole block
  bool is_tested = false;  ///< `test` is legal
};

std::optional<Combine> combine_of(const std::string &function) {
  static const std::map<std::string, Combine> kCombines{
      {"atomicAdd", Combine::Sum}, {"atomicMax", Combine::Maximum}, {"atomicMin", Combine::Minimum},
      {"atomicAnd", Combine::And}, {"atomicOr", Combine::Or},       {"atomicXor", Combine::Xor}};
  const auto found = kCombines.find(function);
  return found == kCombines.end() ? std::nullopt : std::optional(found->second);
}

/// True for types that warps shuffle and that atomics take, and for a type that a template gets.
bool is_combined(clang::QualType type) {
  static const std::set<std::string> kTypes{"float", "double", "int", "unsigned int",
                                            "unsigned long long"};
  return type->isTemplateTypeParmType() ||
         kTypes.contains(type.getCanonicalType().getUnqualifiedType().getAsString());
}

struct Address {
  const clang::VarDecl *base = nullptr; ///< null: another form of address
  const clang::Expr *index = nullptr;   ///< null: the first element
};

/// The parts of `&base[index]`, `base + index`, `base` and `&base`.
Address address_of(const clang::Expr *pointer) {
  pointer = source::strip_casts(pointer);
  if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(pointer);
      address && address->getOpcode() == clang::UO_AddrOf) {
    const auto *subscript = source::as<clang::ArraySubscriptExpr>(address->getSubExpr());
    return subscript ? Address{source::variable_of(subscript->getBase()), subscript->getIdx()}
                     : Address{source::variable_of(address->getSubExpr())};
  }
  const auto *sum = llvm::dyn_cast<clang::BinaryOperator>(pointer);
  if (sum && sum->getOpcode() == clang::BO_Add)
    return {source::variable_of(sum->getLHS()), sum->getRHS()};
  return {source::variable_of(pointer)};
}

/// The type of the element that a pointer leads to; null: not known. In a template the pointer's own type may
/// not be known yet, but that of its array is.
clang::QualType element_type(const clang::Expr *pointer) {
  const clang::QualType type = source::strip(pointer)->getType();
  if (type->isPointerType())
    return type->getPointeeType();
  const clang::VarDecl *base = type->isDependentType() ? address_of(pointer).base : nullptr;
  return base && base->getType()->isPointerType() ? base->getType()->getPointeeType()
                                                  : clang::QualType();
}

enum class Place {
  Uniform,     ///< one for the block
  OwnOfThread, ///< another for each thread of a warp
  Unknown
};

/// How the addresses of a block's threads differ.
Place place_of(const source::IndexReader &form, const clang::Stmt *body,
               const clang::Expr *pointer) {
  const auto [base, index] = address_of(pointer);
  const bool is_pointer = base && base->getType()->isPointerType();
  const bool is_array =
      base && (base->hasAttr<clang::CUDASharedAttr>() || base->hasAttr<clang::CUDADeviceAttr>());
  const bool is_argument = is_pointer && form.source().parameter(base->getNameAsString()) == base;
  if ((!is_array && !is_argument) || (is_pointer && !is_written_once(form.source(), base)))
    return Place::Unknown;
  const auto value = index ? form.of(index) : std::optional(symbolic::Polynomial(0));
  if (!value ||
      (index && body != form.source().body())) // a function's names may be those of other arguments
    return Place::Unknown;
  bool is_uniform = true;
  for (const std::string &symbol : value->symbols()) {
    if (symbol == "gid.x" || symbol == "threadIdx.x")
      return Place::OwnOfThread;
    is_uniform &= symbol.starts_with("blockIdx.") || form.source().parameter(symbol) != nullptr;
  }
  return is_uniform ? Place::Uniform : Place::Unknown;
}

/// True if all uses of a parameter's array are atomics of one function.
bool has_only_atomics(const source::KernelSource &source, const clang::Expr *pointer,
                      const std::string &function) {
  const clang::VarDecl *root = source::pointer_root(pointer);
  if (!root || source.parameter(root->getNameAsString()) != root)
    return false;
  std::size_t uses = 0;
  for (const auto *call : source::find_all<clang::CallExpr>(source.body()))
    if (source::callee_name(call) == function && call->getNumArgs() == 2 &&
        source::pointer_root(call->getArg(0)) == root)
      uses += source::uses_of(call->getArg(0), root).size();
  return uses == source::uses_of(source.body(), root).size();
}

/// The conditions of the branches around a call.
std::vector<const clang::Expr *> conditions_of(const source::KernelSource &source,
                                               const clang::Stmt *body,
                                               const clang::CallExpr *call) {
  std::vector<const clang::Expr *> conditions;
  const auto range = source.range_of(call);
  for (const auto *branch : source::find_all<clang::IfStmt>(body))
    if (const auto then = source.range_of(branch->getThen());
        range && then && then->begin <= range->begin && range->end <= then->end)
      conditions.push_back(branch->getCond());
  return conditions;
}

/// True if a branch compares the atomic's memory already.
bool is_compared(const source::KernelSource &source, const clang::CallExpr *call) {
  const clang::VarDecl *root = source::pointer_root(call->getArg(0));
  return root && std::ranges::any_of(conditions_of(source, source.body(), call),
                                     [&](const clang::Expr *condition) {
                                       return !source::uses_of(condition, root).empty();
                                     });
}

/// True if one thread of a warp or block runs the call: `if (threadIdx.x == 0)`.
bool is_of_leader(const source::IndexReader &form, const clang::Stmt *body,
                  const clang::CallExpr *call) {
  return std::ranges::any_of(
      conditions_of(form.source(), body, call), [&](const clang::Expr *condition) {
        const auto *binary = source::as<clang::BinaryOperator>(condition);
        const bool is_equality =
            binary && binary->getOpcode() == clang::BO_EQ && source::is_zero(binary->getRHS());
        const auto place = is_equality ? form.of(binary->getLHS()) : std::nullopt;
        const bool by_place =
            place && std::ranges::any_of(place->symbols(), [](const std::string &symbol) {
              return symbol.contains("threadIdx") || symbol.contains("gid.x");
            });
        return by_place ||
               (is_equality && form.source().text_of(binary->getLHS()).contains("thread_rank"));
      });
}

std::optional<Atomic> atomic_of(const source::IndexReader &form, const clang::Stmt *body,
                                const clang::CallExpr *call) {
  const source::KernelSource &source = form.source();
  Atomic atomic{.call = call, .function = source::callee_name(call)};
  const auto combine = combine_of(atomic.function);
  if (!combine || call->getNumArgs() != 2 || !source::stands_alone(body, call) ||
      is_of_leader(form, body, call))
    return std::nullopt;
  const clang::QualType type = element_type(call->getArg(0));
  const auto range = source.range_of(call), statement = source.statement_range(call);
  const Place place = place_of(form, body, call->getArg(0));
  if (type.isNull() || type.isVolatileQualified() || !is_combined(type) || !range || !statement ||
      place == Place::OwnOfThread)
    return std::nullopt;
  atomic.combine = *combine;
  atomic.statement = {range->begin, statement->end};
  atomic.address = source.text_of(call->getArg(0));
  atomic.value = source.text_of(call->getArg(1));
  atomic.type = source.type_name(type);
  atomic.is_uniform = place == Place::Uniform;
  const bool is_extreme = *combine == Combine::Maximum || *combine == Combine::Minimum;
  atomic.is_tested = is_extreme && body == source.body() && !is_compared(source, call) &&
                     has_only_atomics(source, call->getArg(0), atomic.function);
  return atomic.address.empty() || atomic.value.empty() ? std::nullopt : std::optional(atomic);
}

constexpr std::string_view kTest = R"cuda({
  $type *const $place = $address;
  const $type $own = $value;
  if ($own $sign *$place)
    $function($place, $own);
})cuda";

constexpr std::string_view kCombined = R"cuda({
  $type *const $place = $address;
  $type $own = $value;
  const unsigned $lane = $lane_text;
  const unsigned $peers = $peers_text;
  unsigned $rank = __popc($peers & ((1u << $lane) - 1));
  const bool $is_first = $rank == 0;
  for (unsigned $above = $peers & (0xfffffffeu << $lane); __any_sync($peers, $above != 0); $rank >>= 1) {
    const unsigned $next = $above != 0 ? __ffs($above) - 1 : $lane;
    const $type $other = __shfl_sync($peers, $own, $next);
    if ($above != 0)
      $own = $combined;
    $above &= __ballot_sync($peers, ($rank & 1) == 0);
  }
  if ($is_first)
    $function($place, $own);
  __syncwarp($peers);
})cuda";

/// Neutral text of a maximum for types that a template gets: fmaxf and max differ by type.
std::string combined_text(const Atomic &atomic, const std::string &a, const std::string &b) {
  if (atomic.combine == Combine::Maximum)
    return a + " < " + b + " ? " + b + " : " + a;
  if (atomic.combine == Combine::Minimum)
    return b + " < " + a + " ? " + b + " : " + a;
  return combine_text(atomic.combine, atomic.type, a, b);
}

TextEdit replace(const source::KernelSource &source, const Atomic &atomic,
                 const std::string &kind) {
  std::set<std::string> taken = source.taken_names();
  const auto fresh = [&](const std::string &name) {
    std::string text = name;
    while (mentions(source.text(), text) || taken.contains(text))
      text += '_';
    return text;
  };
  source::Bindings bindings{{"type", atomic.type},
                            {"address", atomic.address},
                            {"value", atomic.value},
                            {"function", atomic.function}};
  for (const char *name :
       {"place", "own", "lane", "peers", "rank", "is_first", "above", "next", "other"})
    bindings[name] = fresh(name);
  bindings["sign"] = atomic.combine == Combine::Maximum ? ">" : "<";
  bindings["combined"] = combined_text(atomic, bindings["own"], bindings["other"]);
  bindings["lane_text"] =
      has_one_dimensional_blocks(source)
          ? "threadIdx.x % 32"
          : "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32";
  bindings["peers_text"] =
      atomic.is_uniform
          ? "__activemask()"
          : "__match_any_sync(__activemask(), (unsigned long long)" + bindings["place"] + ")";
  const std::string text =
      source::indent(source::render(kind == "test" ? kTest : kCombined, bindings, taken),
                     indentation_at(source.text(), atomic.statement.begin), source.indent_step());
  return {atomic.statement, text.substr(text.find('{'))};
}

std::map<std::string, std::vector<Atomic>> by_kind(const std::vector<Atomic> &atomics) {
  std::map<std::string, std::vector<Atomic>> kinds;
  for (const Atomic &atomic : atomics) {
    if (atomic.is_uniform)
      kinds["warp"].push_back(atomic);
    if (atomic.is_tested)
      kinds["test"].push_back(atomic);
  }
  if (kinds["warp"].size() < atomics.size())
    kinds["peers"] = atomics;
  return kinds;
}

} // namespace

Result<Offer> offer_combine_atomics(const source::KernelSource &source) {
  const source::IndexReader form(source);
  std::vector<Atomic> atomics;
  for (const clang::Stmt *body : source.own_bodies())
    for (const auto *call : source::find_all<clang::CallExpr>(body))
      if (auto atomic = atomic_of(form, body, call))
        atomics.push_back(std::move(*atomic));
  if (atomics.empty())
    return fail("no atomic with an unused result may meet others of its warp at one address");
  const std::map<std::string, std::vector<Atomic>> kinds = by_kind(atomics);
  std::vector<Parameters> choices;
  for (const auto &[kind, chosen] : kinds)
    if (!chosen.empty())
      choices.push_back({{"kind", kind}});
  return Offer{choices, [&source, kinds](const Parameters &choice) -> Result<source::Edits> {
                 source::Edits edits;
                 for (const Atomic &atomic : kinds.at(choice.at("kind")))
                   source::add_edits(edits, {replace(source, atomic, choice.at("kind"))});
                 return edits;
               }};
}

} // namespace warpwright::moves
