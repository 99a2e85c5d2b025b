// Calls of the imagined run: functions of the program, launches, and functions that are not known,
// which may change what they can reach. Thread: the unit's thread.
#include "analysis/task/host_interpreter.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace warpwright::analysis {
namespace {

using Kind = RunValue::Kind;

/// Functions that only read what their arguments point to.
bool only_reads(const std::string &name) {
  static const std::set<std::string> kReaders{
      "printf", "fprintf", "puts",     "fputs",        "putchar",    "perror",         "fclose",
      "fflush", "free",    "cudaFree", "cudaFreeHost", "operator<<", "usleep",         "sleep",
      "srand",  "srand48", "time",     "clock",        "cudaMemset", "cudaMemsetAsync"};
  return kReaders.contains(name);
}

} // namespace

void HostInterpreter::assume(const std::string &text) {
  if (std::ranges::find(assumptions, text) == assumptions.end())
    assumptions.push_back(text);
}

RunValue HostInterpreter::call(const clang::CallExpr &call) {
  if (const auto *launched = llvm::dyn_cast<clang::CUDAKernelCallExpr>(&call)) {
    launch(*launched);
    return {};
  }
  const clang::FunctionDecl *callee = call.getDirectCallee();
  const auto *method = llvm::dyn_cast<clang::CXXMemberCallExpr>(&call);
  const auto *operation = llvm::dyn_cast<clang::CXXOperatorCallExpr>(&call);
  if (!callee && !method && call.getCallee())
    callee = evaluate(call.getCallee()).function;
  const std::string name = callee ? callee->getNameAsString() : callee_name(call);
  const auto *member = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  const bool has_object = method || (operation && member && !member->isStatic());
  const clang::Expr *object = method       ? method->getImplicitObjectArgument()
                              : has_object ? call.getArg(0)
                                           : nullptr;
  std::vector<const clang::Expr *> arguments(call.arg_begin() + (has_object && operation ? 1 : 0),
                                             call.arg_end());
  const clang::QualType of = object ? object->getType() : clang::QualType();
  if (object && (is_container(of->isPointerType() ? of->getPointeeType() : of) ||
                 is_string(of->isPointerType() ? of->getPointeeType() : of)))
    if (auto known = container(call, name, object))
      return *known;
  const clang::FunctionDecl *body = callee ? links_->definition_of(*callee) : nullptr;
  if (body && body->getBody() && !body->isDependentContext() && spend()) {
    const HostPlace self = !object               ? HostPlace{}
                           : of->isPointerType() ? evaluate(object).pointee()
                                                 : place(object);
    return enter(*body, std::move(arguments), self);
  }
  if (!object || operation)
    if (auto known = known_function(call, name))
      return *known;
  return unknown_call(callee, object, std::move(arguments));
}

RunValue HostInterpreter::enter(const clang::FunctionDecl &function,
                                std::vector<const clang::Expr *> arguments, HostPlace self,
                                const clang::CXXConstructExpr *construction) {
  if (static_cast<int>(frames_.size()) > kMostDepth)
    steps_ = kMostSteps;
  if (steps_ >= kMostSteps)
    return unknown_call(&function, nullptr, std::move(arguments));
  Frame frame;
  frame.function = &function;
  frame.self = self;
  for (const clang::ParmVarDecl *parameter : function.parameters()) {
    const unsigned index = parameter->getFunctionScopeIndex();
    const clang::Expr *argument = index < arguments.size() ? arguments[index] : nullptr;
    HostPlace target;
    if (argument && parameter->getType()->isReferenceType())
      target = place(argument);
    if (!target.is_known()) {
      target = memory_.allocate();
      if (argument)
        initialize(target, parameter->getType().getNonReferenceType(), argument);
    }
    frame.variables[parameter] = target;
  }
  frames_.push_back(std::move(frame));
  ++depth_;
  const int limit = loop_limit_;
  if (const auto *constructor = llvm::dyn_cast<clang::CXXConstructorDecl>(&function);
      constructor && construction)
    for (const clang::CXXCtorInitializer *one : constructor->inits()) {
      const clang::Expr *begin = one->getInit();
      if (const auto *fallback = llvm::dyn_cast_or_null<clang::CXXDefaultInitExpr>(begin))
        begin = fallback->getExpr();
      if (one->isAnyMemberInitializer() && begin)
        initialize(self.part("." + one->getAnyMember()->getNameAsString()),
                   one->getAnyMember()->getType(), begin);
      else if (begin) // a base class, whose fields are those of the object
        initialize(self, begin->getType(), begin);
    }
  const Flow flow = execute(function.getBody());
  loop_limit_ = limit;
  --depth_;
  RunValue result = frames_.back().may_have_returned ? RunValue{} : frames_.back().result;
  frames_.pop_back();
  has_ended_ = has_ended_ || flow == Flow::Stop;
  return function.getReturnType()->isReferenceType() || flow != Flow::Return
             ? result
             : converted(result, function.getReturnType());
}

