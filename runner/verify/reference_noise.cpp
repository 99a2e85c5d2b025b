#include "runner/verify/reference_noise.h"
#include "runner/verify/plan_run.h"

#include <algorithm>
#include <cmath>

namespace warpwright::runner {
namespace {

/// Number of errors wanted of one output, and the limits of the drawings for them.
constexpr std::uint64_t kWantedErrors = 64, kFewestDrawings = 4, kMostDrawings = 32;

struct Pair {
  double reference, exact;
};

/// Appends the elements of one output that the reference wrote in one more drawing.
DeviceResult<void> add_pairs(Job &job, const Drawing &drawing, const model::Buffer &buffer,
                             std::vector<Pair> &pairs) {
  auto set = TRY(BufferSet::make(job, drawing));
  job.enter("verifying", "running the reference at " + drawing.text(), Side::Reference);
  TRY(set.use_temporaries_of(job, job.task.reference));
  const unsigned char poison = kPoisons[0];
  auto failure = TRY(run_once(job, set, job.task.reference, job.plans.reference, poison));
  if (failure)
    return fault(Fault::Kind::Unsupported, failure->message);
  auto exact = TRY(run_exact(job, drawing));
  if (!exact.outputs)
    return {};
  const BoundBuffer &bound = set.bound().at(buffer.name);
  const std::size_t width = model::size_bytes(buffer.dtype);
  std::vector<std::uint64_t> got(bound.elements * width / 8 + 1);
  std::vector<double> wanted(bound.elements);
  TRY(job.device.download(got.data(), bound.address, bound.elements * width));
  TRY(job.device.download(wanted.data(), exact.outputs->at(buffer.name),
                          bound.elements * sizeof(double)));
  for (std::uint64_t i = 0; i < bound.elements; ++i) {
    const std::uint64_t bits = element::load_bits(got.data(), static_cast<int>(width), i);
    const double value = element::to_double(static_cast<int>(buffer.dtype), bits);
    if (!element::is_poison(bits, static_cast<int>(width), poison) && std::isfinite(value) &&
        std::isfinite(wanted[i]))
      pairs.push_back({value, wanted[i]});
  }
  return {};
}

} // namespace

DeviceResult<ReferenceNoise> reference_noise(Job &job, const Drawing &drawing,
                                             const model::Buffer &buffer, double scale) {
  const auto elements =
      static_cast<std::uint64_t>(buffer.extent.evaluate(drawing.sizes).value_or(1));
  const std::uint64_t drawings = std::clamp(kWantedErrors / std::max<std::uint64_t>(elements, 1),
                                            kFewestDrawings, kMostDrawings);
  std::vector<Pair> pairs;
  for (std::uint64_t i = 1; i <= drawings; ++i) {
    Drawing further = drawing;
    further.seed = element::mix(drawing.seed + i) >> 24;
    further.misaligned = false;
    job.device.set_thread_order(i % 2 ? ThreadOrder::Reverse : ThreadOrder::Forward);
    TRY(add_pairs(job, further, buffer, pairs));
  }
  job.enter("verifying", "comparing", Side::Nobody);
  double squares = 0;
  for (const Pair &pair : pairs)
    squares += pair.exact * pair.exact;
  ReferenceNoise noise{scale, 0};
  if (!pairs.empty())
    noise.scale = std::max(scale, std::sqrt(squares / static_cast<double>(pairs.size())));
  for (const Pair &pair : pairs)
    noise.error = std::max(noise.error, std::abs(pair.reference - pair.exact) /
                                            std::max(std::abs(pair.exact), noise.scale));
  return noise;
}

} // namespace warpwright::runner
