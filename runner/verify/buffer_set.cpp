// Buffers of a task: allocation, drawing and checking.
#include "runner/verify/job.h"
#include "runner/verify/torch_inputs.h"
#include "runner/verify/wide_rows.h"

#include <algorithm>

namespace warpwright::runner {

using model::Direction;
using model::Dtype;

namespace {

/// Drawing::part_seed redraws one part in this many.
constexpr std::uint64_t kPartOf = 8;
/// TF32 keeps ten bits of the fraction.
constexpr double kTf32Unit = 0x1p-10;

/// Seed of one buffer, so that two buffers of a drawing hold different numbers.
std::uint64_t buffer_seed(std::uint64_t seed, std::size_t index) {
  return element::mix(seed * 64 + index);
}

DeviceResult<std::int64_t> evaluated(const symbolic::Expression &expression,
                                     const symbolic::Sizes &sizes, const std::string &what) {
  auto value = expression.evaluate(sizes);
  if (!value)
    return fault(Fault::Kind::BadLaunch,
                 what + " at " + symbolic::describe_sizes(sizes) + ": " + describe(value.error()));
  return *value;
}

} // namespace

std::string Drawing::text() const {
  std::string text = (hidden ? "hidden sizes " : "") + symbolic::describe_sizes(sizes) + ", seed " +
                     std::to_string(seed);
  if (scale != 1)
    text += ", inputs scaled by " + std::to_string(scale).substr(0, 8);
  if (misaligned)
    text += ", buffers one element off alignment";
  if (wide_rows_of)
    text += ", rows of buffer " + std::to_string(*wide_rows_of + 1) + " scaled by up to 2^30";
  if (rotation)
    text += ", rotated by " + std::to_string(rotation);
  if (part_seed)
    text += ", a part drawn again";
  return text;
}

void BufferSet::choose_draws() {
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    Entry &entry = entries_[index];
    if (!entry.direction)
      continue;
    entry.draw.seed = buffer_seed(drawing_.seed, index);
    entry.draw.factor = entry.factor * drawing_.scale;
    entry.part_first = entry.part_count = 0;
    if (!drawing_.part_seed || entry.elements == 0 || entry.draw.kind == element::Permutation)
      continue; // a part drawn alone would repeat values
    entry.part_count = (entry.elements + kPartOf - 1) / kPartOf;
    entry.part_first = element::mix(buffer_seed(drawing_.part_seed, index)) %
                       (entry.elements - entry.part_count + 1);
  }
}

std::vector<BufferSet::Range> BufferSet::ranges_of(const Entry &entry, std::size_t index) const {
  const std::uint64_t after = entry.part_first + entry.part_count;
  std::vector<Range> ranges;
  const auto add = [&](std::uint64_t seed, std::uint64_t first, std::uint64_t count) {
    element::Draw draw = entry.draw;
    draw.seed = seed;
    draw.first = first;
    if (count > 0)
      ranges.push_back({draw, first, count});
  };
  add(entry.draw.seed, 0, entry.part_first);
  add(buffer_seed(drawing_.part_seed, index), entry.part_first, entry.part_count);
  add(entry.draw.seed, after, entry.elements - after);
  return ranges;
}

DeviceResult<void> BufferSet::draw(Job &job, const Entry &entry, std::size_t index) const {
  if (torch_)
    return torch_->fill(job, index, entry.memory.address(), drawing_);
  const auto width = static_cast<std::uint64_t>(element::stored_width(entry.draw));
  for (const Range &range : ranges_of(entry, index))
    TRY(job.checker.generate(range.draw, entry.memory.address() + range.first * width,
                             range.count));
  return {};
}

