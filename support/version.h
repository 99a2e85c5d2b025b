// Version of the project, from the file VERSION at the root of the source tree.
#pragma once
#include <string>

namespace warpwright {

/// "0.1.0". Reports, records and protocols carry it.
std::string version();

} // namespace warpwright
