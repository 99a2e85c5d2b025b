// Calls in the range interpreter: functions of the file are executed with their arguments; known
// device functions are handled by name. Thread: the unit's thread.
#include "analysis/facts/affine.h"
#include "analysis/task/host_program.h"
#include "analysis/task/range_interpreter.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

constexpr int kMaxInline = 8;

} // namespace

RangeValue RangeInterpreter::evaluate_call(const clang::CallExpr &call) {
  const std::string name = callee_name(call);
  // Assignment of a class type, such as half, float4 or a struct.
  if (const auto *assignment = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
      assignment && assignment->isAssignmentOp() && assignment->getNumArgs() == 2) {
    const RangeValue value = evaluate(assignment->getArg(1));
    store(assignment->getArg(0), value, assignment->getOperator() != clang::OO_Equal);
    return value;
  }
  const clang::FunctionDecl *callee = call.getDirectCallee();
  if (const clang::FunctionDecl *definition = callee ? callee->getDefinition() : nullptr;
      definition && definition->getBody() && static_cast<int>(returns_.size()) < kMaxInline)
    return inlined(*definition, call);
  // Reads the object, as in the conversion of a half to float.
  if (const auto *method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call))
    evaluate(method->getImplicitObjectArgument());
  std::vector<RangeValue> arguments;
  for (const clang::Expr *argument : call.arguments())
    arguments.push_back(evaluate(argument));
  if (arguments.size() == 2 &&
      (name == "min" || name == "max" || name == "umin" || name == "umax")) {
    const symbolic::Interval a = arguments[0].range, b = arguments[1].range;
    const bool is_min = name.ends_with("min");
    return {.range = is_min ? symbolic::Interval{std::min(a.low, b.low), std::min(a.high, b.high)}
                            : symbolic::Interval{std::max(a.low, b.low), std::max(a.high, b.high)}};
  }
  static const std::set<std::string> kPositive{"sqrt",   "sqrtf",      "rsqrt",    "rsqrtf",
                                               "log",    "logf",       "__logf",   "log2f",
                                               "log10f", "__fsqrt_rn", "__frcp_rn"};
  if (!arguments.empty() && kPositive.contains(name))
    need_positive(arguments[0]);
  if (arguments.size() == 2 && (name == "__fdividef" || name == "fdividef" || name == "__fdiv_rn"))
    need_positive(arguments[1]);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].pointer || arguments[i].pointer->buffer.empty() || is_silent_)
      continue;
    const clang::QualType type = call.getArg(static_cast<unsigned>(i))->getType();
    const clang::QualType pointee =
        type->isPointerType() ? type->getPointeeType() : context_.CharTy;
    index_loaded_.reset();
    if (name.starts_with("atomic")) {
      place_of_atomic(call);
      record(*arguments[i].pointer, pointee, false, false);
      record(*arguments[i].pointer, pointee, true, true);
      if (is_float(pointee) && name.starts_with("atomicAdd"))
        result_.atomic_adds = symbolic::Interval::clamp(
            static_cast<__int128>(result_.atomic_adds) +
            trips_around() * launch_.grid[0] * launch_.grid[1] * launch_.grid[2] *
                launch_.block[0] * launch_.block[1] * launch_.block[2]);
    } else if (name == "__ldg" || name.starts_with("__ldc")) {
      record(*arguments[i].pointer, pointee, false, false);
      return {.range = range_of_type(context_, pointee),
              .loaded = LoadedValue{arguments[i].pointer->buffer, 1, symbolic::Interval::of(0)},
              .pointer = {}};
    } else if (name != "__cvta_generic_to_shared") {
      result_.escaped.insert(arguments[i].pointer->buffer);
    }
  }
  RangeValue value;
  value.range = range_of_type(context_, call.getType());
  return value;
}

/// Evaluates the place of an atomic again, to find out whether its index was loaded:
/// `&bins[data[i]]`.
void RangeInterpreter::place_of_atomic(const clang::CallExpr &call) {
  const bool silent = is_silent_;
  is_silent_ = true;
  evaluate(call.getArg(0));
  is_silent_ = silent;
}

RangeValue RangeInterpreter::inlined(const clang::FunctionDecl &function,
                                     const clang::CallExpr &call) {
  RangeValue result;
  result.range = range_of_type(context_, function.getReturnType());
  const auto *operator_call = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
  const unsigned shift = operator_call && llvm::isa<clang::CXXMethodDecl>(function) ? 1 : 0;
  std::vector<RangeValue> arguments;
  for (const clang::Expr *argument : call.arguments()) {
    RangeValue value = evaluate(argument);
    if (const clang::Expr *inner = bare(argument); inner->isLValue() && !value.pointer)
      if (const bool silent = is_silent_; true) {
        is_silent_ = true;
        const auto at = place(inner);
        is_silent_ = silent;
        const std::size_t index = arguments.size();
        if (at && index >= shift && index - shift < function.getNumParams() &&
            function.getParamDecl(static_cast<unsigned>(index - shift))
                ->getType()
                ->isReferenceType())
          value.pointer = at;
      }
    arguments.push_back(std::move(value));
  }
  for (unsigned i = 0; i < function.getNumParams() && i + shift < arguments.size(); ++i)
    state_.variables[function.getParamDecl(i)] = arguments[i + shift];
  returns_.push_back(&result);
  std::vector<Loop> loops = loops_;
  execute(function.getBody());
  loops_ = std::move(loops);
  returns_.pop_back();
  state_.is_dead = false;
  return result;
}

} // namespace warpwright::analysis
