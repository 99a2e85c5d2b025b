// Mapping of a launch's arguments to buffers, scalars and sizes.
// Thread: the unit's thread.
#include "analysis/task/draft_parts.h"
#include "analysis/task/infer_task.h"
#include "support/text.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace warpwright::analysis {
namespace {

std::set<std::string> symbols_of(const HostValue &value) { return value.expression().symbols(); }

class Drafter {
public:
  Drafter(const HostProgram &program, const HostLaunch &launch,
          const std::set<std::string> *symbols, const std::set<std::string> &fixed)
      : program_(program), launch_(launch), moment_(program.run().moment_of(launch)),
        resolver_(program, symbols, fixed, moment_), frame_{launch.enclosing, nullptr, nullptr} {}

  LaunchDraft run() {
    draft_.callee = launch_.callee;
    draft_.step.kernel = kernel_name(*launch_.callee);
    shape();
    const unsigned count =
        std::min<unsigned>(launch_.callee->getNumParams(), launch_.call->getNumArgs());
    for (unsigned i = 0; i < count; ++i)
      argument(*launch_.callee->getParamDecl(i), launch_.call->getArg(i));
    for (DraftBuffer &buffer : draft_.buffers)
      allocation(buffer);
    draft_.roots.insert(resolver_.roots().begin(), resolver_.roots().end());
    draft_.assumptions.insert(draft_.assumptions.end(), resolver_.assumptions().begin(),
                              resolver_.assumptions().end());
    if (moment_)
      draft_.assumptions.insert(draft_.assumptions.end(), program_.run().assumptions().begin(),
                                program_.run().assumptions().end());
    return std::move(draft_);
  }

private:
  void miss(const std::string &name, const std::string &question) {
    draft_.missing.push_back({name, question});
  }
  void note_roots(const std::string &where, const HostValue &value) {
    draft_.roots_of[where].merge(symbols_of(value));
  }

  /// The value of an expression at the values of its roots; nullopt: one has none.
  std::optional<std::int64_t> at_roots(const HostValue &value) const {
    symbolic::Sizes sizes;
    for (const auto &[name, root] : resolver_.roots())
      if (root.value)
        sizes[name] = *root.value;
    const auto number = value.expression().evaluate(sizes);
    return number ? std::optional(*number) : std::nullopt;
  }

  /// A value as the imagined run has it: the expression if both agree, else the run's number, as
  /// the text alone does not tell which of several calls comes first.
  std::optional<HostValue> agreed(std::optional<HostValue> value,
                                  std::optional<std::int64_t> in_run) const {
    if (value && resolver_.took_typical()) // the run has the first value of the table
      return value;
    if (in_run && (!value || at_roots(*value) != in_run))
      return make_value(*in_run);
    return value;
  }

  std::optional<std::array<HostValue, 3>> dim3(const clang::Expr *expression) {
    const auto value = resolver_.dim3(expression, frame_);
    if (!moment_)
      return value;
    std::array<HostValue, 3> shape{make_value(1), make_value(1), make_value(1)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto in_run =
          moment_->field(expression, std::string(".") + "xyz"[axis], launch_.enclosing).integer;
      const auto known = agreed(value ? std::optional((*value)[axis]) : std::nullopt, in_run);
      if (!known)
        return std::nullopt;
      shape[axis] = *known;
    }
    return shape;
  }

  void shape() {
    const clang::CallExpr *configuration = launch_.call->getConfig();
    for (const auto &[index, name] : {std::pair(0u, "grid"), std::pair(1u, "block")}) {
      const auto value = configuration && index < configuration->getNumArgs()
                             ? dim3(configuration->getArg(index))
                             : std::nullopt;
      if (!value)
        miss(name,
             "Which " + std::string(name) + " does the launch of " + draft_.step.kernel + " use?");
      for (std::size_t axis = 0; value && axis < 3; ++axis) {
        (index == 0 ? draft_.step.grid : draft_.step.block)[axis] = (*value)[axis].expression();
        note_roots(name, (*value)[axis]);
      }
    }
    if (!configuration || configuration->getNumArgs() < 3)
      return;
    if (const clang::Expr *shared = configuration->getArg(2);
        !llvm::isa<clang::CXXDefaultArgExpr>(shared->IgnoreImpCasts())) {
      if (const auto value = agreed(resolver_.integer(shared, frame_), in_run(shared)))
        draft_.step.shared_bytes = value->expression();
      else
        miss("shared", "How many bytes of shared memory does the launch of " + draft_.step.kernel +
                           " ask for?");
    }
  }

