// Project settings for several threads: how a file is parsed, read from the nearest configuration
// files. Thread: any.
#pragma once

#include "analysis/config/file_settings.h"
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

/// Completes the tasks of `facts`, which are of `text`, with the sizes of .warpwright.toml.
void use_project_sizes(analysis::FileFacts &facts, const std::string &text,
                       const config::FileSettings &settings);

} // namespace warpwright::server
