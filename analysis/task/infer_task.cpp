// Task inference: a task from a launch and the kernel's ranges.
//
// The order of the steps: the spec, the launch with every root as a name, the choice of the roots
// that are sizes, the launch again over these sizes, and the facts about each buffer from the
// ranges. A fact that cannot be found becomes a question, never a guess that changes the meaning. A
// guess that does not change the meaning (the value of a float argument) is an assumption. Thread:
// the unit's thread.
#include "analysis/task/infer_task.h"
#include "analysis/task/captured_sizes.h"
#include "analysis/task/captured_values.h"
#include "analysis/task/check_sizes.h"
#include "analysis/task/kernel_symbols.h"
#include "analysis/task/launch_draft.h"
#include "analysis/task/task_work.h"
#include "analysis/unit_tasks.h"
#include "support/model/json.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

using model::Direction;
using DistributionKind = model::Distribution::Kind;

class Inference {
public:
  Inference(const HostProgram &program, const clang::FunctionDecl &kernel, const Kernel &facts,
            const std::string &slice, Spec spec)
      : unit_(program.unit()), kernel_(kernel), facts_(facts), slice_(slice),
        spec_(std::move(spec)), program_(program), fixed_(fixed_names(unit_, slice)) {}

  InferredTask run(bool launch_of_run = false) {
    if (launch_of_run)
      draft_ = draft_from_run(unit_, kernel_, spec_);
    else
      find_launch();
    result_.missing = draft_.missing;
    result_.assumptions = draft_.assumptions;
    bind_sizes();
    model::Task &task = result_.task;
    task.name = kernel_.getQualifiedNameAsString();
    task.file = unit_.file().path;
    task.scalars = draft_.scalars;
    for (model::Scalar &scalar : task.scalars)
      if (const auto given = spec_.scalars.find(scalar.name); given != spec_.scalars.end())
        scalar.value = given->second;
      else if (spec_.captured && spec_.captured->numbers.contains(scalar.name))
        scalar.value = spec_.captured->numbers.at(scalar.name);
    if (slice_.empty())
      miss("slice", "The kernel could not be cut out of its file.");
    if (draft_.missing.empty() && result_.missing.empty())
      describe_buffers();
    else
      ask_for_extents();
    task.reference.source = slice_;
    task.reference.options = unit_.compile_options();
    task.reference.steps.emplace_back(draft_.step);
    if (result_.missing.empty() && task.buffers.empty())
      miss("output", "The kernel takes no buffer. Which result shows that a variant computes the same?");
    if (result_.missing.empty())
      finish();
    result_.inferred = result_.missing.empty();
    return std::move(result_);
  }

private:
  void miss(const std::string &name, const std::string &question) {
    if (std::ranges::none_of(result_.missing,
                             [&](const MissingFact &fact) { return fact.name == name; }))
      result_.missing.push_back({name, question});
  }

  // ---- launch and sizes

  void find_launch() {
    auto launches = program_.launches_of(kernel_);
    const auto is_captured = [&](const HostLaunch &launch) { return symbol_of(*launch.callee) == spec_.captured->symbol; };
    if (spec_.captured)
      keep_instance(launches, is_captured);
    if (spec_.launch || launches.empty()) {
      draft_ = draft_from_spec(unit_, kernel_, spec_);
      return;
    }
    bool found = false;
    for (const HostLaunch &launch : launches) {
      LaunchDraft draft = draft_over_sizes(launch);
      const bool is_complete =
          draft.missing.empty() && std::ranges::all_of(draft.roots, [&](const auto &root) {
            return root.second.value || spec_.sizes.contains(root.first) ||
                   captured_size(root.first, draft, spec_);
          });
      if (!found || is_complete)
        draft_ = std::move(draft);
      found = true;
      if (is_complete)
        return;
    }
  }

