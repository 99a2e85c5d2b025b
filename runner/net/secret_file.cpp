#include "runner/net/secret_file.h"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

namespace warpwright::runner::net {

Result<void> check_secret_file(const std::string &path, const std::string &what) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0)
    return fail("cannot read the " + what + " " + path + ": " + std::strerror(errno),
                "Name a file that this user may read");
  const mode_t too_wide = status.st_uid == 0 ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO;
  if ((status.st_mode & too_wide) == 0)
    return {};
  char mode[8] = {};
  for (int digit = 0; digit < 3; ++digit)
    mode[digit] = static_cast<char>('0' + ((status.st_mode >> (6 - 3 * digit)) & 7));
  return fail("the " + what + " " + path + " is open to other users of this machine (mode " + mode +
                  ")",
              "Close it: chmod 600 " + path);
}

} // namespace warpwright::runner::net
