// What the terminal at a descriptor can do: width and colours. NO_COLOR and TERM=dumb are honoured.
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