  /// Drafts the launch with every root as a name, and again with only the sizes as names. Sizes are
  /// the roots of integer arguments and those that both the grid and an allocation depend on. Roots
  /// of the block shape are tuning parameters, not sizes.
  LaunchDraft draft_over_sizes(const HostLaunch &launch) {
    LaunchDraft all = draft_launch(program_, launch, nullptr, fixed_);
    std::set<std::string> symbols = all.roots_of["arguments"];
    for (const std::string &root : all.roots_of["grid"])
      if (all.roots_of["extents"].contains(root))
        symbols.insert(root);
    for (const std::string &root : all.roots_of["block"])
      if (!all.roots_of["direct"].contains(root) && all.roots.contains(root) &&
          all.roots.at(root).value)
        symbols.erase(root);
    std::erase_if(
        symbols, [&](const std::string &name) { // a mode, an offset: nothing has so many elements
          const auto root = all.roots.find(name);
          return root != all.roots.end() && root->second.value && *root->second.value <= 0;
        });
    if (has_bound_fields(all.step)) // they belong to the sizes of the program's run
      std::erase_if(symbols, [&](const std::string &name) {
        const auto root = all.roots.find(name);
        return root != all.roots.end() && root->second.value;
      });
    for (const auto &[name, value] : spec_.sizes)
      symbols.insert(name);
    return draft_launch(program_, launch, &symbols, fixed_);
  }

  void bind_sizes() {
    symbolic::Sizes &sizes = result_.task.sizes;
    std::set<std::string> used;
    const auto use = [&](const symbolic::Expression &expression) {
      used.insert(expression.symbols().begin(), expression.symbols().end());
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
      use(draft_.step.grid[axis]);
      use(draft_.step.block[axis]);
    }
    use(draft_.step.shared_bytes);
    for (const auto &[name, expression] : draft_.integers)
      use(expression);
    for_each_plain(draft_.step.arguments, [&](const auto &argument) {
      if constexpr (requires { argument.offset; })
        use(argument.offset);
    });
    for (const DraftBuffer &buffer : draft_.buffers)
      if (buffer.extent)
        use(buffer.extent->expression());
    for (const auto &[name, buffer] : spec_.buffers)
      if (buffer.extent)
        use(*buffer.extent);
    for (const std::string &name : used) {
      const auto root = draft_.roots.find(name);
      if (const auto given = spec_.sizes.find(name); given != spec_.sizes.end())
        sizes[name] = given->second;
      else if (const auto captured = captured_size(name, draft_, spec_)) {
        sizes[name] = *captured;
        result_.assumptions.push_back(name + " is " + std::to_string(*captured) + ", from " +
                                      spec_.captured->source);
      } else if (root != draft_.roots.end() && root->second.value && *root->second.value > 0)
        sizes[name] = *root->second.value;
      else
        miss(name, "What is a typical value of " + name +
                       "? Nothing in the file gives one; write `" + name + " = " +
                       (draft_.roots_of["block"].contains(name) ? "256" : "1 << 20") +
                       "` in a warpwright comment above the kernel.");
    }
  }

  // ---- buffers

  std::optional<symbolic::Expression> given_extent(const DraftBuffer &buffer) const {
    for (const std::string &name : buffer.parameters)
      if (const auto given = spec_.buffers.find(name);
          given != spec_.buffers.end() && given->second.extent)
        return given->second.extent;
    if (buffer.extent)
      return buffer.extent->expression();
    if (spec_.captured && buffer.dtype)
      for (const std::string &name : buffer.parameters)
        if (const auto found = spec_.captured->extents_bytes.find(name);
            found != spec_.captured->extents_bytes.end())
          return symbolic::Expression(found->second /
                                      static_cast<std::int64_t>(model::size_bytes(*buffer.dtype)));
    return std::nullopt;
  }