RunValue HostInterpreter::construct(const clang::CXXConstructExpr &construction, HostPlace target) {
  const clang::CXXConstructorDecl *constructor = construction.getConstructor();
  const clang::QualType type = construction.getType();
  std::vector<const clang::Expr *> arguments(construction.arg_begin(), construction.arg_end());
  if (is_string(type)) {
    const RunValue text = arguments.empty() ? text_value("") : evaluate(arguments[0]);
    memory_.write(target, text.is(Kind::Text) ? text : RunValue{});
    return memory_.read(target);
  }
  if (constructor->isCopyOrMoveConstructor() && !arguments.empty()) {
    const RunValue source = evaluate(arguments[0]);
    if (source.is(Kind::Record))
      memory_.write(target, source);
    else
      memory_.forget(target);
    return record_value(target);
  }
  if (is_container(type)) {
    memory_.forget(target);
    if (arguments.empty()) {
      memory_.write(target.part("#size"), integer_value(0));
    } else if (is_container(arguments[0]->getType())) {
      memory_.write(target.part("#size"), memory_.read(place(arguments[0]).part("#size")));
    } else if (arguments[0]->getType()->isIntegralOrEnumerationType()) {
      memory_.write(target.part("#size"), evaluate(arguments[0]));
      // Elements that all begin with one value are not written one by one.
    } else {
      const auto *braced =
          llvm::dyn_cast<clang::CXXStdInitializerListExpr>(arguments[0]->IgnoreImplicit());
      const auto *items = llvm::dyn_cast_or_null<clang::InitListExpr>(
          braced ? braced->getSubExpr()->IgnoreImplicit() : arguments[0]->IgnoreImplicit());
      if (items) {
        list(*items, target);
        memory_.write(target.part("#size"), integer_value(items->getNumInits()));
      } else {
        for (const clang::Expr *argument : arguments)
          evaluate(argument);
      }
    }
    return record_value(target);
  }
  const clang::FunctionDecl *definition = links_->definition_of(*constructor);
  if (definition && definition->getBody() && !definition->isDependentContext() && spend()) {
    enter(*definition, std::move(arguments), target, &construction);
    return record_value(target);
  }
  if (constructor->isDefaultConstructor()) {
    if (construction.requiresZeroInitialization())
      memory_.write(target, record_value(memory_.allocate(true)));
    return record_value(target);
  }
  unknown_call(constructor, nullptr, std::move(arguments));
  memory_.forget(target);
  return record_value(target);
}

RunValue HostInterpreter::unknown_call(const clang::FunctionDecl *callee, const clang::Expr *object,
                                       std::vector<const clang::Expr *> arguments) {
  const std::string name = callee ? callee->getNameAsString() : "";
  const auto *method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
  if (object) {
    const HostPlace self =
        object->getType()->isPointerType() ? evaluate(object).pointee() : place(object);
    if (self.is_known() && !(method && method->isConst()))
      memory_.forget(self);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const clang::ParmVarDecl *parameter = callee && i < callee->getNumParams()
                                              ? callee->getParamDecl(static_cast<unsigned>(i))
                                              : nullptr;
    const clang::QualType type = parameter ? parameter->getType() : clang::QualType();
    if (!only_reads(name) && (type.isNull() ? arguments[i]->isLValue() && !callee
                                            : type->isLValueReferenceType() &&
                                                  !type->getPointeeType().isConstQualified())) {
      if (const HostPlace changed = place(arguments[i]); changed.is_known()) {
        memory_.forget(changed);
        memory_.escape(changed);
      }
      continue;
    }
    const RunValue value = evaluate(arguments[i]);
    if (only_reads(name) || !value.place.is_known())
      continue;
    const bool is_const =
        !type.isNull() && type->isPointerType() && type->getPointeeType().isConstQualified();
    if (value.is(Kind::Pointer) && !is_const) {
      memory_.forget(value.place);
      memory_.escape(value.place);
    }
  }
  if (name == "exit" || name == "_exit" || name == "abort" || name == "_Exit" ||
      name == "__assert_fail")
    has_ended_ = true;
  // A function of the project whose source is not known may change the project's variables.
  if (callee && !callee->hasAttr<clang::CUDAGlobalAttr>() &&
      is_users(context().getSourceManager(), callee->getLocation())) {
    globals_changed_ = true;
    for (const auto &[variable, place] : globals_)
      if (!llvm::cast<clang::VarDecl>(variable)->getType().isConstQualified())
        memory_.forget(place);
  }
  // Calls of the CUDA runtime succeed in a run that is worth looking at.
  if (callee && name.starts_with("cuda") && callee->getReturnType()->isEnumeralType())
    return integer_value(0);
  return {};
}

void HostInterpreter::give(const clang::Expr *pointer, const RunValue &value) {
  memory_.write(evaluate(pointer).pointee(), value);
}

void HostInterpreter::launch(const clang::CUDAKernelCallExpr &call) {
  const clang::FunctionDecl *kernel = call.getDirectCallee();
  if (!kernel && call.getCallee())
    kernel = evaluate(call.getCallee()).function;
  if (kernel && on_launch)
    on_launch(call, frames_.back().function, *kernel);
  if (call.getConfig())
    for (const clang::Expr *argument : call.getConfig()->arguments())
      evaluate(argument);
  std::vector<const clang::Expr *> arguments(call.arg_begin(), call.arg_end());
  unknown_call(kernel, nullptr, std::move(arguments));
}

} // namespace warpwright::analysis
