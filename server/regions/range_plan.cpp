#include "server/regions/range_plan.h"

#include "generator/planning/layouts.h"
#include "generator/planning/module_task.h"
#include "regions/program.h"
#include "server/export/plan_literal.h"
#include "server/regions/size_constants.h"
#include "support/model/json.h"

#include <algorithm>
#include <random>

namespace warpwright::server {
namespace {

using symbolic::Sizes;

constexpr std::size_t kSamples = 5;
/// An unlimited symbol is verified up to this multiple of its hint, and at least up to kLeastHigh.
constexpr std::int64_t kReach = 8, kLeastHigh = 64;
constexpr int kRandomSizes = 4, kMostShrinks = 5;
/// Sizes to verify are at most this many times as large as the searched ones in all, but for the end of the range: the
/// runner draws and compares whole tensors.
constexpr double kMostGrowth = 4;
/// A range whose verification takes longer is given up.
constexpr std::chrono::minutes kMostTime{3};
constexpr char kSeparator = '\x02'; ///< between source and plan in a text
/// Sizes around which the last tile changes from whole to partial.
constexpr std::int64_t kTiles[] = {16, 64, 128};

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0)
      return false;
  return n > 1;
}

std::optional<std::int64_t> prime_from(std::int64_t n, std::int64_t most) {
  for (; n <= most; ++n)
    if (is_prime(n))
      return n;
  return std::nullopt;
}

std::optional<std::int64_t> prime_below(std::int64_t n, std::int64_t least) {
  for (; n >= least; --n)
    if (is_prime(n))
      return n;
  return std::nullopt;
}

struct Written {
  TorchTask task;
  planning::BuiltPlan built;
};

/// The generator's plans of one region at several sizes.
class Writer {
public:
  Writer(const SizedRegion &region, search::Recipe recipe, bool exact, elements::DeviceFacts facts, runner::BlockingClient &client)
      : region_(region), recipe_(std::move(recipe)), exact_(exact), facts_(std::move(facts)), client_(client) {}

  /// Traces the region at these sizes, in one process. Errors of a size are reported where the size is used.
  Result<void> trace(std::vector<Sizes> all) {
    std::vector<model::TorchModule> modules;
    std::erase_if(all, [&](const Sizes &sizes) { return tasks_.contains(sizes); });
    for (const Sizes &sizes : all) {
      auto module = region_.module_at(sizes);
      if (!module)
        return std::unexpected(module.error());
      modules.push_back(std::move(*module));
    }
    if (modules.empty())
      return {};
    auto traced = client_.trace(modules);
    if (!traced)
      return std::unexpected(traced.error());
    for (std::size_t i = 0; i < modules.size(); ++i) {
      auto &one = (*traced)[i];
      tasks_.emplace(all[i],
                     one ? make_torch_task("region", "region.py", modules[i], std::move(*one))
                         : std::unexpected(one.error()));
    }
    return {};
  }

  /// Errors: sizes at which the region cannot be traced; choices that cannot be written.
  Result<Written> write(const Sizes &sizes, const planning::PlanChoices &choices) {
    auto task = task_at(sizes);
    if (!task)
      return std::unexpected(task.error());
    auto graph = search::rewritten(planning::with_separate_bias(task->graph), recipe_.rewrites);
    if (!graph)
      return std::unexpected(graph.error());
    const auto buffers = planning::plan_buffers(task->task, *graph);
    if (!buffers)
      return std::unexpected(buffers.error());
    auto built = search::build_choices({std::move(*graph), recipe_.rewrites, choices, exact_}, *buffers, facts_);
    if (!built)
      return std::unexpected(built.error());
    return Written{std::move(*task), std::move(*built)};
  }

  Result<TorchTask> task_at(const Sizes &sizes) {
    if (auto traced = trace({sizes}); !traced)
      return std::unexpected(traced.error());
    return tasks_.at(sizes);
  }

  const search::Recipe &recipe() const { return recipe_; }

private:
  const SizedRegion &region_;
  const search::Recipe recipe_;
  const bool exact_;
  const elements::DeviceFacts facts_;
  runner::BlockingClient &client_;
  std::map<Sizes, Result<TorchTask>> tasks_;
};

std::string text_of(const model::Plan &plan) {
  model::Plan bare = plan;
  bare.source.clear();
  return plan.source + kSeparator + model::to_json(bare).dump();
}