  void argument(const clang::ParmVarDecl &parameter, const clang::Expr *argument) {
    const std::string name = parameter.getNameAsString();
    const clang::QualType type = parameter.getType();
    if (type->isPointerType() || type->isArrayType())
      return pointer(parameter, argument);
    const auto dtype =
        parameter.isInvalidDecl() ? std::nullopt : element_of(program_.unit().context(), type);
    if (type->isIntegralOrEnumerationType() && !parameter.isInvalidDecl()) {
      if (const auto value = agreed(resolver_.integer(argument, frame_), in_run(argument))) {
        const symbolic::Expression expression = value->expression();
        note_roots("arguments", *value);
        if (expression.symbols().contains(value->text))
          draft_.roots_of["direct"].insert(value->text);
        draft_.integers[name] = expression;
        draft_.step.arguments.push_back(
            model::SizeArgument{expression, dtype ? dtype->first : model::Dtype::Int32});
        return;
      }
      return miss(name, "What value does the parameter " + name + " have?");
    }
    if (!dtype || dtype->second != 1)
      return add_struct(draft_, parameter, [&](const StructField &field) {
        return moment_ ? moment_->field(argument, field.path, launch_.enclosing) : HostMoment::Field{};
      });
    auto value = moment_ ? moment_->floating(argument, launch_.enclosing) : std::nullopt;
    if (!value)
      value = resolver_.floating(argument, frame_);
    if (!value)
      draft_.assumptions.push_back(name + " is " + std::to_string(kUnknownScalar) +
                                   ", as the file does not say");
    draft_.scalars.push_back({name, dtype->first, value.value_or(kUnknownScalar)});
    draft_.step.arguments.push_back(model::ScalarArgument{name});
  }

  void pointer(const clang::ParmVarDecl &parameter, const clang::Expr *argument) {
    const std::string name = parameter.getNameAsString();
    if (argument->isNullPointerConstant(program_.unit().context(),
                                        clang::Expr::NPC_ValueDependentIsNotNull)) {
      draft_.step.arguments.push_back(kNullPointer);
      return;
    }
    const clang::QualType pointee =
        parameter.getType()->isPointerType()
            ? parameter.getType()->getPointeeType()
            : program_.unit().context().getBaseElementType(parameter.getType());
    const auto target = resolver_.pointer(argument, frame_);
    if (!target)
      return miss(name, "Which memory does the pointer " + name + " get at the launch?");
    const auto known = std::ranges::find_if(draft_.buffers, [&](const DraftBuffer &buffer) {
      return buffer.variable == target->root && buffer.root == target->text;
    });
    DraftBuffer *buffer = known == draft_.buffers.end() ? nullptr : &*known;
    if (!buffer) {
      draft_.buffers.push_back({});
      buffer = &draft_.buffers.back();
      buffer->name = name;
      buffer->root = target->text;
      buffer->variable = target->root;
      if (parameter.isInvalidDecl() || !hold(*buffer, program_.unit().context(), pointee))
        miss(name + ".type", "What does " + name + " hold? Its type " + pointee.getAsString() +
                                 " is not one number, or a struct of numbers of one width.");
    }
    buffer->parameters.push_back(name);
    if (moment_ && !buffer->bytes_in_run)
      buffer->bytes_in_run = moment_->bytes(argument, launch_.enclosing);
    symbolic::Expression offset;
    if (target->offset)
      offset =
          combine("*", *target->offset, make_value(buffer->lanes)).expression();
    draft_.step.arguments.push_back(model::BufferArgument{buffer->name, offset});
  }

  /// The frame of `function` among the launch's frame and its callers; else the launch's frame.
  const HostFrame &frame_around(const clang::FunctionDecl *function) {
    for (const HostFrame *at = &frame_; at; at = resolver_.caller_of(*at))
      if (at->function == function)
        return *at;
    return frame_;
  }

