#include "analysis/python/python_file.h"

#include <algorithm>

namespace warpwright::analysis {
namespace {

bool share_a_name(const std::set<std::string> &a, const std::set<std::string> &b) {
  return std::ranges::any_of(a, [&](const std::string &name) { return b.contains(name); });
}

} // namespace

const PythonFunction *PythonClass::find_method(const std::string &wanted) const {
  const auto found = std::ranges::find(methods, wanted, &PythonFunction::name);
  return found == methods.end() ? nullptr : &*found;
}

const PythonFunction *PythonFile::find_function(const std::string &name) const {
  const auto found = std::ranges::find(functions, name, &PythonFunction::name);
  return found == functions.end() ? nullptr : &*found;
}

std::string needed_source(const PythonFile &file, std::set<std::string> roots) {
  std::vector<bool> taken(file.statements.size(), false);
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t i = 0; i < file.statements.size(); ++i) {
      const PythonStatement &statement = file.statements[i];
      const bool has_effects = statement.binds.empty() && !statement.only_runs_as_main;
      if (taken[i] || !(has_effects || share_a_name(statement.binds, roots)))
        continue;
      taken[i] = grown = true;
      roots.insert(statement.uses.begin(), statement.uses.end());
    }
  }
  std::string text;
  for (std::size_t i = 0; i < file.statements.size(); ++i)
    if (taken[i])
      text += file.statements[i].code + "\n";
  return text;
}

} // namespace warpwright::analysis
