// Checker for memory that the host can read, directly or through a copy.
#include "runner/verify/checker.h"

#include <algorithm>

namespace warpwright::runner {
namespace {

using model::Dtype;
static_assert(static_cast<int>(Dtype::Bool) == element::Bool &&
              static_cast<int>(Dtype::Int8) == element::Int8 &&
              static_cast<int>(Dtype::UInt64) == element::UInt64 &&
              static_cast<int>(Dtype::Float16) == element::Float16 &&
              static_cast<int>(Dtype::Float64) == element::Float64);
static_assert(static_cast<int>(model::Distribution::Kind::Zeros) == element::Zeros &&
              static_cast<int>(model::Distribution::Kind::Permutation) == element::Permutation &&
              model::Distribution::kQuantiles == element::kSteps + 1);

/// Host view of a device's bytes: in place if possible, else a copy.
class HostView {
public:
  static DeviceResult<HostView> of(Device &device, Address address, std::size_t size_bytes) {
    HostView view;
    if (device.capabilities().host_memory) {
      view.data_ = reinterpret_cast<const void *>(address);
      return view;
    }
    view.copy_.resize(size_bytes / 8 + 1);
    TRY(device.download(view.copy_.data(), address, size_bytes));
    view.data_ = view.copy_.data();
    return view;
  }
  const void *data() const { return data_; }

private:
  std::vector<std::uint64_t> copy_; // moves keep its storage, so data_ stays valid
  const void *data_ = nullptr;
};

class HostChecker final : public Checker {
public:
  explicit HostChecker(Device &device) : device_(device) {}

  DeviceResult<void> generate(const element::Draw &draw, Address out,
                              std::uint64_t count) override {
    std::vector<std::uint64_t> drawn(
        count * static_cast<std::size_t>(element::stored_width(draw)) / 8 + 1);
    for (std::uint64_t i = 0; i < count; ++i)
      element::generate(draw, drawn.data(), i);
    return device_.upload(out, drawn.data(),
                          count * static_cast<std::size_t>(element::stored_width(draw)));
  }

  DeviceResult<void> change(const element::Change &change, Address buffer,
                            std::uint64_t count) override {
    const std::uint64_t bytes = count * static_cast<std::uint64_t>(element::width(change.type));
    std::vector<std::uint64_t> changed(bytes / 8 + 1);
    TRY(device_.download(changed.data(), buffer, bytes));
    for (std::uint64_t i = 0; i < count; ++i)
      element::apply(change, changed.data(), i);
    return device_.upload(buffer, changed.data(), bytes);
  }

  DeviceResult<ChangedElements> find_changed(const element::Draw &draw, Address buffer,
                                             std::uint64_t count) override {
    auto view = TRY(HostView::of(device_, buffer,
                                 count * static_cast<std::size_t>(element::stored_width(draw))));
    ChangedElements changed;
    for (std::uint64_t i = 0; i < count; ++i)
      if (!element::is_as_drawn(draw, view.data(), i) && changed.count++ == 0)
        changed.first = i;
    return changed;
  }

  DeviceResult<std::vector<element::Marks>> check_guards(std::span<const element::Guard> guards,
                                                         unsigned char byte) override {
    std::vector<element::Marks> all;
    for (const element::Guard &guard : guards) {
      auto view = TRY(HostView::of(device_, guard.begin, guard.bytes));
      const auto *bytes = static_cast<const unsigned char *>(view.data());
      element::Marks &found = all.emplace_back(element::no_marks());
      for (std::uint64_t i = 0; i < guard.bytes; ++i)
        if (bytes[i] != byte)
          element::mark(found, i);
    }
    return all;
  }

  DeviceResult<std::vector<element::Marks>>
  check_copies(std::span<const element::RotatedCopy> copies) override {
    std::vector<element::Marks> all;
    for (const element::RotatedCopy &copy : copies) {
      auto buffer = TRY(HostView::of(device_, copy.buffer, copy.elements * copy.width));
      auto from = TRY(HostView::of(device_, copy.from, copy.elements * copy.width));
      element::Marks &found = all.emplace_back(element::no_marks());
      for (std::uint64_t i = 0; i < copy.elements; ++i)
        if (!element::is_as_copied(copy, buffer.data(), from.data(), i))
          element::mark(found, i);
    }
    return all;
  }

