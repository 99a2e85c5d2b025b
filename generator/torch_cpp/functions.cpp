#include "generator/torch_cpp/functions.h"

#include <clang/AST/RecursiveASTVisitor.h>

#include <algorithm>
#include <set>

namespace warpwright::generator::torch_cpp {
namespace {

using llvm::dyn_cast;

const clang::CXXRecordDecl *class_of(clang::QualType type) {
  return type.getNonReferenceType()->getAsCXXRecordDecl();
}

bool gives_tensors(clang::QualType type) {
  if (is_tensor(type))
    return true;
  const auto *record =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(class_of(type));
  if (!record || (record->getName() != "tuple" && record->getName() != "vector" &&
                  record->getName() != "pair"))
    return false;
  for (const clang::TemplateArgument &argument : record->getTemplateArgs().asArray()) {
    if (argument.getKind() == clang::TemplateArgument::Pack) {
      for (const clang::TemplateArgument &part : argument.pack_elements())
        if (part.getKind() != clang::TemplateArgument::Type || !is_tensor(part.getAsType()))
          return false;
      return true;
    }
    return argument.getKind() == clang::TemplateArgument::Type && is_tensor(argument.getAsType());
  }
  return false;
}

/// Which functions of the file others name: in calls, and in registrations.
class References : public clang::RecursiveASTVisitor<References> {
public:
  bool TraverseFunctionDecl(clang::FunctionDecl *function) {
    const clang::FunctionDecl *before = inside_;
    inside_ = function;
    const bool more = RecursiveASTVisitor::TraverseFunctionDecl(function);
    inside_ = before;
    return more;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr *reference) {
    if (const auto *function = dyn_cast<clang::FunctionDecl>(reference->getDecl());
        function && inside_ && inside_->getCanonicalDecl() != function->getCanonicalDecl()) {
      const std::string name = inside_->getNameAsString();
      const bool registers = name.starts_with("ww_module_") || name.starts_with("ww_library_");
      (registers ? registered : called).insert(function->getCanonicalDecl());
      callers_[function->getCanonicalDecl()].insert(inside_->getCanonicalDecl());
    }
    return true;
  }
  bool VisitCUDAKernelCallExpr(clang::CUDAKernelCallExpr *) {
    if (inside_)
      launching.insert(inside_->getCanonicalDecl());
    return true;
  }

  /// Those that launch kernels come to include those that call them.
  void close() {
    std::vector<const clang::FunctionDecl *> open(launching.begin(), launching.end());
    while (!open.empty()) {
      const clang::FunctionDecl *callee = open.back();
      open.pop_back();
      for (const clang::FunctionDecl *caller : callers_[callee])
        if (launching.insert(caller).second)
          open.push_back(caller);
    }
  }

  std::set<const clang::FunctionDecl *> registered, called, launching;

private:
  std::map<const clang::FunctionDecl *, std::set<const clang::FunctionDecl *>> callers_;
  const clang::FunctionDecl *inside_ = nullptr;
};

/// Definitions in the main file, namespaces entered.
class Definitions : public clang::RecursiveASTVisitor<Definitions> {
public:
  explicit Definitions(const clang::SourceManager &sources) : sources_(sources) {}
  bool VisitFunctionDecl(clang::FunctionDecl *function) {
    const clang::SourceLocation place = sources_.getExpansionLoc(function->getLocation());
    if (function->isThisDeclarationADefinition() && !llvm::isa<clang::CXXMethodDecl>(function) &&
        !function->isDependentContext() && !function->getDescribedFunctionTemplate() &&
        sources_.getFileID(place) == sources_.getMainFileID())
      found.push_back(function);
    return true;
  }
  bool TraverseStmt(clang::Stmt *) { return true; }

