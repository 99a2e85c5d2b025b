// File access for Python projects (analysis/python/project_imports.h). Thread: any.
#pragma once

#include "analysis/python/project_imports.h"

namespace warpwright::config {

/// The real file system. Reads of a file stop after 4 MiB, which is more than a task may hold.
analysis::ProjectDisk real_disk();

} // namespace warpwright::config