  DeviceResult<element::Survey> survey(element::u64 type, Address reference,
                                       std::uint64_t count) override {
    auto view = TRY(HostView::of(device_, reference, count * static_cast<std::size_t>(element::width(type))));
    element::Survey result{};
    for (std::uint64_t i = 0; i < count; ++i)
      element::survey(result, type, view.data(), i);
    return result;
  }

  DeviceResult<element::Findings> compare(const element::Comparison &comparison,
                                          std::uint64_t count) override {
    element::Comparison local = comparison;
    std::vector<HostView> views;
    const std::size_t width = static_cast<std::size_t>(element::width(comparison.type));
    const void **sides[] = {&local.candidate[0], &local.candidate[1], &local.reference[0],
                            &local.reference[1]};
    for (const void **side : sides) {
      views.push_back(TRY(HostView::of(device_, reinterpret_cast<Address>(*side), count * width)));
      *side = views.back().data();
    }
    if (comparison.exact) {
      views.push_back(TRY(HostView::of(device_, reinterpret_cast<Address>(comparison.exact),
                                       count * sizeof(double))));
      local.exact = static_cast<const double *>(views.back().data());
    }
    element::Findings found = element::no_findings();
    for (std::uint64_t i = 0; i < count; ++i)
      element::compare(found, local, i);
    return found;
  }

private:
  Device &device_;
};

} // namespace

static_assert(model::Buffer::kMostLanes == element::kMostLanes);

element::u64 type_code(Dtype dtype) { return static_cast<element::u64>(dtype); }

element::u64 type_code(const model::Buffer &buffer) {
  if (buffer.lanes.empty())
    return type_code(buffer.dtype);
  element::u64 code = static_cast<element::u64>(buffer.lanes.size()) << 60;
  for (std::size_t i = 0; i < buffer.lanes.size(); ++i)
    code |= type_code(buffer.lanes[i]) << 4 * i;
  return code;
}

element::Draw make_draw(Dtype dtype, model::Distribution::Kind kind, std::int64_t lower,
                        std::int64_t upper, std::uint64_t seed, float scale, bool promote) {
  // Standard deviation of a sum of four 16-bit uniforms: 65536 * sqrt(4 / 12).
  constexpr float kNormal = 1.0F / 37837.227F, kUniform = 1.0F / 16777216.0F;
  element::Draw draw{};
  draw.type = type_code(dtype);
  draw.kind = static_cast<int>(kind);
  draw.promote = promote;
  draw.factor = scale * (kind == model::Distribution::Kind::Normal ? kNormal : kUniform);
  draw.lower = lower;
  draw.range = upper > lower ? static_cast<std::uint64_t>(upper - lower) : 1;
  draw.seed = seed;
  return draw;
}

element::Draw make_draw(const model::Buffer &buffer, std::int64_t lower, std::int64_t upper,
                        std::uint64_t elements, std::uint64_t seed, bool promote) {
  const model::Distribution &distribution = buffer.distribution;
  element::Draw draw =
      make_draw(buffer.dtype, distribution.kind, lower, upper, seed, 1, promote);
  draw.type = type_code(buffer);
  draw.count = elements;
  for (std::size_t i = 0; i < distribution.quantiles.size(); ++i) {
    const double value = distribution.quantiles[i];
    draw.quantiles[i] = model::is_floating(buffer.dtype)
                            ? element::bit_copy<element::u32>(static_cast<float>(value))
                            : static_cast<element::u32>(std::clamp(value, 0.0, 1.0) * element::kWhole);
  }
  return draw;
}

double unit_in_last_place(Dtype dtype) {
  switch (dtype) {
  case Dtype::Float16:
    return 0x1p-10;
  case Dtype::BFloat16:
    return 0x1p-7;
  case Dtype::Float32:
    return 0x1p-23;
  default:
    return 0x1p-52;
  }
}

std::unique_ptr<Checker> make_host_checker(Device &device) {
  return std::make_unique<HostChecker>(device);
}

DeviceResult<std::unique_ptr<Checker>> make_checker(Device &device) {
  if (device.capabilities().device_checks)
    return make_device_checker(device);
  return make_host_checker(device);
}

} // namespace warpwright::runner