  void ask_for_extents() {
    for (const DraftBuffer &buffer : draft_.buffers) {
      const auto extent = given_extent(buffer);
      model::Buffer described;
      described.name = buffer.name;
      described.dtype = buffer.dtype.value_or(model::Dtype::Float32);
      described.extent = extent.value_or(symbolic::Expression());
      const auto parameter = std::ranges::find(facts_.parameters, buffer.name, &Parameter::name);
      if (parameter != facts_.parameters.end() && parameter->is_written)
        described.direction = Direction::InOut;
      result_.task.buffers.push_back(std::move(described));
      if (!extent && !draft_.step.grid[0].symbols().empty() && !result_.missing.empty())
        continue; // the guards give the extent once the sizes are known
      if (!extent && program_.launches_of(kernel_).empty() && !spec_.launch)
        continue;
    }
  }

  void describe_buffers() {
    const SizeProbe prober(unit_.context(), draft_);
    measured_ = prober.at(result_.task.sizes);
    if (!measured_) {
      miss("launch", "The launch of " + draft_.step.kernel +
                         " has an empty or too large grid or block at the sizes of the file. Which "
                         "sizes are right?");
      return;
    }
    probes_.push_back(*measured_);
    for (const symbolic::Sizes &sizes : SizeProbe::distinct(result_.task.sizes))
      if (auto probe = prober.at(sizes))
        probes_.push_back(std::move(*probe));
    for (const DraftBuffer &buffer : draft_.buffers)
      describe_buffer(prober, buffer);
    for (model::Buffer &buffer : result_.task.buffers)
      if (!given_distribution(buffer.name))
        choose_distribution(prober, buffer);
    if (!result_.missing.empty())
      return;
    std::map<std::string, symbolic::Expression> extents;
    for (const model::Buffer &buffer : result_.task.buffers)
      extents[buffer.name] = buffer.extent;
    result_.task.check_sizes = spec_.check_sizes.empty()
                                   ? choose_check_sizes(prober, draft_, result_.task.sizes, extents)
                                   : completed_checks();
    result_.task.work = work_of(result_.task, facts_.pattern == "matmul", prober, probes_);
  }

  /// Checks with all sizes: a size that a check does not name keeps its measured value.
  std::vector<symbolic::Sizes> completed_checks() const {
    std::vector<symbolic::Sizes> checks = spec_.check_sizes;
    for (symbolic::Sizes &check : checks)
      for (const auto &[name, value] : result_.task.sizes)
        check.try_emplace(name, value);
    return checks;
  }

  void describe_buffer(const SizeProbe &prober, const DraftBuffer &draft) {
    model::Buffer buffer;
    buffer.name = draft.name;
    buffer.dtype = *draft.dtype;
    buffer.lanes = draft.lane_dtypes;
    const auto use_entry = measured_->uses.find(draft.name);
    const BufferUse use = use_entry == measured_->uses.end() ? BufferUse{} : use_entry->second;
    const auto extent = extent_of(prober, draft, use);
    if (!extent)
      return miss(draft.name + ".extent", "How many elements does " + draft.name +
                                              " hold? Write `" + draft.name + ": " +
                                              std::string(use.is_written ? "inout " : "in ") +
                                              type_name(buffer.dtype) + "[EXTENT]`.");
    buffer.extent = *extent;
    const bool escaped = std::ranges::any_of(draft.parameters, [&](const std::string &name) {
      return measured_->ranges.escaped.contains(name);
    });
    buffer.direction = direction_of(draft, use, buffer, escaped);
    buffer.distribution.kind = kind_of(draft, buffer, use);
    for (const std::string &name : draft.parameters)
      if (const auto given = spec_.buffers.find(name); given != spec_.buffers.end()) {
        if (given->second.dtype) {
          buffer.dtype = *given->second.dtype;
          buffer.lanes.clear();
        }
        if (given->second.direction)
          buffer.direction = *given->second.direction;
        if (given->second.distribution)
          buffer.distribution = *given->second.distribution;
      }
    result_.task.buffers.push_back(std::move(buffer));
  }