  std::vector<const clang::FunctionDecl *> found;

private:
  const clang::SourceManager &sources_;
};

constexpr std::string_view kKept = "_as_written";

bool holds_variant_of(const analysis::ParsedUnit &unit, std::string_view function) {
  return unit.text().contains("namespace warpwright_" + std::string(function) + " {");
}

bool is_kept_body(const analysis::ParsedUnit &unit, const clang::FunctionDecl &function) {
  const std::string name = function.getNameAsString();
  return name.ends_with(kKept) &&
         holds_variant_of(unit, std::string_view(name).substr(0, name.size() - kKept.size()));
}

} // namespace

bool is_tensor(clang::QualType type) {
  const clang::CXXRecordDecl *record = class_of(type);
  return record && record->getQualifiedNameAsString() == "at::Tensor";
}

bool is_optional_tensor(clang::QualType type) {
  const auto *record =
      llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(class_of(type));
  if (!record || record->getName() != "optional" || record->getTemplateArgs().size() != 1)
    return false;
  const clang::TemplateArgument &argument = record->getTemplateArgs().get(0);
  return argument.getKind() == clang::TemplateArgument::Type && is_tensor(argument.getAsType());
}

std::vector<const clang::FunctionDecl *> torch_functions(const analysis::ParsedUnit &unit) {
  Definitions definitions(unit.sources());
  References references;
  for (clang::Decl *declaration : unit.top_level_declarations()) {
    definitions.TraverseDecl(declaration);
    references.TraverseDecl(declaration);
  }
  references.close();
  std::vector<const clang::FunctionDecl *> found;
  for (const clang::FunctionDecl *function : definitions.found) {
    const bool takes_tensors =
        std::ranges::any_of(function->parameters(), [](const clang::ParmVarDecl *parameter) {
          return is_tensor(parameter->getType()) || is_optional_tensor(parameter->getType());
        });
    const clang::FunctionDecl *canonical = function->getCanonicalDecl();
    if (is_kept_body(unit, *function))
      continue; // it is part of a variant
    if (!takes_tensors || !gives_tensors(function->getReturnType()) ||
        references.launching.contains(canonical))
      continue;
    const analysis::CommentSpec comment = spec_above(unit, *function);
    const bool described = comment.error || !comment.spec.buffers.empty() ||
                           !comment.spec.sizes.empty() || !comment.spec.scalars.empty();
    if (described || references.registered.contains(canonical) ||
        (references.registered.empty() && !references.called.contains(canonical)))
      found.push_back(function);
  }
  return found;
}

const clang::FunctionDecl *as_written(const analysis::ParsedUnit &unit,
                                      const clang::FunctionDecl &function) {
  const std::string name = function.getNameAsString();
  if (!holds_variant_of(unit, name))
    return nullptr;
  Definitions definitions(unit.sources());
  for (clang::Decl *declaration : unit.top_level_declarations())
    definitions.TraverseDecl(declaration);
  for (const clang::FunctionDecl *candidate : definitions.found)
    if (candidate->getNameAsString() == name + std::string(kKept))
      return candidate;
  return nullptr;
}

FunctionGraph graph_of(const analysis::ParsedUnit &unit, const clang::FunctionDecl &function,
                       const std::vector<Input> &inputs) {
  FunctionGraph result;
  GraphWriter writer;
  std::vector<Value> arguments;
  std::vector<std::pair<std::string, Tensor>> leaves;
  for (const Input &input : inputs) {
    if (!input.is_tensor) {
      arguments.push_back(input.value);
      continue;
    }
    const std::string name = writer.leaf("input", input.name, input.type);
    leaves.emplace_back(name, Tensor(new Tracked{name}));
    arguments.emplace_back(leaves.back().second);
  }
  Interpreter interpreter(unit, writer);
  const Value returned = interpreter.run(function, std::move(arguments));
  if (interpreter.refusal()) {
    result.refusal = interpreter.refusal();
    return result;
  }
  const auto refuse = [&](const std::string &why, std::size_t line = 0) {
    result.refusal =
        Refusal{why, line ? line : unit.sources().getExpansionLineNumber(function.getLocation())};
    return result;
  };
  List values = returned.as<List>() ? *returned.as<List>() : List{returned};
  std::vector<std::string> outputs;
  for (const Value &value : values) {
    if (const auto *unknown = value.as<Unknown>())
      return refuse(unknown->why, unknown->line);
    if (const auto *tensor = value.as<Tensor>())
      outputs.push_back((*tensor)->read());
    else if (!value.as<None>())
      return refuse("the function returns something that is no tensor");
  }
  if (outputs.empty())
    return refuse("the function returns no tensor");
  std::vector<model::Update> updates;
  for (const auto &[name, tensor] : leaves)
    if (const std::string now = tensor->read(); now != name)
      updates.push_back({name, now});
  const auto buffer = [&](const std::string &name, const std::string &torch_name,
                          const std::string &node, model::Direction direction) {
    model::Buffer made{.name = name,
                       .dtype = writer.dtype(node),
                       .extent = Expression(writer.elements(node)),
                       .direction = direction,
                       .distribution = {.kind = model::Distribution::Kind::Module},
                       .shape = writer.shape(node),
                       .torch_name = torch_name};
    result.buffers.push_back(std::move(made));
  };
  for (const auto &[name, tensor] : leaves) {
    const auto *torch_name =
        std::get_if<std::string>(&writer.node(name).attributes.at("torch_name"));
    const bool written = tensor->read() != name;
    buffer(name, torch_name ? *torch_name : name, name,
           written ? model::Direction::InOut : model::Direction::In);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = outputs.size() == 1 ? "output" : "output_" + std::to_string(i);
    buffer(name, name, outputs[i], model::Direction::Out);
  }
  result.graph = writer.graph(std::move(outputs), std::move(updates));
  return result;
}

} // namespace warpwright::generator::torch_cpp
