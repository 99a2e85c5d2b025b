#include "server/program/halving.h"

#include <doctest/doctest.h>
#include <set>

using namespace warpwright::program;

namespace {

/// Halves `count` edits, of which these fail alone, and these pairs fail together.
Halved halved(std::size_t count, const std::set<std::size_t> &bad, const std::set<EditSet> &bad_pairs = {}) {
  return halve(count, [&](const EditSet &edits) -> std::optional<std::string> {
    CHECK_FALSE(edits.empty());
    const std::set<std::size_t> all(edits.begin(), edits.end());
    CHECK(all.size() == edits.size());
    for (const std::size_t edit : bad)
      if (all.contains(edit))
        return "edit " + std::to_string(edit);
    for (const EditSet &pair : bad_pairs)
      if (all.contains(pair[0]) && all.contains(pair[1]))
        return "a pair";
    return std::nullopt;
  });
}

} // namespace

TEST_CASE("edits that pass together take one test, and no edits none") {
  const Halved good = halved(8, {});
  CHECK(good.kept == EditSet{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(good.guilty.empty());
  CHECK(good.tests == 1);
  CHECK(halved(0, {}).tests == 0);
}

TEST_CASE("one guilty edit of many is found in about two tests a halving") {
  for (std::size_t bad = 0; bad < 16; ++bad) {
    const Halved found = halved(16, {bad});
    CHECK(found.kept.size() == 15);
    REQUIRE(found.guilty.contains(bad));
    CHECK(found.guilty.at(bad) == "edit " + std::to_string(bad));
    CHECK(found.tests <= 9);
  }
}

TEST_CASE("all guilty edits are left out, and nothing else") {
  const Halved found = halved(9, {1, 2, 8});
  CHECK(found.kept == EditSet{0, 3, 4, 5, 6, 7});
  CHECK(found.guilty.size() == 3);
  const Halved none = halved(3, {0, 1, 2});
  CHECK(none.kept.empty());
  CHECK(none.guilty.size() == 3);
  CHECK(halved(1, {0}).tests == 1);
}

TEST_CASE("of two edits that fail only together, the later one is left out") {
  const Halved found = halved(4, {}, {{1, 3}});
  CHECK(found.kept == EditSet{0, 1, 2});
  CHECK(found.guilty == std::map<std::size_t, std::string>{{3, "a pair"}});
}

TEST_CASE("an interrupted search keeps what has passed and leaves out what was not tested") {
  std::stop_source stop;
  const Halved found = halve(
      4,
      [&](const EditSet &edits) -> std::optional<std::string> {
        if (edits == EditSet{0, 1})
          stop.request_stop();
        return edits.size() > 2 ? std::optional<std::string>("too many") : std::nullopt;
      },
      stop.get_token());
  CHECK(found.kept == EditSet{0, 1});
  CHECK(found.guilty.at(2).find("interrupted") != std::string::npos);
  CHECK(found.guilty.contains(3));
}