DeviceResult<BufferSet> BufferSet::make(Job &job, const Drawing &drawing, bool promote) {
  BufferSet set;
  set.drawing_ = drawing;
  set.promote_ = promote;
  if (job.task.module)
    TRY(set.draw_from_torch(job));
  for (std::size_t index = 0; index < job.task.buffers.size(); ++index) {
    const model::Buffer &buffer = job.task.buffers[index];
    auto extent = evaluated(buffer.extent, drawing.sizes, "the extent of " + buffer.name);
    auto lower =
        evaluated(buffer.distribution.lower, drawing.sizes, "the lower bound of " + buffer.name);
    auto upper =
        evaluated(buffer.distribution.upper, drawing.sizes, "the upper bound of " + buffer.name);
    for (const auto *value : {&extent, &lower, &upper})
      if (!*value)
        return std::unexpected(value->error());
    const Dtype dtype = promote && model::is_floating(buffer.dtype) ? Dtype::Float64 : buffer.dtype;
    const std::size_t width = model::size_bytes(dtype);
    const auto elements = static_cast<std::uint64_t>(std::max<std::int64_t>(*extent, 0));
    auto memory = TRY(GuardedBuffer::make(job.device, elements * width,
                                          drawing.misaligned ? width : 0, drawing.wide_guards));
    job.device.set_name(memory.address(), memory.size_bytes(), buffer.name);
    Entry entry{buffer.name, std::move(memory),
                make_draw(buffer, *lower, *upper, elements, buffer_seed(drawing.seed, index),
                          promote),
                buffer.direction, elements};
    entry.factor = entry.draw.factor;
    if (drawing.wide_rows_of == index)
      entry.draw.bands = wide_bands(buffer, elements);
    set.bound_[buffer.name] = {entry.memory.address(), dtype, elements};
    set.entries_.push_back(std::move(entry));
  }
  set.choose_draws();
  return set;
}

DeviceResult<void> BufferSet::draw_from_torch(Job &job) {
  if (!job.torch_inputs || !job.torch_inputs->holds(drawing_)) {
    job.torch_inputs.reset(); // frees its memory first
    job.enter("verifying", "having the module draw " + drawing_.text(), Side::Reference);
    job.torch_inputs = TRY(TorchInputs::draw(job, drawing_));
    job.enter("verifying", "drawn", Side::Nobody);
  }
  torch_ = job.torch_inputs;
  return {};
}

DeviceResult<void> BufferSet::use_temporaries_of(Job &job, const model::Plan &plan) {
  for (const Entry &entry : entries_)
    if (!entry.direction)
      bound_.erase(entry.name);
  std::erase_if(entries_, [](const Entry &entry) { return !entry.direction; });
  for (const model::Temporary &temporary : plan.temporaries) {
    auto extent =
        TRY(evaluated(temporary.extent, drawing_.sizes, "the extent of " + temporary.name));
    const auto elements = static_cast<std::uint64_t>(std::max<std::int64_t>(extent, 0));
    // Temporaries belong to the plan and are as well aligned as by cudaMalloc.
    auto memory = TRY(GuardedBuffer::make(job.device, elements * model::size_bytes(temporary.dtype),
                                          0, drawing_.wide_guards));
    job.device.set_name(memory.address(), memory.size_bytes(), temporary.name);
    job.device.set_name(memory.address(), elements * model::size_bytes(temporary.dtype),
                        temporary.name);
    bound_[temporary.name] = {memory.address(), temporary.dtype, elements};
    entries_.push_back({temporary.name, std::move(memory), {}, std::nullopt, elements});
  }
  return {};
}

DeviceResult<void> BufferSet::prepare(Job &job, unsigned char poison) {
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const Entry &entry = entries_[index];
    TRY(entry.memory.poison_guards(poison));
    if (entry.direction == Direction::In)
      TRY(draw(job, entry, index));
  }
  return restore(job, poison);
}

DeviceResult<void> BufferSet::round_inputs(Job &job, std::uint64_t seed) {
  for (std::size_t index = 0; index < job.task.buffers.size(); ++index) {
    const model::Buffer &buffer = job.task.buffers[index];
    const BoundBuffer &bound = bound_.at(buffer.name);
    if (buffer.direction == Direction::Out || !model::is_floating(buffer.dtype))
      continue;
    const element::Change change{.type = type_code(bound.dtype),
                                 .what = element::Change::Round,
                                 .bands = {},
                                 .unit = job.rounds_to_tf32 && buffer.dtype == Dtype::Float32
                                             ? kTf32Unit
                                             : unit_in_last_place(buffer.dtype),
                                 .seed = buffer_seed(seed, index),
                                 .bits = 0};
    TRY(job.checker.change(change, bound.address, bound.elements));
  }
  return {};
}

