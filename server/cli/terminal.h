// Abilities of the terminal at a descriptor: width and colors. NO_COLOR and TERM=dumb are honored.
#pragma once

#include <cstddef>

namespace warpwright::cli {

struct Terminal {
  bool interactive = false; ///< a line can be redrawn
  bool color = false;
  std::size_t width = 100;
};

Terminal terminal_of(int descriptor);

} // namespace warpwright::cli