  bool points_to(const clang::Expr *argument, const DraftBuffer &buffer, const HostFrame &frame) {
    argument = strip(argument);
    if (const auto *address = llvm::dyn_cast<clang::UnaryOperator>(argument);
        address && address->getOpcode() == clang::UO_AddrOf)
      argument = strip(address->getSubExpr());
    const auto target = resolver_.pointer(argument, frame);
    return target && target->root == buffer.variable && target->text == buffer.root;
  }

  void allocation(DraftBuffer &buffer) {
    if (!buffer.dtype)
      return;
    const int bytes = static_cast<int>(model::size_bytes(*buffer.dtype));
    for (const char *function :
         {"cudaMalloc", "cudaMallocManaged", "cudaMallocAsync", "cudaMallocHost", "cudaHostAlloc"})
      for (const HostCall &call : program_.calls_named(function)) {
        const HostFrame &frame = frame_around(call.enclosing);
        if (call.call->getNumArgs() < 2 || buffer.extent ||
            !points_to(call.call->getArg(0), buffer, frame))
          continue;
        buffer.extent = elements(call.call->getArg(1), buffer, bytes, frame);
      }
    if (const auto *variable = llvm::dyn_cast_or_null<clang::VarDecl>(buffer.variable);
        variable && !buffer.extent)
      container_extent(*variable, buffer);
    if (buffer.bytes_in_run && *buffer.bytes_in_run % bytes == 0)
      buffer.extent = agreed(buffer.extent, *buffer.bytes_in_run / bytes);
    if (buffer.extent)
      note_roots("extents", *buffer.extent);
    memsets(buffer, bytes);
  }

  std::optional<HostValue> elements(const clang::Expr *size, const DraftBuffer &buffer, int bytes,
                                    const HostFrame &frame) {
    auto whole =
        buffer.lanes > 1 ? resolver_.elements(size, bytes * buffer.lanes, frame) : std::nullopt;
    if (whole)
      return combine("*", *whole, make_value(buffer.lanes));
    return resolver_.elements(size, bytes, frame);
  }

  /// Extent of a container from its construction: thrust::device_vector<float> v(n).
  void container_extent(const clang::VarDecl &variable, DraftBuffer &buffer) {
    const auto *construction = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(
        variable.getInit() ? strip(variable.getInit()) : nullptr);
    if (!construction || construction->getNumArgs() == 0 ||
        !construction->getArg(0)->getType()->isIntegerType())
      return;
    const auto *owner = llvm::dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
    const auto count = resolver_.integer(construction->getArg(0), frame_around(owner));
    if (count)
      buffer.extent = combine("*", *count, make_value(buffer.lanes));
  }

  void memsets(DraftBuffer &buffer, int bytes) {
    for (const char *function : {"cudaMemset", "cudaMemsetAsync"})
      for (const HostCall &call : program_.calls_named(function)) {
        const HostFrame &frame = frame_around(call.enclosing);
        if (call.call->getNumArgs() < 3 || !points_to(call.call->getArg(0), buffer, frame))
          continue;
        if (call.enclosing == launch_.enclosing && is_after(call.call))
          continue;
        const auto byte = resolver_.integer(call.call->getArg(1), frame);
        const auto count = elements(call.call->getArg(2), buffer, bytes, frame);
        if (byte && byte->number && count && (!buffer.extent || count->text == buffer.extent->text))
          buffer.fill = static_cast<int>(*byte->number & 255);
      }
  }

  bool is_after(const clang::CallExpr *call) const {
    return program_.unit().sources().isBeforeInTranslationUnit(launch_.call->getBeginLoc(),
                                                               call->getBeginLoc());
  }

  std::optional<std::int64_t> in_run(const clang::Expr *expression) const {
    return moment_ ? moment_->integer(expression, launch_.enclosing) : std::nullopt;
  }

  const HostProgram &program_;
  const HostLaunch &launch_;
  const HostMoment *moment_; ///< null: the imagined run does not get to the launch
  HostResolver resolver_;
  HostFrame frame_;
  LaunchDraft draft_;
};

} // namespace