/// The halves of a fitted text_of().
std::pair<symbolic::FittedText, symbolic::FittedText> halves(const symbolic::FittedText &whole) {
  symbolic::FittedText source, plan;
  bool is_behind = false;
  for (std::size_t i = 0; i < whole.parts.size(); ++i) {
    const std::string &part = whole.parts[i];
    const std::size_t cut = part.find(kSeparator);
    if (i > 0)
      (is_behind ? plan : source).values.push_back(whole.values[i - 1]);
    (is_behind ? plan : source).parts.push_back(part.substr(0, cut));
    if (cut != std::string::npos) {
      is_behind = true;
      plan.parts.push_back(part.substr(cut + 1));
    }
  }
  return {std::move(source), std::move(plan)};
}

class Ranger {
public:
  Ranger(const SizedRegion &region, Writer &writer, runner::BlockingClient &client, const VerifiedDevice &device,
         const runner::VerifyOptions &verify, std::stop_token stop)
      : region_(region), writer_(writer), client_(client), device_(device), verify_(verify), stop_(std::move(stop)) {
    for (const auto &[name, symbol] : region.symbols) {
      low_[name] = symbol.low;
      high_[name] = symbol.high.value_or(std::max(kLeastHigh, kReach * symbol.hint));
    }
    verify_.measure = false;
    verify_.thorough = false;
    verify_.confirm_large = false;
  }

  Result<void> fit(const planning::BuiltPlan &best) {
    std::vector<Sizes> samples(kSamples);
    for (const auto &[name, symbol] : region_.symbols)
      if (auto chosen = choose_samples(name, symbol, samples); !chosen)
        return chosen;
    // The best's choices may need sizes that divide, or rows that fit into registers. Others are what the families
    // prefer at sizes that are primes, at large primes, and at the largest.
    std::vector<Sizes> preferred{samples[kSamples / 2]};
    if (const auto large = primes_below_high())
      preferred.push_back(*large);
    preferred.push_back(high_);
    std::vector<Sizes> traced = samples;
    traced.insert(traced.end(), preferred.begin() + 1, preferred.end()); // the first is a sample
    if (auto done = writer_.trace(traced); !done)
      return done;
    auto written = write_all(samples, planning::pinned_choices(best));
    for (const Sizes &sizes : preferred) {
      if (written)
        break;
      const std::string why = written.error().message;
      const auto other = writer_.write(sizes, writer_.recipe().choices);
      if (!other)
        return std::unexpected(other.error());
      written = write_all(samples, planning::pinned_choices(other->built));
      if (!written)
        written = fail(written.error().message + "; " + why);
    }
    if (!written)
      return std::unexpected(written.error());
    std::vector<std::string> texts;
    for (const Written &one : *written)
      texts.push_back(text_of(one.built.plan));
    auto whole = symbolic::fit_integers(texts, samples);
    if (!whole)
      return std::unexpected(whole.error());
    whole_ = std::move(*whole);
    choices_ = planning::pinned_choices(written->front().built);
    auto [source, plan] = halves(whole_);
    plan_ = std::move(plan);
    if (auto limited = limit_by_text(); !limited)
      return limited;
    auto sized = with_size_constants(source, high_);
    if (!sized)
      return std::unexpected(sized.error());
    sized_ = std::move(*sized);
    return fit_literal(samples, *written);
  }

  /// The plan at these sizes, with the source that sets the constants to them.
  Result<model::Plan> plan_at(const Sizes &sizes) const {
    const auto text = plan_.at(sizes), source = sized_.text.at(sizes);
    if (!text || !source)
      return std::unexpected((text ? source : text).error());
    const auto document = nlohmann::json::parse(*text, nullptr, false);
    if (document.is_discarded())
      return fail("the plan's expressions give no plan at " + symbolic::describe_sizes(sizes));
    auto plan = model::plan_from_json(document);
    if (plan)
      plan->source = *source;
    return plan;
  }

  /// Runs the plan at the ends of the range and between them, and moves an end where it fails there.
  Result<int> verify_range(const std::function<void(const std::string &)> &on_stage) {
    const auto end = std::chrono::steady_clock::now() + kMostTime;
    for (int shrinks = 0; shrinks < kMostShrinks; ++shrinks) {
      int verified = 0;
      std::optional<Sizes> failed;
      std::string why;
      const std::vector<Sizes> all = sizes_to_verify();
      if (auto traced = writer_.trace(all); !traced)
        return std::unexpected(traced.error());
      for (const Sizes &sizes : all) {
        if (stop_.stop_requested())
          return fail("the search was ended");
        if (std::chrono::steady_clock::now() > end)
          return fail("verifying the range took longer than " + std::to_string(kMostTime.count()) + " minutes");
        if (on_stage)
          on_stage("verifying at " + symbolic::describe_sizes(sizes));
        const auto verdict = verdict_at(sizes, verify_);
        if (!verdict)
          return std::unexpected(verdict.error());
        if (verdict->outcome != model::Outcome::Verified) {
          failed = sizes;
          why = verdict->message;
          break;
        }
        ++verified;
      }
      if (!failed)
        return verified;
      if (!exclude(*failed))
        return fail("at " + symbolic::describe_sizes(*failed) + ": " + why);
    }
    return fail("the plan fails at too many sizes");
  }

