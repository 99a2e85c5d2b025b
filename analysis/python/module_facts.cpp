#include "analysis/python/module_facts.h"

#include "analysis/python/applied_variant.h"
#include "analysis/python/module_spec.h"
#include "support/hash.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

constexpr const char *kConvention = "Model";

std::string last_component(const std::string &dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

/// Whether the base classes in the text make this a module: nn.Module, another class of torch.nn,
/// or a module class of the file.
bool is_module(const PythonFile &file, const PythonClass &one, int depth = 0) {
  return depth < 20 && std::ranges::any_of(
                           one.bases,
                           [&](const std::string &base) {
                             if (last_component(base) == "Module" || base.starts_with("nn.") ||
                                 base.starts_with("torch.nn."))
                               return true;
                             const auto own =
                                 std::ranges::find(file.classes, base, &PythonClass::name);
                             return own != file.classes.end() && &*own != &one &&
                                    is_module(file, *own, depth + 1);
                           });
}

/// Module classes, and classes with unknown bases that have a warpwright comment.
std::vector<const PythonClass *> modules_of(const PythonFile &file, const std::string &text,
                                            const LineIndex &lines) {
  std::vector<const PythonClass *> modules;
  Range comment;
  for (const PythonClass &one : file.classes)
    if (is_module(file, one) ||
        (!one.bases.empty() && spec_above(file, text, lines.line_of(one.range.begin) + 1, comment)))
      modules.push_back(&one);
  return modules;
}

const PythonStatement *statement_of(const PythonFile &file, const std::string &name) {
  for (const PythonStatement &statement : file.statements)
    if (statement.binds.contains(name))
      return &statement;
  return nullptr;
}

/// Whether another module of the file uses this one. Such a part is measured with that module, and
/// separately only if a comment describes its call.
bool is_used_by_another(const PythonFile &file, const std::vector<const PythonClass *> &modules,
                        const PythonClass &one) {
  return std::ranges::any_of(modules, [&](const PythonClass *other) {
    const PythonStatement *statement = statement_of(file, other->name);
    return other != &one && statement && statement->uses.contains(one.name);
  });
}

std::vector<TextEdit> spec_edits(const std::string &text, const LineIndex &lines,
                                 const PythonClass &place) {
  const std::size_t start = lines.line_start(lines.line_of(place.range.begin));
  return {{{start, start}, indentation_at(text, start) + suggested_module_spec(place)}};
}

class Collector {
public:
  Collector(const std::string &path, const std::string &text, const ProjectDisk &disk)
      : path_(path), text_(text), disk_(disk), written_(as_written(text)) {
    facts_.path = path;
    facts_.pass = Pass::Full; // no other pass follows
  }

  FileFacts collect() {
    const auto shown = parse_python(text_);
    const auto written = parse_python(written_);
    if (!shown || !written) {
      facts_.diagnostics.push_back({.rule = "configuration",
                                    .severity = Severity::Information,
                                    .message = describe((shown ? written : shown).error()),
                                    .line = 1,
                                    .column = 1});
      return std::move(facts_);
    }
    modules_ = modules_of(*written, written_, written_lines_);
    if (!modules_.empty())
      imports_ = project_imports(path_, written_, disk_);
    for (const PythonClass *module : modules_) {
      const auto place = std::ranges::find(shown->classes, module->name, &PythonClass::name);
      if (place != shown->classes.end())
        add(*written, *module, *shown, *place);
    }
    if (!imports_ && !facts_.kernels.empty())
      report("torch-imports", Severity::Warning, describe(imports_.error()),
             facts_.kernels.front().name_range);
    return std::move(facts_);
  }

private:
  /// @param module the class in the text without variants
  /// @param place the same class in the text of the editor
  void add(const PythonFile &file, const PythonClass &module, const PythonFile &shown,
           const PythonClass &place) {
    Kernel kernel;
    kernel.name = kernel.qualified_name = module.name;
    kernel.range = place.range;
    kernel.name_range = place.name_range;
    kernel.line = place.line;
    kernel.applied_variant = applied_variant(text_, module.name);
    kernel.task.task.name = module.name;
    kernel.task.task.file = path_;
    model::TorchModule task{.source = written_, .model = module.name};
    std::set<std::string> roots{module.name};
    Range comment;
    const auto spec = spec_above(file, written_, line_of_definition(module), comment);
    const bool by_convention = is_by_convention(file, module);
    task.mode = ModuleSpec{}.mode;
    if (spec) {
      const ModuleSpec known = by_convention ? ModuleSpec{task.inputs, task.init_inputs} : ModuleSpec{};
      if (auto read = read_module_spec(*spec, module, known))
        use(*read, kernel, task);
      else
        report_spec(read.error(), shown, place, kernel);
      kernel.slice = "# " + *spec + "\n";
      if (by_convention)
        roots.insert({"get_inputs", "get_init_inputs"});
    } else if (by_convention) {
      kernel.task.inferred = true;
      kernel.task.assumptions.push_back(
          "get_inputs and get_init_inputs make its inputs and arguments");
      roots.insert({"get_inputs", "get_init_inputs"});
    } else if (is_used_by_another(file, modules_, module)) {
      return;
    } else {
      ask(place, kernel);
    }
    kernel.slice += needed_source(file, std::move(roots));
    add_imports(kernel, task);
    kernel.task.task.module = std::move(task);
    facts_.kernels.push_back(std::move(kernel));
  }

  /// Adds the imported project files: they are sent with the module and belong to the measured
  /// source.
  void add_imports(Kernel &kernel, model::TorchModule &task) const {
    if (!imports_) {
      kernel.slice_error = describe(imports_.error());
      return;
    }
    task.files = imports_->files;
    task.path = imports_->path;
    for (const auto &[path, text] : task.files)
      kernel.slice += "\n# " + path + " " + sha256_hex(text);
  }

  /// Line of the first decorator, or of the class.
  std::size_t line_of_definition(const PythonClass &module) const {
    return written_lines_.line_of(module.range.begin) + 1;
  }

  bool is_by_convention(const PythonFile &file, const PythonClass &module) const {
    if (!file.find_function("get_inputs"))
      return false;
    const bool has_model = std::ranges::any_of(
        modules_, [](const PythonClass *one) { return one->name == kConvention; });
    return has_model ? module.name == kConvention : modules_.size() == 1;
  }

  static void use(const ModuleSpec &spec, Kernel &kernel, model::TorchModule &task) {
    kernel.task.inferred = true;
    task.inputs = spec.inputs;
    task.init_inputs = spec.init_inputs;
    task.mode = spec.mode;
  }

  void report_spec(const Error &error, const PythonFile &shown, const PythonClass &place,
                   Kernel &kernel) {
    kernel.task.missing.push_back({"inputs", describe(error)});
    Range range = place.name_range;
    spec_above(shown, text_, lines_.line_of(place.range.begin) + 1, range);
    report("torch-spec", Severity::Warning, describe(error), range);
  }

  void ask(const PythonClass &place, Kernel &kernel) {
    kernel.task.missing.push_back({"inputs", "What is a call of " + place.name + " given?"});
    report("torch-inputs", Severity::Information,
           "Warpwright does not know what " + place.name +
               " is called with, so it cannot be measured. Say it in a comment above the class",
           place.name_range);
    facts_.diagnostics.back().fixes.push_back(
        {"Insert a comment that says the inputs", spec_edits(text_, lines_, place)});
  }

  void report(const std::string &rule, Severity severity, std::string message, Range range) {
    facts_.diagnostics.push_back({.rule = rule,
                                  .severity = severity,
                                  .message = std::move(message),
                                  .range = range,
                                  .line = lines_.line_of(range.begin) + 1,
                                  .column = lines_.column_of(range.begin) + 1});
  }

  const std::string &path_, &text_;
  const ProjectDisk &disk_;
  const std::string written_;
  const LineIndex lines_{text_}, written_lines_{written_};
  std::vector<const PythonClass *> modules_;
  Result<ProjectImports> imports_;
  FileFacts facts_;
};

} // namespace

bool is_python(const std::string &path) { return path.ends_with(".py"); }

FileFacts module_facts(const std::string &path, const std::string &text, const ProjectDisk &disk) {
  return Collector(path, text, disk).collect();
}

Result<std::vector<TextEdit>> module_spec_edits(const std::string &text,
                                                const std::string &module) {
  const auto file = parse_python(text);
  if (!file)
    return std::unexpected(file.error());
  const auto found = std::ranges::find(file->classes, module, &PythonClass::name);
  if (found == file->classes.end())
    return fail("there is no class " + module + " in the file");
  return spec_edits(text, LineIndex(text), *found);
}

} // namespace warpwright::analysis
