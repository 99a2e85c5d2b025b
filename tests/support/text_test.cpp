#include "support/hash.h"
#include "support/text.h"

#include <doctest/doctest.h>
#include <random>

using namespace warpwright;

TEST_CASE("edits apply against the original text in any order") {
  const auto edited =
      apply_edits("abcdef", {{{4, 5}, "EE"}, {{0, 1}, ""}, {{2, 2}, "+"}, {{2, 2}, "-"}});
  REQUIRE(edited.has_value());
  CHECK(*edited == "b+-cdEEf");
}

TEST_CASE("overlapping and outlying edits are refused") {
  CHECK(!apply_edits("abc", {{{0, 2}, "x"}, {{1, 3}, "y"}}).has_value());
  CHECK(!apply_edits("abc", {{{2, 4}, "x"}}).has_value());
  CHECK(!apply_edits("abc", {{{2, 1}, "x"}}).has_value());
}

TEST_CASE("diff edits turn one text into the other") {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string texts[2];
    for (std::string &text : texts) {
      for (unsigned lines = random() % 12; lines > 0; --lines)
        text += std::string(1, static_cast<char>('a' + random() % 4)) + (random() % 9 ? "\n" : "");
    }
    const auto edits = diff_edits(texts[0], texts[1]);
    const auto edited = apply_edits(texts[0], edits);
    REQUIRE(edited.has_value());
    CHECK(*edited == texts[1]);
    if (texts[0] == texts[1])
      CHECK(edits.empty());
  }
}

TEST_CASE("a unified diff has three lines of context and correct hunk heads") {
  CHECK(unified_diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "a.cu",
                     "b.cu") ==
        "--- a.cu\n+++ b.cu\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  CHECK(unified_diff("same\n", "same\n", "a", "b").empty());
  CHECK(unified_diff("x", "y\n", "a", "b") ==
        "--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+y\n");
}

TEST_CASE("lines and columns of offsets") {
  const LineIndex lines("ab\n\ncd");
  CHECK(lines.line_count() == 3);
  CHECK(lines.line_of(0) == 0);
  CHECK(lines.line_of(2) == 0);
  CHECK(lines.line_of(3) == 1);
  CHECK(lines.line_of(5) == 2);
  CHECK(lines.column_of(5) == 1);
  CHECK(indentation_at("x\n\t  y", 6) == "\t  ");
}

TEST_CASE("sha-256 matches the published vector") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
