#include "runner/capture/value_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <span>

namespace warpwright::capture {
namespace {

constexpr std::size_t kSample = 1 << 16;          ///< elements
constexpr std::size_t kMostPermuted = 1 << 28;    ///< elements that are checked for each value once
constexpr std::size_t kFewestOrdered = 8;         ///< fewer elements are in order by chance
constexpr double kLargest = 1e30; ///< differences of two such floats are finite

/// Elements at random places, one in each of equal parts; all if they are few.
template <class T>
std::vector<T> sample_of(std::span<const T> elements) {
  if (elements.size() <= kSample)
    return {elements.begin(), elements.end()};
  std::minstd_rand random;
  std::vector<T> sample;
  const std::size_t part = elements.size() / kSample;
  for (std::size_t i = 0; i < kSample; ++i)
    sample.push_back(elements[i * part + random() % part]);
  return sample;
}

/// @param sorted at least one element
template <class T>
std::vector<double> quantiles_of(const std::vector<T> &sorted) {
  std::vector<double> quantiles;
  for (std::size_t i = 0; i < kQuantiles; ++i)
    quantiles.push_back(static_cast<double>(sorted[i * (sorted.size() - 1) / (kQuantiles - 1)]));
  return quantiles;
}

template <class T>
bool is_permutation_of_range(std::span<const T> elements, T least, T greatest) {
  if (static_cast<double>(greatest) - static_cast<double>(least) != static_cast<double>(elements.size() - 1) ||
      elements.size() > kMostPermuted)
    return false;
  std::vector<bool> seen(elements.size());
  for (const T element : elements) {
    const auto place = static_cast<std::size_t>(element - least);
    if (seen[place])
      return false;
    seen[place] = true;
  }
  return true;
}

template <class T>
std::span<const T> elements_of(std::string_view bytes) {
  return {reinterpret_cast<const T *>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
void add_integers(std::map<std::string, ElementStatistics> &all, const std::string &type, std::string_view bytes) {
  const auto elements = elements_of<T>(bytes);
  if (elements.empty())
    return;
  const auto [least, greatest] = std::ranges::minmax(elements);
  std::vector<T> sample = sample_of(elements);
  std::ranges::sort(sample);
  sample.front() = least;
  sample.back() = greatest;
  ElementStatistics &statistics = all[type];
  statistics.quantiles = quantiles_of(sample);
  if (elements.size() < kFewestOrdered || least == greatest)
    return;
  if (std::ranges::is_sorted(elements))
    statistics.order = "sorted";
  else if (is_permutation_of_range(elements, least, greatest))
    statistics.order = "permutation";
}

/// @param read gives the number of an element
template <class T, class Read>
void add_numbers(std::map<std::string, ElementStatistics> &all, const std::string &type, std::string_view bytes,
                 Read read) {
  const auto elements = elements_of<T>(bytes);
  std::vector<double> sample;
  for (const T element : sample_of(elements))
    sample.push_back(read(element));
  if (sample.empty() || !std::ranges::all_of(sample, [](double value) { return std::isfinite(value); }))
    return;
  ElementStatistics &statistics = all[type];
  if (elements.size() >= kFewestOrdered && sample.front() != sample.back() && std::ranges::is_sorted(elements, {}, read))
    statistics.order = "sorted";
  std::ranges::sort(sample);
  statistics.quantiles = quantiles_of(sample);
  for (double &value : statistics.quantiles)
    value = std::clamp(value, -kLargest, kLargest);
}

} // namespace

std::map<std::string, ElementStatistics> statistics_of(std::string_view bytes) {
  std::map<std::string, ElementStatistics> all;
  add_integers<std::int8_t>(all, "int8", bytes);
  add_integers<std::uint8_t>(all, "uint8", bytes);
  if (const auto found = all.find("uint8"); found != all.end() && found->second.quantiles.back() <= 1)
    all["bool"] = found->second;
  add_integers<std::int16_t>(all, "int16", bytes);
  add_integers<std::uint16_t>(all, "uint16", bytes);
  add_integers<std::int32_t>(all, "int32", bytes);
  add_integers<std::uint32_t>(all, "uint32", bytes);
  add_integers<std::int64_t>(all, "int64", bytes);
  add_integers<std::uint64_t>(all, "uint64", bytes);
  add_numbers<_Float16>(all, "float16", bytes, [](_Float16 value) { return static_cast<float>(value); });
  add_numbers<std::uint16_t>(all, "bfloat16", bytes, [](std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  });
  add_numbers<float>(all, "float32", bytes, [](float value) { return value; });
  add_numbers<double>(all, "float64", bytes, [](double value) { return value; });
  return all;
}

} // namespace warpwright::capture
