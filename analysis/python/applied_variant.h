// Variants of modules in the text of a Python file: how they are marked, put in, taken out and found again.
//
// A variant stands between two marks, so that the file as its user wrote it can be had again: that is what is traced, hashed and
// measured against. A variant is a text whose last line decorates a class (model_writer.h). "appended": it decorates a class ModelNew at
// the end. "in place": it stands right above the user's class.
// Thread: pure functions.
#pragma once

#include "analysis/python/python_file.h"

#include <optional>

namespace warpwright::analysis {

struct Variant {
  std::string module; ///< the user's class
  std::string plan;   ///< hash, or its beginning
  std::string decorator; ///< whole lines; the last one decorates the class that follows
  std::string subclass;  ///< the class that it decorates; not used in place
};

/// Which plan's variant of `module` the text says it holds; empty: none.
std::string applied_plan(const std::string &text, const std::string &module);
/// Returns the text between the variant's marks, which begins with the decorator; empty: there is no variant.
std::string applied_variant(const std::string &text, const std::string &module);

/// The text without any variant; the same text where there is none.
std::string as_written(const std::string &text);

/// The variant between its marks, as with_variant_appended() puts it into a file.
std::string variant_block(const Variant &variant);

/// The text with the variant appended, in place of one of the same module that was there.
/// Errors: text that cannot be read.
Result<std::string> with_variant_appended(const std::string &text, const Variant &variant);

/// The text with the variant right above the class.
/// Errors: the class is not there.
Result<std::string> with_variant_in_place(const std::string &text, const Variant &variant);

/// The variant of `module` that stands appended in `text`; absent when there is none.
std::optional<Variant> appended_variant(const std::string &text, const std::string &module);

} // namespace warpwright::analysis