  std::optional<symbolic::Expression> extent_of(const SizeProbe &prober, const DraftBuffer &draft,
                                                const BufferUse &use) {
    if (auto given = given_extent(draft))
      return given;
    if (use.is_unbounded || !(use.read || use.written))
      return std::nullopt;
    const auto bytes = static_cast<std::int64_t>(model::size_bytes(*draft.dtype));
    auto found = prober.explain(probes_, [&](const Probe &probe) -> std::optional<std::int64_t> {
      const auto at = probe.uses.find(draft.name);
      if (at == probe.uses.end() || at->second.is_unbounded)
        return std::nullopt;
      std::int64_t high = -1;
      for (const auto &range : {at->second.read, at->second.written})
        if (range)
          high = std::max(high, range->high);
      return high < 0 ? std::nullopt : std::optional((high + bytes) / bytes);
    });
    if (found)
      result_.assumptions.push_back(draft.name + " holds " + found->text() +
                                    " elements, from the highest index that the kernel uses");
    return found;
  }

  Direction direction_of(const DraftBuffer &draft, const BufferUse &use,
                         const model::Buffer &buffer, bool escaped) {
    const auto parameter = std::ranges::find(facts_.parameters, draft.name, &Parameter::name);
    const bool is_const = parameter != facts_.parameters.end() && parameter->is_const;
    const bool is_written_in_text = std::ranges::any_of(facts_.accesses, [&](const Access &access) {
      return access.is_write && std::ranges::find(draft.parameters, access.buffer) != draft.parameters.end();
    });
    if (!use.is_written && (is_written_in_text || (draft.is_of_field && !draft.is_const)))
      return Direction::InOut; // through another pointer: where is not known
    if (!use.is_written && !(escaped && !is_const))
      return Direction::In;
    const bool needs_fill =
        use.is_read || use.is_atomic || use.is_uncertain_write || !covers(use.written, buffer, result_.task.sizes);
    const auto given = spec_.fills.find(draft.name);
    const std::optional<int> fill =
        given != spec_.fills.end() ? std::optional(given->second) : draft.fill;
    if (fill && needs_fill) {
      result_.task.reference.steps.emplace_back(model::FillStep{draft.name, *fill});
      return Direction::Out;
    }
    return needs_fill || escaped ? Direction::InOut : Direction::Out;
  }

  DistributionKind kind_of(const DraftBuffer &draft, const model::Buffer &buffer, const BufferUse &use) const {
    const auto in = [&](const std::set<std::string> &set) {
      return std::ranges::any_of(draft.parameters,
                                 [&](const std::string &name) { return set.contains(name); });
    };
    if (!model::is_floating(buffer.dtype))
      return DistributionKind::Integers;
    if (use.is_atomic && use.is_written)
      return DistributionKind::Zeros;
    return in(measured_->ranges.positive) ? DistributionKind::Positive : DistributionKind::Normal;
  }

  /// As a recorded run had it, else by the kernel's text.
  void choose_distribution(const SizeProbe &prober, model::Buffer &buffer) {
    const auto index_bound = index_distribution(prober, buffer);
    if (const CapturedValues *values = captured_values(buffer))
      if (const auto captured =
              captured_distribution(*values, buffer.dtype, result_.task, index_bound)) {
        buffer.distribution = *captured;
        result_.assumptions.push_back("the values of " + buffer.name + " are spread as in " +
                                      spec_.captured->source);
        return;
      }
    if (measured_->ranges.loop_bounds.contains(buffer.name))
      miss(buffer.name + ".values",
           "The values of " + buffer.name +
               " bound a loop of the kernel. Which values does it hold? Write `" + buffer.name +
               ": integers LOW..HIGH`.");
  }

