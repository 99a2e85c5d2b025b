// Project settings for several threads: how a file is parsed, read from the nearest configuration
// files.
#pragma once

#include "analysis/analyze.h"
#include "analysis/config/file_settings.h"
#include "analysis/task/spec.h"
#include "support/exclusive.h"

namespace warpwright::server {

class ProjectSettings {
public:
  config::FileSettings read(const std::string &path) {
    return reader_.with([&](config::SettingsReader &reader) { return reader.read(path); });
  }

private:
  Exclusive<config::SettingsReader> reader_;
};

/// Infers again the tasks of `facts`, which are of `text`, for which the sizes of .warpwright.toml or
/// `given` say more than the source. `given` counts more.
void complete_tasks(analysis::FileFacts &facts, const std::string &text,
                    const config::FileSettings &settings,
                    const std::optional<analysis::Spec> &given = std::nullopt);

} // namespace warpwright::server
