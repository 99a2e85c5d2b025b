#include "generator/elements/tensor_map.h"

#include "generator/elements/window_text.h"

#include <algorithm>
#include <utility>

namespace warpwright::elements {
namespace {

constexpr std::int64_t kMapUnit = 8; ///< 16-bit elements in 16 bytes
constexpr int kSwizzleBytes = 128;

/// Batch dimensions as two, each with one stride.
struct Batches {
  std::int64_t inner = 1, outer = 1, inner_stride = 0, outer_stride = 0;
};

std::optional<Batches> two_batches(const model::Shape &sizes, const model::Shape &strides) {
  const auto part = [](const model::Shape &from, std::size_t first, std::size_t last) {
    return model::Shape(from.begin() + static_cast<std::ptrdiff_t>(first),
                        from.begin() + static_cast<std::ptrdiff_t>(last));
  };
  for (std::size_t at = 0; at <= sizes.size(); ++at) {
    const auto outer = merged(part(sizes, 0, at), part(strides, 0, at));
    const auto inner = merged(part(sizes, at, sizes.size()), part(strides, at, sizes.size()));
    if (outer && inner)
      return Batches{model::elements_of(part(sizes, at, sizes.size())),
                     model::elements_of(part(sizes, 0, at)), *inner, *outer};
  }
  return std::nullopt;
}

} // namespace

std::optional<std::int64_t> merged(const model::Shape &sizes, const model::Shape &strides) {
  std::optional<std::int64_t> stride, expected;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 1)
      continue;
    if (!stride)
      stride = strides[d];
    else if (strides[d] != *expected)
      return std::nullopt;
    expected = strides[d] * sizes[d];
  }
  return stride.value_or(0);
}

Result<Mapped> map_of_lines(const Lines &lines, std::int64_t box_length, std::int64_t box_count) {
  const auto batches = two_batches(lines.batch, lines.batch_strides);
  if (!batches)
    return fail("an operand's batches need more than two strides");
  // A dimension of one element has any stride.
  const std::int64_t any = ceil_divide(lines.length, kMapUnit) * kMapUnit;
  const auto stride_of = [&](std::int64_t extent, std::int64_t stride) {
    return extent == 1 || stride == 0 ? any : stride;
  };
  const auto extent_of = [](std::int64_t extent, std::int64_t stride) {
    return stride == 0 ? std::int64_t{1} : extent;
  };
  const model::Shape strides = {stride_of(lines.count, lines.stride),
                                stride_of(batches->inner, batches->inner_stride),
                                stride_of(batches->outer, batches->outer_stride)};
  const bool is_even = std::ranges::all_of(
      strides, [](std::int64_t stride) { return stride > 0 && stride % kMapUnit == 0; });
  if ((lines.stride == 0 && lines.count > 1) || !is_even || lines.offset % kMapUnit != 0)
    return fail("an operand's rows do not begin at multiples of 16 bytes");
  Mapped result{.argument = {{}, symbolic::Expression(lines.offset)},
                .inner = batches->inner,
                .inner_step = batches->inner_stride != 0,
                .outer_step = batches->outer_stride != 0};
  model::TensorMap map{.box = {box_length, box_count, 1, 1}, .swizzle_bytes = kSwizzleBytes};
  for (const std::int64_t extent :
       {lines.length, lines.count, extent_of(batches->inner, batches->inner_stride),
        extent_of(batches->outer, batches->outer_stride)})
    map.extents.emplace_back(extent);
  for (const std::int64_t stride : strides)
    map.strides.emplace_back(stride);
  result.argument.map = std::move(map);
  return result;
}

} // namespace warpwright::elements
