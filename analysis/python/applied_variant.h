// Variants of modules in the text of a Python file: marking, insertion, removal and search.
//
// Two marks enclose a variant, so that the user's original file can be restored. The original is
// traced, hashed and used as the baseline of measurements. A variant is a text whose last line
// decorates a class (model_writer.h). An "appended" variant decorates a class ModelNew at the end
// of the file. An "in place" variant is directly above the user's class.
// Thread: pure functions.
#pragma once

#include "analysis/python/python_file.h"

#include <optional>

namespace warpwright::analysis {

struct Variant {
  std::string module; ///< name of the user's class
  std::string plan;   ///< hash or its first digits
  std::string decorator; ///< whole lines; the last one decorates the class that follows
  std::string subclass;  ///< the decorated class; unused in place
};

/// The plan of the variant of `module` in the text; empty: there is none.
std::string applied_plan(const std::string &text, const std::string &module);
/// The text between the variant's marks, which starts with the decorator; empty: there is no
/// variant.
std::string applied_variant(const std::string &text, const std::string &module);

/// The text without any variants.
std::string as_written(const std::string &text);

/// The variant with its marks, as with_variant_appended() inserts it.
std::string variant_block(const Variant &variant);

/// The text with the variant appended. It replaces an earlier variant of the same module.
/// Errors: the text cannot be parsed.
Result<std::string> with_variant_appended(const std::string &text, const Variant &variant);

/// The text with the variant directly above the class.
/// Errors: the text cannot be parsed or has no such class.
Result<std::string> with_variant_in_place(const std::string &text, const Variant &variant);

/// The appended variant of `module` in `text`; nullopt if there is none.
std::optional<Variant> appended_variant(const std::string &text, const std::string &module);

} // namespace warpwright::analysis
