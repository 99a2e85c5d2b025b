// One main for every doctest executable. Tests that find nothing to run on (no GPU, no NVRTC) print
// "all cases skipped" themselves, which CTest reports as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int argc, char **argv) {
  doctest::Context context(argc, argv);
  return context.run();
}
