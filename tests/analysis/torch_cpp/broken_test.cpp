// Code as it is while somebody types: cut off, with words gone and numbers that fit nothing. None of it may end the process.
#include "analysis/torch_cpp/kernels.h"

#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <random>
#include <sstream>

namespace warpwright::analysis {
namespace {

std::string functions() {
  std::ifstream file(WARPWRIGHT_SOURCE_DIR "/tests/analysis/torch_cpp/functions.cpp");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// How many functions have a complete task.
std::size_t read(const std::string &text) {
  FileFacts facts;
  add_torch_functions({"/broken.cpp", text}, {}, facts);
  return static_cast<std::size_t>(std::ranges::count_if(
      facts.kernels, [](const Kernel &kernel) { return kernel.task.inferred; }));
}

/// One change: a character gone, a word doubled or gone, a number replaced.
std::string changed(std::string text, std::mt19937 &random) {
  const auto below = [&](std::size_t count) { return random() % count; };
  const std::size_t at = below(text.size());
  switch (below(4)) {
  case 0:
    text.erase(at, 1 + below(3));
    return text;
  case 1: {
    const std::size_t end = std::min(text.find_first_of(" ,;(){}", at), text.size());
    text.erase(at, end - at);
    return text;
  }
  case 2: {
    const std::size_t end = std::min(text.find_first_of(" ,;(){}", at), text.size());
    text.insert(at, text.substr(at, end - at));
    return text;
  }
  default: {
    const std::size_t digit = text.find_first_of("0123456789", at);
    static const char *const kNumbers[] = {"0",  "-1",  "7",  "65536", "9223372036854775807",
                                           "-9", "1.5", "{}", "x",     "true"};
    if (digit != std::string::npos)
      text.replace(digit, 1, kNumbers[below(std::size(kNumbers))]);
    return text;
  }
  }
}

} // namespace

TEST_CASE("a file that is cut off anywhere is read as far as it goes") {
  const std::string text = functions();
  REQUIRE(read(text) >= 12);
  for (std::size_t end = 0; end < text.size(); end += 311)
    read(text.substr(0, end));
}

TEST_CASE("small mistakes in functions end nothing") {
  const char *given = std::getenv("WARPWRIGHT_BROKEN_CASES");
  const int cases = given ? std::atoi(given) : 50;
  std::mt19937 random(7);
  const std::string text = functions();
  for (int i = 0; i < cases; ++i) {
    std::string broken = text;
    for (int change = 0; change < 12; ++change)
      broken = changed(broken, random);
    read(broken);
  }
}

} // namespace warpwright::analysis
