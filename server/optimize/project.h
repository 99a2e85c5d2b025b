// Project settings shared by several threads: from the nearest configuration files, they decide how files are parsed.
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

/// Infers the tasks of `facts` again where .warpwright.toml or `given` adds sizes that the source of `text` lacks.
/// `given` has priority.
void complete_tasks(analysis::FileFacts &facts, const std::string &text,
                    const config::FileSettings &settings,
                    const std::optional<analysis::Spec> &given = std::nullopt);

} // namespace warpwright::server