LaunchDraft draft_launch(const HostProgram &program, const HostLaunch &launch,
                         const std::set<std::string> *symbols, const std::set<std::string> &fixed) {
  return Drafter(program, launch, symbols, fixed).run();
}

void keep_instance(std::vector<HostLaunch> &launches, const std::function<bool(const HostLaunch &)> &is_wanted) {
  if (std::ranges::any_of(launches, is_wanted))
    std::erase_if(launches, std::not_fn(is_wanted));
}

std::set<std::string> fixed_names(const ParsedUnit &unit, const std::string &slice) {
  std::set<std::string> names;
  for (std::size_t at = 0; (at = slice.find("#define ", at)) != std::string::npos;) {
    at += 8;
    const std::size_t end = slice.find_first_of(" (\n\t", at);
    names.insert(slice.substr(at, end - at));
  }
  std::vector<const clang::DeclContext *> open{unit.context().getTranslationUnitDecl()};
  while (!open.empty()) {
    const clang::DeclContext *context = open.back();
    open.pop_back();
    for (const clang::Decl *declaration : context->noload_decls())
      if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration))
        open.push_back(llvm::cast<clang::DeclContext>(declaration));
      else if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(declaration);
               variable && (variable->getType().isConstQualified() || variable->hasAttr<clang::CUDADeviceAttr>()) &&
               mentions(slice, variable->getName()))
        names.insert(variable->getNameAsString());
  }
  return names;
}

Result<model::LaunchStep> launch_step(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                                      const model::Task &task) {
  const HostProgram program(unit);
  std::set<std::string> symbols;
  for (const auto &[name, value] : task.sizes)
    symbols.insert(name);
  const std::set<std::string> fixed;
  std::string reason = "the file has no launch of it";
  std::vector<HostLaunch> launches = program.launches_of(kernel);
  const auto is_of_task = [&](const HostLaunch &launch) {
    return std::ranges::any_of(task.reference.steps, [&](const model::Step &step) {
      const auto *known = std::get_if<model::LaunchStep>(&step);
      return known && known->kernel == kernel_name(*launch.callee);
    });
  };
  keep_instance(launches, is_of_task);
  for (const HostLaunch &launch : launches) {
    LaunchDraft draft = draft_launch(program, launch, &symbols, fixed);
    if (!draft.missing.empty()) {
      reason = draft.missing.front().question;
      continue;
    }
    if (const Result<void> known = check_names(draft.step, task); !known) {
      reason = known.error().message;
      continue;
    }
    return std::move(draft.step);
  }
  CommentSpec above = spec_above(unit, kernel);
  if (above.spec.launch) {
    LaunchDraft draft = draft_from_spec(unit, kernel, above.spec);
    if (Result<void> known = check_names(draft.step, task); !known)
      return std::unexpected(known.error());
    if (draft.missing.empty())
      return std::move(draft.step);
  }
  return fail("cannot express the launch of " + kernel.getNameAsString() +
                  " over the sizes of its task: " + reason,
              "Keep the launch in the file, with its shape computed from the sizes");
}

Result<void> check_names(const model::LaunchStep &step, const model::Task &task) {
  const auto check = [&](const symbolic::Expression &expression) -> std::string {
    for (const std::string &symbol : expression.symbols())
      if (!task.sizes.contains(symbol))
        return symbol + " is no size of the task";
    return {};
  };
  std::string problem;
  for (const auto *shape : {&step.grid, &step.block})
    for (const symbolic::Expression &expression : *shape)
      problem = problem.empty() ? check(expression) : problem;
  problem = problem.empty() ? check(step.shared_bytes) : problem;
  for_each_plain(step.arguments, [&](const auto &argument) {
    using Kind = std::remove_cvref_t<decltype(argument)>;
    if constexpr (std::is_same_v<Kind, model::SizeArgument>)
      problem = problem.empty() ? check(argument.value) : problem;
    else if constexpr (std::is_same_v<Kind, model::BufferArgument>)
      if (std::ranges::find(task.buffers, argument.buffer, &model::Buffer::name) == task.buffers.end())
        problem = argument.buffer + " is no buffer of the task";
  });
  return problem.empty() ? Result<void>() : fail(problem);
}

} // namespace warpwright::analysis