  /// Null: none were seen, or the kernel's results go into the buffer.
  const CapturedValues *captured_values(const model::Buffer &buffer) const {
    if (!spec_.captured || buffer.direction == Direction::Out || !buffer.lanes.empty())
      return nullptr; // a run's statistics are of one dtype
    const auto draft = std::ranges::find(draft_.buffers, buffer.name, &DraftBuffer::name);
    for (const std::string &name : draft->parameters)
      if (const auto found = spec_.captured->values.find(name);
          found != spec_.captured->values.end() && found->second.contains(buffer.dtype))
        return &found->second.at(buffer.dtype);
    return nullptr;
  }

  /// Limits integers that index another buffer to indices inside it. @return their exclusive bound
  std::optional<symbolic::Expression> index_distribution(const SizeProbe &prober,
                                                         model::Buffer &buffer) {
    using enum DistributionKind;
    std::optional<symbolic::Expression> bound;
    if (buffer.distribution.kind != Integers)
      return bound;
    buffer.distribution.lower = symbolic::Expression(0);
    if (buffer.direction != Direction::In &&
        !std::ranges::any_of(measured_->ranges.accesses, [&](const auto &access) {
          return access.loaded && access.loaded->buffer == buffer.name;
        }))
      buffer.distribution.kind = Zeros;
    for (std::size_t i = 0; i < measured_->ranges.accesses.size(); ++i) {
      const RangedAccess &access = measured_->ranges.accesses[i];
      if (!access.loaded || access.loaded->buffer != buffer.name || access.bytes.is_bounded() ||
          access.loaded->coefficient < 1)
        continue;
      const auto target = std::ranges::find_if(draft_.buffers, [&](const DraftBuffer &draft) {
        return std::ranges::count(draft.parameters, access.buffer);
      });
      const auto described =
          target == draft_.buffers.end()
              ? result_.task.buffers.end()
              : std::ranges::find(result_.task.buffers, target->name, &model::Buffer::name);
      if (described == result_.task.buffers.end())
        continue;
      auto upper = prober.explain(probes_, [&](const Probe &probe) -> std::optional<std::int64_t> {
        const auto extent = described->extent.evaluate(probe.sizes);
        if (!extent || i >= probe.ranges.accesses.size() || !probe.ranges.accesses[i].loaded)
          return std::nullopt;
        const LoadedValue &loaded = *probe.ranges.accesses[i].loaded;
        const auto bytes = static_cast<std::int64_t>(model::size_bytes(described->dtype));
        return (*extent * bytes - bytes - loaded.rest.high) / loaded.coefficient + 1;
      });
      if (!upper)
        continue;
      buffer.distribution.kind = Integers;
      buffer.distribution.upper = *upper;
      bound = upper;
      result_.assumptions.push_back("the values of " + buffer.name + " lie in 0.." + upper->text() +
                                    ", as they index " + access.buffer);
    }
    return bound;
  }

  bool given_distribution(const std::string &name) const {
    const auto given = spec_.buffers.find(name);
    return given != spec_.buffers.end() && given->second.distribution;
  }

  // ---- tolerance

  void finish() {
    model::Task &task = result_.task;
    // Fills are appended after the launch step, but must run first.
    std::ranges::stable_partition(task.reference.steps, [](const model::Step &step) {
      return std::holds_alternative<model::FillStep>(step);
    });
    task.tolerance = spec_.tolerance ? *spec_.tolerance : tolerance_of(task, measured_->ranges);
    const bool has_floats = std::ranges::any_of(
        task.buffers, [](const model::Buffer &buffer) { return model::is_floating(buffer.dtype); });
    // In double precision the fields of a struct have other places.
    const bool has_structs = std::ranges::any_of(task.buffers, [](const auto &one) { return !one.lanes.empty(); });
    const bool has_float_fields = std::ranges::any_of(fields_of(draft_.step), [](const auto &field) {
      return std::holds_alternative<model::ScalarArgument>(field);
    });
    if (auto text = has_floats && !has_float_fields && !has_structs ? double_precision(slice_) : std::nullopt) {
      task.reference_fp64 = task.reference;
      task.reference_fp64->source = std::move(*text);
      for (model::Step &step : task.reference_fp64->steps)
        if (auto *launch = std::get_if<model::LaunchStep>(&step))
          promote(*launch);
    }
  }

