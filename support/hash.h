// SHA-256 as lower-case hex, for keys such as those of the ledger and of the compile cache.
#pragma once
#include <string>
#include <string_view>

namespace warpwright {
std::string sha256_hex(std::string_view bytes);
}
