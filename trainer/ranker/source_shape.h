// Hash of a source without its names, numbers, texts and comments: sources of one shape are copies
// for a learner.
//
// Records of a task must not share their shape with a benchmark that judges the result. The shapes
// of such benchmarks are a list (excluded_sources.txt): KernelBench, the held-out half of
// bench/modules, bench/real. Thread: any.
#pragma once

#include "support/error.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpwright::trainer {

/// First 16 digits of the SHA-256 of the source's words. @param python comments begin with #
std::string source_shape(std::string_view source, bool python);

/// Shapes of benchmarks, each with the file that has it.
using ExcludedSources = std::map<std::string, std::string>;

/// Reads lines "SHAPE PATH". Errors: a file that cannot be read, or has another line.
Result<ExcludedSources> read_excluded_sources(const std::string &path);

/// The shapes of .py and .cu files, alone or in folders. A path begins with the folder's name; that
/// of a single file with the folder above its own: "modules/level1/02_x.py". Errors: a missing
/// folder.
Result<ExcludedSources> sources_in(const std::vector<std::string> &places);
std::string to_text(const ExcludedSources &sources);

} // namespace warpwright::trainer
