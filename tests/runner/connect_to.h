// A client of a runner that must be there.
#pragma once

#include "runner/connect/connect.h"

#include <doctest/doctest.h>

namespace warpwright::runner::testing {

inline std::unique_ptr<BlockingClient> connect_to(const std::string &url) {
  auto client = BlockingClient::connect(url);
  REQUIRE_MESSAGE(client.has_value(), (client ? "" : describe(client.error())));
  return std::move(*client);
}

} // namespace warpwright::runner::testing
