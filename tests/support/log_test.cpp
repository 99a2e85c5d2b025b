// What lines of the log look like; that stderr gets them is seen in the service's tests.
#include "support/log.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace warpwright::log {
namespace {

TEST_CASE("a line of JSON keeps the types of its fields and stays one line") {
  const std::string line =
      format_line(Format::Json, Level::Warning, "2026-01-31T12:00:00.123Z", "worker lost",
                  {{"device", "cuda:0"},
                   {"signal", 9},
                   {"seconds", 0.5},
                   {"retried", true},
                   {"reason", "two\nlines \xff"}});
  CHECK(line.find('\n') == std::string::npos);
  const auto document = nlohmann::json::parse(line);
  CHECK(document["time"] == "2026-01-31T12:00:00.123Z");
  CHECK(document["level"] == "warning");
  CHECK(document["message"] == "worker lost");
  CHECK(document["signal"] == 9);
  CHECK(document["seconds"] == 0.5);
  CHECK(document["retried"] == true);
  CHECK(document["reason"].get<std::string>().starts_with("two\nlines "));
}

TEST_CASE("a line of text quotes what could be mistaken for more fields") {
  CHECK(format_line(Format::Text, Level::Info, "T", "job\nfinished",
                    {{"client", "unix"}, {"reason", "a b=\"c\"\nd"}, {"empty", ""}}) ==
        R"(T info job finished client=unix reason="a b=\"c\"\nd" empty="")");
}

TEST_CASE("levels have names") {
  Level level = Level::Info;
  CHECK(level_from("error", level));
  CHECK(level == Level::Error);
  CHECK_FALSE(level_from("loud", level));
  CHECK(level == Level::Error);
}

} // namespace
} // namespace warpwright::log
