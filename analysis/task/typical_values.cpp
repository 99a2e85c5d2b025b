// Typical values, in place of values that a program selects at run time or asks the device for.
// Each is reported to the user as an assumption. Also the values that functions assign to their
// parameters.
// Thread: the unit's thread.
#include "analysis/task/host_expression.h"
#include "arch/gpu.h"

namespace warpwright::analysis {
namespace {

/// Facts about an H100, for launches that depend on the device: members of cudaDeviceProp, and the
/// equivalent attributes.
struct DeviceFact {
  std::string_view member, attribute;
  std::int64_t value;
};

const std::vector<DeviceFact> &device_facts() {
  static const std::vector<DeviceFact> facts = [] {
    const arch::Gpu gpu = arch::gpu_named("h100").value();
    return std::vector<DeviceFact>{
        {"multiProcessorCount", "cudaDevAttrMultiProcessorCount", gpu.multiprocessors},
        {"maxThreadsPerMultiProcessor", "cudaDevAttrMaxThreadsPerMultiProcessor",
         gpu.threads_multiprocessor},
        {"maxThreadsPerBlock", "cudaDevAttrMaxThreadsPerBlock", 1024},
        {"maxBlocksPerMultiProcessor", "cudaDevAttrMaxBlocksPerMultiprocessor", 32},
        {"warpSize", "cudaDevAttrWarpSize", 32},
        {"sharedMemPerBlock", "cudaDevAttrMaxSharedMemoryPerBlock", 48 * 1024},
        {"sharedMemPerBlockOptin", "cudaDevAttrMaxSharedMemoryPerBlockOptin",
         gpu.shared_bytes_block},
        {"sharedMemPerMultiprocessor", "cudaDevAttrMaxSharedMemoryPerMultiprocessor",
         gpu.shared_bytes_multiprocessor}};
  }();
  return facts;
}

} // namespace

/// Element of a table of numbers: at a constant index the exact one, else a typical one.
std::optional<HostValue> HostResolver::element(const clang::ArraySubscriptExpr &access,
                                               const HostFrame &frame) {
  const auto *table = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(access.getBase()));
  const clang::Expr *definition = table ? definition_of(*table->getDecl()) : nullptr;
  const auto *list =
      definition ? llvm::dyn_cast<clang::InitListExpr>(definition->IgnoreParenImpCasts()) : nullptr;
  if (!list)
    return std::nullopt;
  clang::Expr::EvalResult index;
  if (!access.getIdx()->isValueDependent() &&
      access.getIdx()->EvaluateAsInt(index, unit_.context())) {
    const std::int64_t at = index.Val.getInt().getExtValue();
    return at >= 0 && at < list->getNumInits()
               ? integer(list->getInit(static_cast<unsigned>(at)), frame)
               : std::nullopt;
  }
  return typical_of(list, table->getDecl()->getNameAsString(), frame);
}

/// The middle element of a table such as `{32, 64, 128, 256, 512, 1024}`. A program that iterates
/// over the table runs with that value too.
std::optional<HostValue> HostResolver::typical_of(const clang::Expr *table, const std::string &name,
                                                  const HostFrame &frame) {
  const clang::Expr *inner = table->IgnoreParenImpCasts();
  if (const auto *named = llvm::dyn_cast<clang::DeclRefExpr>(inner)) {
    const clang::Expr *definition = definition_of(*named->getDecl());
    return definition && !llvm::isa<clang::DeclRefExpr>(definition->IgnoreParenImpCasts())
               ? typical_of(definition, named->getDecl()->getNameAsString(), frame)
               : std::nullopt;
  }
  while (inner && !llvm::isa<clang::InitListExpr>(inner)) {
    const clang::Expr *before = inner;
    if (const auto *made = llvm::dyn_cast<clang::CXXConstructExpr>(inner);
        made && made->getNumArgs() > 0)
      inner = made->getArg(0);
    else if (const auto *braced = llvm::dyn_cast<clang::CXXStdInitializerListExpr>(inner))
      inner = braced->getSubExpr();
    inner = strip(inner);
    if (inner == before)
      return std::nullopt;
  }
  const auto *list = llvm::dyn_cast_or_null<clang::InitListExpr>(inner);
  if (!list || list->getNumInits() == 0)
    return std::nullopt;
  const auto value = integer(list->getInit(list->getNumInits() / 2), frame);
  took_typical_ = took_typical_ || (value && value->number && list->getNumInits() > 1);
  if (value && value->number && list->getNumInits() > 1)
    assume("of the values in " + name + " " + value->text + " is taken");
  return value;
}

std::optional<HostValue> HostResolver::device_fact(const std::string &fact,
                                                   const std::string &name) {
  for (const DeviceFact &known : device_facts())
    if (fact == known.member || fact == known.attribute) {
      assume(known.member == "multiProcessorCount"
                 ? "the device has " + std::to_string(known.value) + " multiprocessors"
                 : name + " is " + std::to_string(known.value) + ", as of an H100");
      return make_value(known.value);
    }
  return std::nullopt;
}

/// The value of a variable that cudaDeviceGetAttribute(&variable, attribute, 0) sets.
std::optional<HostValue> HostResolver::given_through_pointer(const clang::ValueDecl &variable) {
  for (const HostCall &call : program_.calls_named("cudaDeviceGetAttribute")) {
    if (call.call->getNumArgs() < 2)
      continue;
    const auto *address = llvm::dyn_cast_or_null<clang::UnaryOperator>(strip(call.call->getArg(0)));
    const auto *target =
        address ? llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(address->getSubExpr()))
                : nullptr;
    const auto *attribute = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(call.call->getArg(1)));
    if (target && attribute && target->getDecl() == &variable)
      return device_fact(attribute->getDecl()->getNameAsString(), variable.getNameAsString());
  }
  return std::nullopt;
}

const clang::Expr *HostResolver::replaced_by(const clang::ParmVarDecl &parameter) {
  const auto *owner = llvm::dyn_cast<clang::FunctionDecl>(parameter.getDeclContext());
  const auto *body =
      owner ? llvm::dyn_cast_or_null<clang::CompoundStmt>(owner->getBody()) : nullptr;
  if (!body)
    return nullptr;
  for (const clang::Stmt *statement : body->body()) {
    const auto *assignment = llvm::dyn_cast<clang::BinaryOperator>(statement);
    if (!assignment || assignment->getOpcode() != clang::BO_Assign)
      continue;
    const auto *target = llvm::dyn_cast_or_null<clang::DeclRefExpr>(strip(assignment->getLHS()));
    if (target && target->getDecl() == &parameter)
      return llvm::isa<clang::IntegerLiteral>(strip(assignment->getRHS())) ? assignment->getRHS()
                                                                           : nullptr;
  }
  return nullptr;
}

} // namespace warpwright::analysis
