// The disk as files of a Python project are read from it (analysis/python/project_imports.h). Thread: any.
#pragma once

#include "analysis/python/project_imports.h"

namespace warpwright::config {

/// Files that are larger than a task may hold are cut off behind that.
analysis::ProjectDisk real_disk();

} // namespace warpwright::config
