#include "trainer/tasks/shapes.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpwright::trainer {
namespace {

constexpr int kDrawings = 4096;

/// floor(4 log2(value)), computed exactly; values are clamped to 1..2^30.
int cell_of(std::int64_t value) {
  const auto v = static_cast<unsigned __int128>(std::clamp<std::int64_t>(value, 1, 1 << 30));
  unsigned __int128 power = v * v * v * v;
  int bits = -1;
  for (; power > 0; power >>= 1)
    ++bits;
  return bits;
}

std::int64_t rounded(std::int64_t value, std::int64_t step) {
  return std::max(step, (value + step / 2) / step * step);
}

std::int64_t draw_size(const SizeRange &range, ShapeRandom &random) {
  const double low = std::log2(static_cast<double>(range.from));
  const double high = std::log2(static_cast<double>(range.to));
  auto value =
      static_cast<std::int64_t>(std::lround(std::exp2(low + (high - low) * random.uniform())));
  if (random.next() & 1) {
    const int width = std::bit_width(static_cast<std::uint64_t>(value));
    value = rounded(value, std::int64_t{1} << std::max(0, width - 3));
  }
  return std::clamp(rounded(value, range.step), range.from, range.to);
}

bool has_points(const ShapeSpace &space, const symbolic::Sizes &sizes) {
  double points = 1;
  for (const auto &[name, value] : sizes)
    points *= static_cast<double>(value);
  return (space.least_points == 0 || points >= static_cast<double>(space.least_points)) &&
         (space.most_points == 0 || points <= static_cast<double>(space.most_points));
}

} // namespace

std::uint64_t ShapeRandom::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double ShapeRandom::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

Split split_of_shape(const symbolic::Sizes &sizes) {
  int sum = 0;
  for (const auto &[name, value] : sizes)
    sum += cell_of(value);
  switch (sum % 5) {
  case 4:
    return Split::HeldOut;
  case 3:
    return Split::Validation;
  default:
    return Split::Training;
  }
}

symbolic::Sizes small_shape(const ShapeSpace &space) {
  symbolic::Sizes sizes;
  for (const SizeRange &range : space.sizes)
    sizes[range.name] = range.small;
  return sizes;
}

std::optional<symbolic::Sizes> draw_shape(const ShapeSpace &space, std::optional<Split> split,
                                          ShapeRandom &random) {
  for (int i = 0; i < kDrawings; ++i) {
    symbolic::Sizes sizes;
    for (const SizeRange &range : space.sizes)
      sizes[range.name] = draw_size(range, random);
    if (has_points(space, sizes) && (!split || split_of_shape(sizes) == *split))
      return sizes;
  }
  return std::nullopt;
}

std::string shape_text(const symbolic::Sizes &sizes) {
  std::string text;
  for (const auto &[name, value] : sizes)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

} // namespace warpwright::trainer