  /// Adapts arguments and shared memory to the fp64 twin: floating-point scalars are passed as
  /// doubles.
  void promote(model::LaunchStep &launch) const {
    launch.kernel = double_precision(launch.kernel).value_or(launch.kernel);
    const bool has_half =
        std::ranges::any_of(result_.task.buffers, [](const model::Buffer &buffer) {
          return buffer.dtype == model::Dtype::Float16 || buffer.dtype == model::Dtype::BFloat16;
        });
    if (launch.shared_bytes.text() != "0")
      if (const auto wider = symbolic::Expression::parse("(" + launch.shared_bytes.text() + ") * " +
                                                         (has_half ? "4" : "2")))
        launch.shared_bytes = *wider;
    for (model::Argument &argument : launch.arguments)
      if (const auto *named = std::get_if<model::ScalarArgument>(&argument)) {
        const auto scalar =
            std::ranges::find(result_.task.scalars, named->scalar, &model::Scalar::name);
        if (scalar != result_.task.scalars.end() && std::holds_alternative<double>(scalar->value))
          argument =
              model::ConstantArgument{std::get<double>(scalar->value), model::Dtype::Float64};
      }
  }

  const ParsedUnit &unit_;
  const clang::FunctionDecl &kernel_;
  const Kernel &facts_;
  const std::string &slice_;
  Spec spec_;
  const HostProgram &program_;
  std::set<std::string> fixed_;
  LaunchDraft draft_;
  std::optional<Probe> measured_;
  std::vector<Probe> probes_;
  InferredTask result_;
};

} // namespace

InferredTask infer_task(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice, const Spec &spec) {
  return infer_task(HostProgram(unit), kernel, facts, slice, spec);
}

InferredTask infer_task(const HostProgram &program, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice, const Spec &spec) {
  CommentSpec above = spec_above(program.unit(), kernel);
  merge(above.spec, spec);
  InferredTask result = Inference(program, kernel, facts, slice, above.spec).run();
  // A stated size or launch may differ from the run's.
  const bool states_sizes = !above.spec.sizes.empty() || above.spec.launch;
  if (auto &captured = above.spec.captured;
      captured && (!result.inferred || (!states_sizes && !is_launched_as(result.task, *captured)) ||
                   has_bound_fields(std::get<model::LaunchStep>(result.task.reference.steps.back())))) {
    InferredTask of_run = Inference(program, kernel, facts, slice, above.spec).run(/*launch_of_run=*/true);
    if (of_run.inferred) {
      result = std::move(of_run);
    } else if (!is_launched_as(result.task, *captured)) {
      captured.reset(); // another launch of the kernel
      result = Inference(program, kernel, facts, slice, above.spec).run();
    }
  }
  result.captured = spec.captured;
  if (above.error) {
    result.missing.push_back({"spec", above.error->message});
    result.inferred = false;
  }
  // A broken text can give a slice that no runner accepts, for example half an #include.
  if (const auto legal =
          result.inferred ? model::check_plan(result.task.reference, result.task) : Result<void>();
      !legal) {
    result.missing.push_back({"source", describe(legal.error())});
    result.inferred = false;
  }
  return result;
}

InferredTask infer_task(const ParsedUnit &unit, const clang::FunctionDecl &kernel,
                        const Kernel &facts, const std::string &slice) {
  return infer_task(unit, kernel, facts, slice, Spec{});
}

void infer_tasks(const ParsedUnit &unit,
                 const std::vector<std::pair<const clang::FunctionDecl *, Kernel *>> &kernels) {
  if (kernels.empty())
    return;
  const HostProgram program(unit);
  for (const auto &[declaration, kernel] : kernels)
    kernel->task = infer_task(program, *declaration, *kernel, kernel->slice, Spec{});
}

} // namespace warpwright::analysis
