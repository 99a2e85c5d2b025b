// What the fuzz targets share. A target is one function over bytes, as libFuzzer calls it; without
// libFuzzer, driver.cpp calls it with the seeds and with mutations of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

namespace warpwright::fuzz {

/// A property that must hold for every input.
inline void require(bool holds, const char *property) {
  if (holds)
    return;
  std::fprintf(stderr, "violated: %s\n", property);
  std::abort();
}

} // namespace warpwright::fuzz
