// Variants of modules in the text of a Python file: how they are marked, put in, taken out and found again.
//
// A variant stands between two marks, so that the file as its user wrote it can be had again: that is what is traced, hashed and
// measured against. "appended": kernels and a class ModelNew at the end. "in place": kernels before the class, whose forward
// is then one that calls them and, where they do not fit, `_forward_as_written`, the user's own. What both call is model_writer.h's.
// Thread: pure functions.
#pragma once

#include "analysis/python/python_file.h"

#include <optional>

namespace warpwright::analysis {

struct Variant {
  std::string module; ///< the user's class
  std::string plan;   ///< hash, or its beginning
  std::string
      kernels; ///< an object whose forward_of(forward) gives the other forward, and what it needs
  std::string call;     ///< its name without "_exported": "_warpwright_Model"
  std::string subclass; ///< the class that calls it; not used in place
};

/// Which plan's variant of `module` the text says it holds; empty: none.
std::string applied_plan(const std::string &text, const std::string &module);
/// What stands between its marks, kernels first; empty: there is none.
std::string applied_variant(const std::string &text, const std::string &module);

/// The text without any variant; the same text where there is none.
std::string as_written(const std::string &text);

/// The text with the variant appended, in place of one of the same module that was there.
/// Errors: text that cannot be read.
Result<std::string> with_variant_appended(const std::string &text, const Variant &variant);

/// The text with the variant in the class itself.
/// Errors: the class or its forward is not there.
Result<std::string> with_variant_in_place(const std::string &text, const Variant &variant);

/// The variant of `module` that stands appended in `text`; absent when there is none.
std::optional<Variant> appended_variant(const std::string &text, const std::string &module);

} // namespace warpwright::analysis
