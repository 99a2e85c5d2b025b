// Drawing of hidden sizes, and the trials at them.
#include "runner/verify/hidden_sizes.h"
#include "runner/verify/main_sizes.h"
#include "runner/verify/plan_run.h"
#include "runner/verify/reference_probe.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpwright::runner {
namespace {

constexpr int kTries = 16;
/// Number of bindings that are tried, and the kinds that are drawn for them.
constexpr std::size_t kBindings = 2;
constexpr HiddenSizes kAttempts[] = {HiddenSizes::Any, HiddenSizes::Any, HiddenSizes::Multiples,
                                     HiddenSizes::Multiples};

/// Known facts about one size.
struct Bounds {
  std::int64_t low, high;
  std::int64_t divisor; ///< of all known values
  bool fixed() const { return low == high; }
};

/// A multiple of `step` between the bounds, evenly spread over orders of magnitude: small sizes also reveal errors, and
/// faster.
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

/// Relations between sizes that hold in every known binding.
class Relations {
public:
  explicit Relations(const model::Task &task) {
    known_.push_back(&task.sizes);
    for (const symbolic::Sizes &sizes : task.check_sizes)
      if (sizes.size() == task.sizes.size())
        known_.push_back(&sizes);
    for (const auto &[name, value] : task.sizes) {
      Bounds &bounds = bounds_[name];
      bounds = {value, value, value};
      for (const symbolic::Sizes *sizes : known_)
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

  symbolic::Sizes draw(HiddenSizes which, std::mt19937_64 &random) const {
    symbolic::Sizes drawn;
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

  bool names(const symbolic::Sizes &drawn) const {
    return std::any_of(known_.begin(), known_.end(),
                       [&](const symbolic::Sizes *sizes) { return *sizes == drawn; });
  }

private:
  bool always(const std::function<bool(const symbolic::Sizes &)> &holds) const {
    return std::all_of(known_.begin(), known_.end(),
                       [&](const symbolic::Sizes *sizes) { return holds(*sizes); });
  }

  bool is_fixed(const std::string &name) const { return bounds_.at(name).fixed(); }

  /// Finds relations. A size has at most one relation, and only to sizes without one.
  void find_relations() {
    std::vector<std::string> free;
    for (const auto &[name, bounds] : bounds_) {
      const auto same = std::find_if(free.begin(), free.end(), [&](const std::string &other) {
        return always(
            [&](const symbolic::Sizes &sizes) { return sizes.at(name) == sizes.at(other); });
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
              always([&](const symbolic::Sizes &sizes) {
                return sizes.at(name) == sizes.at(left) * sizes.at(right);
              }))
            products_.push_back({name, left, right});
  }

  bool is_bound(const std::string &name) const {
    return std::any_of(products_.begin(), products_.end(),
                       [&](const Product &product) { return product.name == name; });
  }

  std::vector<const symbolic::Sizes *> known_;
  std::map<std::string, Bounds> bounds_;
  std::vector<std::pair<std::string, std::string>> equal_;
  std::vector<Product> products_;
};

/// True if a vectorized kernel has a size with only even known values: odd ones might fault and lose the device.
bool needs_multiples(const model::Task &task) {
  const auto all_even = [&](const auto &size) {
    return size.second % 2 == 0 &&
           std::ranges::all_of(task.check_sizes, [&](const symbolic::Sizes &check) {
             const auto found = check.find(size.first);
             return found == check.end() || found->second % 2 == 0;
           });
  };
  return relies_on_alignment(task.reference.source) && std::ranges::any_of(task.sizes, all_even);
}

struct HiddenTrial {
  TrialResult result;
  std::string dropped; ///< why the reference does not work there; then there is no result
};

/// Runs the reference alone first, since it may not work at these sizes.
DeviceResult<HiddenTrial> try_at(Job &job, const symbolic::Sizes &sizes, std::mt19937_64 &random) {
  const auto drawing = [&] {
    Drawing drawn{sizes, random() >> 40, 1, false};
    drawn.hidden = true;
    return drawn;
  };
  auto reason = TRY(probe_reference(job, drawing()));
  if (reason)
    return HiddenTrial{{}, "the reference " + *reason};
  auto trial = run_trial(job, drawing());
  if (!trial && (job.running() != Side::Reference || trial.error().device_lost))
    return std::unexpected(trial.error());
  if (!trial)
    return HiddenTrial{{}, "the reference: " + trial.error().message};
  if (trial->failure && trial->failure->outcome == model::Outcome::Unsupported)
    return HiddenTrial{{}, trial->failure->message};
  if (trial->failure)
    trial->failure->check = kHiddenCheck;
  return HiddenTrial{std::move(*trial), {}};
}

} // namespace

std::optional<symbolic::Sizes>
draw_hidden_sizes(const model::Task &task, HiddenSizes which, std::mt19937_64 &random,
                  const std::function<bool(const symbolic::Sizes &)> &affordable) {
  const Relations relations(task);
  if (relations.all_fixed())
    return std::nullopt;
  for (int i = 0; i < kTries; ++i)
    if (symbolic::Sizes drawn = relations.draw(which, random);
        !relations.names(drawn) && affordable(drawn))
      return drawn;
  return std::nullopt;
}

DeviceResult<HiddenTrials> run_hidden_trials(Job &job, std::mt19937_64 &random) {
  HiddenTrials trials;
  std::string dropped;
  const bool multiples_alone = needs_multiples(job.task);
  for (const HiddenSizes which : kAttempts) {
    if (which == HiddenSizes::Any && multiples_alone)
      continue;
    const auto sizes =
        draw_hidden_sizes(job.task, which, random, [&](const symbolic::Sizes &drawn) {
          return affordable_unnamed(job, drawn);
        });
    if (!sizes || trials.results.size() == kBindings)
      continue;
    auto trial = TRY(try_at(job, *sizes, random));
    if (!trial.dropped.empty()) {
      dropped += "; not at " + symbolic::describe_sizes(*sizes) + ": " + trial.dropped;
      continue;
    }
    trials.results.push_back(std::move(trial.result));
    if (trials.results.back().failure)
      break;
    trials.text += (trials.text.empty() ? "at " : "; at ") + symbolic::describe_sizes(*sizes);
  }
  trials.text = (trials.text.empty() ? "none were tried" : trials.text) + dropped;
  return trials;
}

} // namespace warpwright::runner
