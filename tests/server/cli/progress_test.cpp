// The progress bar's line and where it draws.
#include "server/cli/progress.h"

#include <doctest/doctest.h>
#include <sstream>

using namespace warpwright::cli;

TEST_CASE("the share is what is further: count or time") {
  ProgressState state{.kernel = "k", .tried = 16, .limit = 64, .elapsed_share = 0.5};
  CHECK(share(state) == 0.5);
  state.tried = 48;
  CHECK(share(state) == 0.75);
  state.elapsed_share = 7;
  CHECK(share(state) == 1);
}

TEST_CASE("the line shows the bar, the counts, the best and what is being done, cut to the width") {
  const ProgressState state{"saxpy", 32, 64, 0, 2.309, 30, "measuring tile"};
  CHECK(progress_line(state, 200) ==
        "saxpy  [############------------]  32 tried, 30 verified, best 2.31x  measuring tile");
  CHECK(progress_line(state, 10) == "saxpy  [##");
}

TEST_CASE("a terminal gets one line that is redrawn and removed") {
  std::ostringstream out;
  {
    Progress progress(out, true, 80);
    progress.show({"k", 1, 4});
    progress.show({"k", 2, 4});
  }
  const std::string text = out.str();
  CHECK(text.find('\n') == std::string::npos);
  CHECK(text.ends_with("\r\x1b[K"));
}

TEST_CASE("a pipe gets plain lines, only for what is new") {
  std::ostringstream out;
  Progress progress(out, false, 80);
  for (std::size_t tried = 1; tried <= 12; ++tried)
    progress.show({.kernel = "k",
                   .tried = tried,
                   .limit = 64,
                   .best = tried < 5 ? 1.5 : 2.0,
                   .verified = tried});
  CHECK(out.str() == "k: 1 tried, 1 verified, best 1.50x\nk: 5 tried, 5 verified, best 2.00x\n");
}
