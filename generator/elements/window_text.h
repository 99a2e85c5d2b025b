// Text helpers of the window families (scans, pooling, convolutions, indexing): templates, index texts, settings.
#pragma once

#include "generator/elements/family.h"

namespace warpwright::elements {

/// Texts for a template's placeholders: {"N", "16"} for "@N@".
using Substitutions = std::map<std::string, std::string>;

/// Returns the template with every @NAME@ replaced. A missing name stays as it is, and does not compile.
std::string fill_places(std::string_view text, const Substitutions &places);

/// Returns "kRows = 4, kLines = 3" for the constants of a configuration that a device template takes.
std::string constants_text(const std::vector<std::pair<std::string, std::int64_t>> &constants);

/// Returns index texts of a flat position `text` in `shape`, row-major: for "i" in [4, 8] "i / 8", "i % 8". `text` must
/// be an identifier or stand in parentheses.
Index unflatten(const std::string &text, const model::Shape &shape);

/// Returns the terms of an offset: " + a * 4ll + b * 2ll" for the indices a, b and strides 4, 2, without those that are 0.
std::string strided_terms(const Index &index, const model::Shape &strides);

/// Returns the number of elements of shape[begin..end).
std::int64_t elements_between(const model::Shape &shape, std::size_t begin, std::size_t end);

/// Returns the region's parameters, then `more` ("float *scratch"); arguments_with() has the same order.
std::string parameters_with(const ElementWriter &writer, const std::vector<std::string> &more);
std::vector<model::Argument> arguments_with(const ElementWriter &writer,
                                            const std::vector<std::string> &temporaries);

model::LaunchStep launch_of(std::string kernel, std::int64_t grid_x, std::int64_t block,
                            std::vector<model::Argument> arguments, std::int64_t shared_bytes = 0,
                            std::int64_t grid_y = 1, std::int64_t grid_z = 1);

/// Returns a configuration's entry. Errors: there is no entry of that name, or it is outside [low, high].
Result<int> setting_of(const Configuration &configuration, const std::string &name, int low,
                       int high);
/// Name and limits of an entry that settings_of() reads. Errors of settings_of(): as of setting_of().
struct SettingRange {
  std::string name;
  int low = 1, high = 1;
};
Result<std::map<std::string, int>> settings_of(const Configuration &configuration,
                                               const std::vector<SettingRange> &ranges);

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// Returns the smallest power of two that is at least `value` and at most `limit`.
std::int64_t power_of_two_for(std::int64_t value, std::int64_t limit);

} // namespace warpwright::elements