  Result<model::Verdict> verdict_at(const Sizes &sizes, const runner::VerifyOptions &options) {
    const auto plan = plan_at(sizes);
    if (!plan)
      return std::unexpected(plan.error());
    const auto task = writer_.task_at(sizes);
    if (!task)
      return std::unexpected(task.error());
    return client_.verify(task->task, *plan, options, stop_, {});
  }

  regions::ShapeRange range() const {
    regions::ShapeRange range;
    for (const auto &[name, low] : low_) {
      range.symbols.push_back(name);
      range.low.push_back(low);
      range.high.push_back(high_.at(name));
    }
    range.literal = literal_;
    range.constants = sized_.constants;
    return range;
  }
  std::string source_at_hints() const { return sized_.text.at(region_.hints()).value_or(""); }

private:
  /// Primes on both sides of the hint: no divisor of a size may hide a condition that other sizes need.
  Result<void> choose_samples(const std::string &name, const regions::Symbol &symbol, std::vector<Sizes> &samples) const {
    const std::int64_t first = std::max<std::int64_t>({low_.at(name), symbol.hint / 2, 3}), step = std::max<std::int64_t>(symbol.hint / 5, 1);
    std::int64_t next = first;
    const bool is_odd = std::distance(region_.symbols.begin(), region_.symbols.find(name)) % 2 == 1;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto prime = prime_from(next, high_.at(name));
      if (!prime)
        return fail("the range of " + name + " has too few sizes for a plan that serves them all");
      samples[is_odd ? (i * 2) % samples.size() : i][name] = *prime;
      next = std::max(*prime + 1, first + static_cast<std::int64_t>(i + 1) * step);
    }
    return {};
  }

  Result<std::vector<Written>> write_all(const std::vector<Sizes> &samples, const planning::PlanChoices &choices) {
    std::vector<Written> all;
    for (const Sizes &sizes : samples) {
      auto one = writer_.write(sizes, choices);
      if (!one)
        return std::unexpected(one.error());
      all.push_back(std::move(*one));
    }
    return all;
  }

  std::optional<Sizes> primes_below_high() const {
    Sizes sizes;
    for (const auto &[name, high] : high_) {
      const auto prime = prime_below(high, low_.at(name));
      if (!prime)
        return std::nullopt;
      sizes[name] = *prime;
    }
    return sizes;
  }

  /// Lowers `high_` until the generator writes the fitted text at primes near it.
  Result<void> limit_by_text() {
    std::string why;
    for (int shrinks = 0; shrinks < kMostShrinks; ++shrinks) {
      const auto sizes = primes_below_high();
      if (!sizes)
        return fail("there is no size to compare the plan at");
      const auto written = writer_.write(*sizes, choices_);
      const auto fitted = whole_.at(*sizes);
      if (written && fitted && *fitted == text_of(written->built.plan))
        return {};
      why = !written ? written.error().message : "the plan has another form there";
      bool is_shorter = false;
      for (auto &[name, high] : high_)
        if (const std::int64_t least = region_.symbols.at(name).hint; high / 2 >= least) {
          high /= 2;
          is_shorter = true;
        }
      if (!is_shorter)
        break;
    }
    return fail("the expressions do not hold at large sizes: " + why);
  }

  Result<void> fit_literal(const std::vector<Sizes> &samples, const std::vector<Written> &written) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      auto plan = plan_at(samples[i]);
      if (!plan)
        return std::unexpected(plan.error());
      plan->source = source_at_hints();
      const auto literal = plan_literal(written[i].task.task, written[i].task.graph, *plan, written[i].task.patterns, device_);
      if (!literal)
        return std::unexpected(literal.error());
      texts.push_back(*literal);
    }
    auto literal = symbolic::fit_integers(texts, samples);
    if (!literal)
      return std::unexpected(literal.error());
    literal_ = std::move(*literal);
    return {};
  }

  /// A list of values for each symbol, walked in step: pairs of values of two symbols are spread, not exhausted.
  std::vector<Sizes> sizes_to_verify() const {
    std::mt19937_64 random(17);
    std::map<std::string, std::vector<std::int64_t>> values;
    std::size_t most = 0;
    for (const auto &[name, symbol] : region_.symbols) {
      const std::int64_t low = low_.at(name), high = high_.at(name);
      std::vector<std::int64_t> all = {low, high, low + 1, high - 1, symbol.hint};
      for (const std::int64_t tile : kTiles)
        for (const std::int64_t near : {tile - 1, tile, tile + 1})
          all.push_back(near);
      for (int i = 0; i < kRandomSizes; ++i)
        all.push_back(std::uniform_int_distribution<std::int64_t>(low, high)(random));
      std::erase_if(all, [&](std::int64_t value) { return value < low || value > high; });
      values[name] = all;
      most = std::max(most, all.size());
    }
    std::vector<Sizes> sizes = {high_};
    const auto add = [&](const Sizes &one) {
      if (std::ranges::find(sizes, one) == sizes.end())
        sizes.push_back(one);
    };
    add(low_);
    for (std::size_t i = 0; i < most; ++i) {
      Sizes one;
      std::size_t number = 0;
      for (const auto &[name, all] : values) {
        one[name] = all[(i * (2 * number + 1) + number) % all.size()];
        ++number;
      }
      // Each in turn keeps its value where all of them together would be too large.
      auto kept = std::next(one.begin(), static_cast<std::ptrdiff_t>(i % one.size()));
      for (auto &[name, value] : one)
        if (name != kept->first && growth(one) > kMostGrowth)
          value = low_.at(name);
      add(one);
    }
    return sizes;
  }

  /// Product of the sizes over that of the searched ones.
  double growth(const Sizes &sizes) const {
    double growth = 1;
    for (const auto &[name, value] : sizes)
      growth *= static_cast<double>(value) / static_cast<double>(region_.symbols.at(name).hint);
    return growth;
  }

  /// Moves the end that is nearer to sizes at which the plan failed. @return false: it fails at the hints or near them
  bool exclude(const Sizes &failed) {
    bool is_moved = false;
    for (const auto &[name, size] : failed) {
      const std::int64_t hint = region_.symbols.at(name).hint;
      if (size > hint && high_[name] > hint) {
        high_[name] = std::max(hint, high_[name] / 2);
        is_moved = true;
      }
    }
    for (const auto &[name, size] : failed) {
      const std::int64_t hint = region_.symbols.at(name).hint;
      if (!is_moved && size < hint && low_[name] < hint) {
        low_[name] = std::min(hint, size * 2);
        is_moved = true;
      }
    }
    return is_moved;
  }

  const SizedRegion &region_;
  Writer &writer_;
  runner::BlockingClient &client_;
  const VerifiedDevice device_;
  runner::VerifyOptions verify_;
  const std::stop_token stop_;
  Sizes low_, high_;
  planning::PlanChoices choices_;
  symbolic::FittedText whole_, plan_, literal_;
  SizedSource sized_;
};

} // namespace

