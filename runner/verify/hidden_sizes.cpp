// The drawing of sizes, and the reference's trial run.
#include "runner/verify/hidden_sizes.h"
#include "runner/verify/plan_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpwright::runner {
namespace {

using model::Direction;

constexpr int kTries = 16;

/// What is known of one size.
struct Bounds {
  std::int64_t low, high;
  std::int64_t divisor; ///< of all known values
  bool fixed() const { return low == high; }
};

/// A multiple of `step` between the bounds, spread evenly over the orders of magnitude: small sizes fail as
/// well as large ones, and sooner.
std::int64_t draw_between(const Bounds &bounds, std::int64_t step, std::mt19937_64 &random) {
  if (bounds.fixed())
    return bounds.low;
  const std::int64_t low = bounds.low / step, high = bounds.high / step;
  const double part = static_cast<double>(random() >> 11) * 0x1p-53;
  const double from = static_cast<double>(std::max<std::int64_t>(low, 1)),
               to = static_cast<double>(std::max<std::int64_t>(high, 1));
  return step * std::clamp<std::int64_t>(std::llround(from * std::pow(to / from, part)), low, high);
}

struct Product {
  std::string name, left, right;
};

/// What holds in every known binding.
class Relations {
public:
  explicit Relations(const model::Task &task) {
    known_.push_back(&task.sizes);
    for (const Sizes &sizes : task.check_sizes)
      if (sizes.size() == task.sizes.size())
        known_.push_back(&sizes);
    for (const auto &[name, value] : task.sizes) {
      Bounds &bounds = bounds_[name];
      bounds = {value, value, value};
      for (const Sizes *sizes : known_)
        if (const auto found = sizes->find(name); found != sizes->end()) {
          bounds.low = std::min(bounds.low, found->second);
          bounds.high = std::max(bounds.high, found->second);
          bounds.divisor = std::gcd(bounds.divisor, found->second);
        }
    }
    find_relations();
  }

  bool all_fixed() const {
    return std::all_of(bounds_.begin(), bounds_.end(),
                       [](const auto &entry) { return entry.second.fixed(); });
  }

  Sizes draw(HiddenSizes which, std::mt19937_64 &random) const {
    Sizes drawn;
    for (const auto &[name, bounds] : bounds_)
      drawn[name] = draw_between(
          bounds, which == HiddenSizes::Multiples ? std::max<std::int64_t>(bounds.divisor, 1) : 1,
          random);
    for (const auto &[name, same] : equal_)
      drawn[name] = drawn[same];
    for (const Product &product : products_)
      drawn[product.name] = drawn[product.left] * drawn[product.right];
    return drawn;
  }

  bool names(const Sizes &drawn) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const Sizes *sizes) { return *sizes == drawn; });
  }

private:
  bool always(const std::function<bool(const Sizes &)> &holds) const {
    return std::all_of(known_.begin(), known_.end(),
                       [&](const Sizes *sizes) { return holds(*sizes); });
  }

  bool is_fixed(const std::string &name) const { return bounds_.at(name).fixed(); }

  /// A size is bound by one relation at most, and only to sizes that are bound by none.
  void find_relations() {
    std::vector<std::string> free;
    for (const auto &[name, bounds] : bounds_) {
      const auto same = std::find_if(free.begin(), free.end(), [&](const std::string &other) {
        return always([&](const Sizes &sizes) { return sizes.at(name) == sizes.at(other); });
      });
      if (same != free.end() && !is_fixed(name))
        equal_.emplace_back(name, *same);
      else
        free.push_back(name);
    }
    for (const std::string &name : free)
      for (const std::string &left : free)
        for (const std::string &right : free)
          if (name != left && name != right && left <= right && !is_bound(name) &&
              !is_bound(left) && !is_bound(right) && !is_fixed(name) &&
              always([&](const Sizes &sizes) {
                return sizes.at(name) == sizes.at(left) * sizes.at(right);
              }))
            products_.push_back({name, left, right});
  }

  bool is_bound(const std::string &name) const {
    return std::any_of(products_.begin(), products_.end(),
                       [&](const Product &product) { return product.name == name; });
  }

  std::vector<const Sizes *> known_;
  std::map<std::string, Bounds> bounds_;
  std::vector<std::pair<std::string, std::string>> equal_;
  std::vector<Product> products_;
};

