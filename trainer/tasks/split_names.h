// Names of splits in suites and options. Thread: any.
#pragma once

#include "trainer/tasks/training_task.h"

#include <optional>
#include <string_view>

namespace warpwright::trainer {

inline constexpr const char *split_text(Split split) {
  return split == Split::Training     ? "training"
         : split == Split::Validation ? "validation"
                                      : "held-out";
}

/// Parses the name of a split; nullopt: another word.
inline std::optional<Split> split_named(std::string_view text) {
  for (const Split split : {Split::Training, Split::Validation, Split::HeldOut})
    if (text == split_text(split))
      return split;
  return std::nullopt;
}

} // namespace warpwright::trainer