Sizes SizedRegion::hints() const {
  Sizes sizes;
  for (const auto &[name, symbol] : symbols)
    sizes[name] = symbol.hint;
  return sizes;
}

Result<model::TorchModule> SizedRegion::module_at(const Sizes &sizes) const {
  std::vector<std::string> names;
  std::string numbers;
  for (const auto &[name, symbol] : symbols) {
    const auto size = sizes.find(name);
    if (size == sizes.end())
      return fail("the size " + name + " of a region has no number");
    names.push_back(name);
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(size->second);
  }
  model::TorchModule module{.source = regions::python_of(program, profile, names)};
  if (!names.empty()) { // one text for all sizes, so that the runner keeps one process for them
    module.inputs = "get_inputs(" + numbers + ")";
    module.init_inputs = "[" + numbers + "]";
  }
  return module;
}

Result<RangePlan> plan_range(const SizedRegion &region, const search::TorchProposal &best,
                             runner::BlockingClient &client, const model::DeviceInfo &device,
                             const runner::VerifyOptions &verify, const runner::VerifyOptions &measured, std::stop_token stop,
                             const std::function<void(const std::string &)> &on_stage) {
  const auto facts = planning::facts_of(device);
  if (!facts)
    return std::unexpected(facts.error());
  Writer writer(region, search::recipe_of(best), best.exact, *facts, client);
  Ranger ranger(region, writer, client, device.kind == "cuda" ? verified_device(device) : VerifiedDevice{}, verify, stop);
  if (auto fitted = ranger.fit(best.built); !fitted)
    return std::unexpected(fitted.error());
  const auto verified = ranger.verify_range(on_stage);
  if (!verified)
    return std::unexpected(verified.error());
  auto verdict = ranger.verdict_at(region.hints(), measured);
  if (!verdict)
    return std::unexpected(verdict.error());
  if (verdict->outcome != model::Outcome::Verified)
    return fail(verdict->message);
  RangePlan result{ranger.range(), ranger.source_at_hints(), "", std::move(*verdict), *verified};
  const auto literal = result.range.literal.at(region.hints());
  if (!literal)
    return std::unexpected(literal.error());
  result.literal = *literal;
  return result;
}

} // namespace warpwright::server