DeviceResult<void> BufferSet::restore(Job &job, unsigned char poison) {
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const Entry &entry = entries_[index];
    auto done = entry.direction == Direction::In      ? DeviceResult<void>{}
                : entry.direction == Direction::InOut ? draw(job, entry, index)
                                                      : entry.memory.poison_payload(poison);
    if (!done)
      return done;
  }
  return {};
}

DeviceResult<void> BufferSet::redraw(Job &job, std::uint64_t seed, std::uint64_t part_seed,
                                     float scale) {
  if (!torch_)
    drawing_.seed = seed;
  else if (!part_seed)
    drawing_.rotation = seed | 1;
  drawing_.part_seed = part_seed;
  if (!torch_)
    drawing_.scale = scale;
  choose_draws();
  for (std::size_t index = 0; index < entries_.size(); ++index)
    if (entries_[index].direction == Direction::In)
      TRY(draw(job, entries_[index], index));
  return {};
}

DeviceResult<std::optional<std::string>> BufferSet::find_damage(Job &job,
                                                                unsigned char poison) const {
  std::vector<element::Guard> guards;
  std::vector<std::pair<const Entry *, std::size_t>>
      owners; // of each guard: its owner, and which of the owner's guards it is
  for (const Entry &entry : entries_)
    for (const element::Guard &guard : entry.memory.guards()) {
      const bool is_first = owners.empty() || owners.back().first != &entry;
      owners.emplace_back(&entry, is_first ? 0 : owners.back().second + 1);
      guards.push_back(guard);
    }
  auto marks = TRY(job.checker.check_guards(guards, poison));
  for (std::size_t i = 0; i < marks.size(); ++i)
    if (marks[i].count > 0) {
      const auto &[entry, which] = owners[i];
      return "wrote outside " + entry->name + ", " + entry->memory.damage_text(which, marks[i]);
    }
  return std::nullopt;
}

DeviceResult<ChangedElements> BufferSet::find_changed(Job &job, const Entry &entry,
                                                      std::size_t index) const {
  const auto width = static_cast<std::uint64_t>(element::stored_width(entry.draw));
  ChangedElements all;
  for (const Range &range : ranges_of(entry, index)) {
    auto changed = TRY(job.checker.find_changed(
        range.draw, entry.memory.address() + range.first * width, range.count));
    if (changed.count > 0 && all.count == 0)
      all.first = range.first + changed.first;
    all.count += changed.count;
  }
  return all;
}

DeviceResult<std::vector<ChangedElements>> BufferSet::find_changed_inputs(Job &job) const {
  std::vector<ChangedElements> changed(entries_.size());
  std::vector<element::RotatedCopy> copies;
  std::vector<std::size_t> owners;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    const Entry &entry = entries_[index];
    if (entry.direction != Direction::In || entry.elements == 0)
      continue;
    if (torch_) {
      copies.push_back(torch_->copy_in(index, entry.memory.address(), drawing_));
      owners.push_back(index);
      continue;
    }
    auto found = TRY(find_changed(job, entry, index));
    changed[index] = found;
  }
  auto marks = TRY(job.checker.check_copies(copies));
  for (std::size_t i = 0; i < owners.size(); ++i)
    changed[owners[i]] = {marks[i].count, marks[i].first};
  return changed;
}

DeviceResult<std::optional<std::string>> BufferSet::find_changed_input(Job &job) const {
  auto changed = TRY(find_changed_inputs(job));
  for (std::size_t index = 0; index < entries_.size(); ++index)
    if (const ChangedElements &found = changed[index]; found.count > 0)
      return "changed " + std::to_string(found.count) + " elements of the input " +
             entries_[index].name + ", the first is " + entries_[index].name + "[" +
             std::to_string(found.first) + "]";
  return std::nullopt;
}

} // namespace warpwright::runner
