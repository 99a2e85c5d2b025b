// Implementation of the terminal query.
#include "server/cli/terminal.h"

#include <cstdlib>
#include <cstring>
#include <sys/ioctl.h>
#include <unistd.h>

namespace warpwright::cli {

Terminal terminal_of(int descriptor) {
  Terminal terminal;
  const char *type = std::getenv("TERM");
  const char *no_color = std::getenv("NO_COLOR");
  terminal.interactive = ::isatty(descriptor) && type && std::strcmp(type, "dumb") != 0;
  terminal.color = terminal.interactive && !(no_color && *no_color);
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
    terminal.width = size.ws_col;
  return terminal;
}

} // namespace warpwright::cli
