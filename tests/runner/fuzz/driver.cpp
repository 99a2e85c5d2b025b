// Runs a fuzz target if there is no libFuzzer: every seed as it is, then mutations of the seeds in
// a fixed order, so that every build and every compiler exercises the targets the same way.
//   target SEED_FOLDER ITERATIONS
#include "tests/runner/fuzz/fuzz_target.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace {

using Random = std::mt19937;

std::vector<std::string> read_seeds(const std::filesystem::path &folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file())
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> seeds;
  for (const auto &path : paths) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return seeds;
}

std::size_t below(Random &random, std::size_t bound) { return bound ? random() % bound : 0; }

/// One small change: a bit, a byte, a part removed, repeated, or taken from another seed.
void mutate(Random &random, std::string &text, const std::vector<std::string> &seeds) {
  const std::size_t at = below(random, text.size()), length = 1 + below(random, 16);
  switch (random() % 6) {
  case 0:
    if (!text.empty())
      text[at] = static_cast<char>(text[at] ^ (1 << random() % 8));
    break;
  case 1:
    if (!text.empty())
      text[at] = "{}[]\",:-0189eE.\\\n\r\xff"[random() % 20];
    break;
  case 2:
    text.erase(at, length);
    break;
  case 3:
    text.insert(at, text.substr(at, length));
    break;
  case 4:
    text.insert(at, 1, static_cast<char>(random()));
    break;
  default: {
    const std::string &other = seeds[below(random, seeds.size())];
    const std::size_t from = below(random, other.size());
    text.insert(at, other.substr(from, below(random, 64)));
  }
  }
}

int run(const std::string &text) {
  return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t *>(text.data()), text.size());
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: target SEED_FOLDER ITERATIONS" << std::endl;
    return 2;
  }
  const std::vector<std::string> seeds = read_seeds(argv[1]);
  if (seeds.empty()) {
    std::cerr << argv[1] << " holds no seeds" << std::endl;
    return 2;
  }
  for (const std::string &seed : seeds)
    run(seed);
  Random random(1);
  const int iterations = std::stoi(argv[2]);
  for (int i = 0; i < iterations; ++i) {
    std::string text = seeds[below(random, seeds.size())];
    for (std::size_t change = 0; change <= below(random, 8); ++change)
      mutate(random, text, seeds);
    run(text);
  }
  std::cout << seeds.size() << " seeds and " << iterations << " mutations ran" << std::endl;
  return 0;
}