/// How many elements of the saved outputs nobody wrote, over both runs.
DeviceResult<std::uint64_t> count_unwritten(Job &job, const SavedOutputs (&saved)[2]) {
  std::uint64_t count = 0;
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction != Direction::Out)
      continue;
    const GuardedBuffer &first = saved[0].copies.at(buffer.name);
    const std::uint64_t elements = first.size_bytes() / model::size_bytes(buffer.dtype);
    if (elements == 0)
      continue;
    // Against zeros, which are written everywhere, an unwritten element is the only "unwritten" one.
    auto zeros = GuardedBuffer::make(job.device, first.size_bytes(), 0);
    if (!zeros)
      return std::unexpected(zeros.error());
    if (auto filled = zeros->poison_payload(0); !filled)
      return std::unexpected(filled.error());
    element::Comparison comparison{.type = static_cast<int>(buffer.dtype),
                                   .poison = {kPoisons[0], kPoisons[1]}};
    for (int pass = 0; pass < 2; ++pass) {
      comparison.candidate[pass] =
          reinterpret_cast<const void *>(saved[pass].copies.at(buffer.name).address());
      comparison.reference[pass] = reinterpret_cast<const void *>(zeros->address());
    }
    comparison.scale = 1;
    auto found = job.checker.compare(comparison, elements);
    if (!found)
      return std::unexpected(found.error());
    count += found->unwritten;
  }
  return count;
}

/// Whether the two runs wrote different values: what the reference read outside its buffers differed, too.
DeviceResult<bool> is_unstable(Job &job, const SavedOutputs (&saved)[2]) {
  for (const model::Buffer &buffer : job.task.buffers) {
    if (buffer.direction == Direction::In)
      continue;
    const std::uint64_t elements =
        saved[0].copies.at(buffer.name).size_bytes() / model::size_bytes(buffer.dtype);
    if (elements == 0)
      continue;
    element::Comparison comparison{.type = static_cast<int>(buffer.dtype),
                                   .compare_runs = true,
                                   .poison = {kPoisons[0], kPoisons[1]}};
    for (int pass = 0; pass < 2; ++pass)
      comparison.candidate[pass] = comparison.reference[pass] =
          reinterpret_cast<const void *>(saved[pass].copies.at(buffer.name).address());
    comparison.scale = 1;
    auto found = job.checker.compare(comparison, elements);
    if (!found)
      return std::unexpected(found.error());
    if (found->unstable)
      return true;
  }
  return false;
}

DeviceResult<std::optional<std::string>> run_reference(Job &job, const Drawing &drawing,
                                                       bool may_leave_elements) {
  Drawing apart = drawing;
  apart.wide_guards = true;
  auto set = BufferSet::make(job, apart);
  if (!set)
    return std::unexpected(set.error());
  if (auto made = set->use_temporaries_of(job, job.task.reference); !made)
    return std::unexpected(made.error());
  SavedOutputs saved[2];
  for (int pass = 0; pass < 2; ++pass) {
    job.device.set_thread_order(pass == 0 ? ThreadOrder::Forward : ThreadOrder::Reverse);
    auto failure = run_once(job, *set, job.task.reference, job.plans.reference, kPoisons[pass]);
    if (!failure)
      return std::unexpected(failure.error());
    if (*failure)
      return (*failure)->message;
    if (auto kept = saved[pass].save(job, *set); !kept)
      return std::unexpected(kept.error());
  }
  auto unwritten = count_unwritten(job, saved);
  if (!unwritten)
    return std::unexpected(unwritten.error());
  if (*unwritten && !may_leave_elements)
    return "leaves " + std::to_string(*unwritten) + " elements of its outputs unwritten";
  auto unstable = is_unstable(job, saved);
  if (!unstable)
    return std::unexpected(unstable.error());
  if (*unstable && !uses_atomics(job.task.reference.source))
    return "gives two results on the same inputs";
  return std::nullopt;
}

} // namespace

std::optional<Sizes> draw_hidden_sizes(const model::Task &task, HiddenSizes which,
                                       std::mt19937_64 &random,
                                       const std::function<bool(const Sizes &)> &affordable) {
  const Relations relations(task);
  if (relations.all_fixed())
    return std::nullopt;
  for (int i = 0; i < kTries; ++i)
    if (Sizes drawn = relations.draw(which, random); !relations.names(drawn) && affordable(drawn))
      return drawn;
  return std::nullopt;
}

DeviceResult<std::optional<std::string>> probe_reference(Job &job, const Drawing &drawing,
                                                         bool may_leave_elements) {
  job.enter("verifying", "running the reference at " + drawing.text(), Side::Reference);
  auto reason = run_reference(job, drawing, may_leave_elements);
  if (!reason && reason.error().device_lost)
    return std::unexpected(reason.error());
  if (!reason)
    reason = "does not run: " + reason.error().message;
  job.enter("verifying", "comparing", Side::Nobody);
  return reason;
}

} // namespace warpwright::runner
