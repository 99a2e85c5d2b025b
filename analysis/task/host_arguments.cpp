// Resolver of values that the program reads from the arguments of the run command.
// Thread: the unit's thread.
#include "analysis/task/host_expression.h"

#include <cstdlib>

namespace warpwright::analysis {

const std::string *HostResolver::run_argument(const clang::Expr *expression,
                                              const HostFrame &frame) {
  const std::vector<std::string> &arguments = unit_.run_command().arguments;
  const auto *access =
      llvm::dyn_cast_or_null<clang::ArraySubscriptExpr>(expression ? strip(expression) : nullptr);
  if (!access || arguments.empty())
    return nullptr;
  const clang::Expr *list = strip(access->getBase());
  const auto roots = roots_;
  const auto index = integer(access->getIdx(), frame);
  symbolic::Sizes known;
  for (const auto &[name, root] : roots_)
    if (root.value)
      known[name] = *root.value;
  roots_ = roots; // the number of an argument is no size
  const std::int64_t k = index ? index->expression().evaluate(known).value_or(0) : 0;
  for (const HostFrame *at = &frame; k > 0;) { // main may pass argv on
    const auto *reference = llvm::dyn_cast_or_null<clang::DeclRefExpr>(list);
    const auto *parameter =
        reference ? llvm::dyn_cast<clang::ParmVarDecl>(reference->getDecl()) : nullptr;
    const auto *owner =
        parameter ? llvm::dyn_cast<clang::FunctionDecl>(parameter->getDeclContext()) : nullptr;
    if (!owner)
      return nullptr;
    if (owner->isMain()) {
      if (parameter->getFunctionScopeIndex() != 1 || k > std::ssize(arguments))
        return nullptr;
      const std::string &text = arguments[static_cast<std::size_t>(k - 1)];
      assume("argv[" + std::to_string(k) + "] is " + text + ", from " + unit_.run_command().source);
      return &text;
    }
    at = frame_of(*parameter, *at);
    if (at->function == owner && !at->call && caller_of(*at))
      at = own_frames_.at(owner).get();
    if (at->function != owner || !at->call || !at->caller)
      return nullptr;
    const clang::Expr *argument = argument_of(*at->call, parameter->getFunctionScopeIndex());
    list = argument ? strip(argument) : nullptr;
    at = at->caller;
  }
  return nullptr;
}

std::optional<double> HostResolver::read_number(const clang::CallExpr &call,
                                                const HostFrame &frame) {
  static const std::set<std::string> kReaders{
      "atoi", "atol", "atoll",  "atof",    "stoi",    "stol",     "stoll",  "stoul", "stoull",
      "stof", "stod", "strtol", "strtoul", "strtoll", "strtoull", "strtof", "strtod"};
  if (!kReaders.contains(callee_name(call)) || call.getNumArgs() == 0)
    return std::nullopt;
  const std::string *text = run_argument(call.getArg(0), frame);
  if (!text)
    return std::nullopt;
  char *end = nullptr;
  const double number = std::strtod(text->c_str(), &end);
  return end == text->c_str() ? std::nullopt : std::optional(number);
}

} // namespace warpwright::analysis
