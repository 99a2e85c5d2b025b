// State shared by the steps of one verification: the device, the task, the compiled plans and the running side.
// Thread: the job thread.
#pragma once

#include "runner/verify/bound_plan.h"
#include "runner/verify/checker.h"
#include "runner/verify/guarded_buffer.h"

#include <functional>
#include <optional>

namespace warpwright::runner {

/// Side that uses the device; decides who is blamed for a fault.
enum class Side { Nobody, Reference, Candidate };

/// Receiver of a worker's progress, so that the service can name the stage in which a worker died.
using StageSink =
    std::function<void(const std::string &stage, const std::string &activity, Side running)>;

/// A failed check in the verdict's form.
struct Failure {
  model::Outcome outcome = model::Outcome::WrongResult;
  std::string check;
  std::string message;
};

class TorchInputs;

struct CompiledPlans {
  CompiledPlan reference, candidate;
  std::optional<CompiledPlan> reference_fp64;
};

class Job {
public:
  Job(Device &device, Checker &checker, const model::Task &task, const model::Plan &candidate,
      const StageSink &sink)
      : device(device), checker(checker), task(task), candidate(candidate), sink_(sink) {}

  void enter(const std::string &stage, const std::string &activity, Side running) {
    side_ = running;
    sink_(stage, activity, running);
  }
  Side running() const { return side_; }
  /// True if the candidate is another system's module, with its constructor's parameters and its own state.
  bool host_code() const { return model::is_host_code(candidate); }
  /// True if a buffer's contents are judged after a run.
  bool judges(const model::Buffer &buffer) const {
    return buffer.direction == model::Direction::Out ||
           (buffer.direction == model::Direction::InOut && !host_code());
  }
  const StageSink &sink() const { return sink_; }

  Device &device;
  Checker &checker;
  const model::Task &task;
  const model::Plan &candidate;
  CompiledPlans plans;
  /// True: the fp64 reference runs only if the candidate disagrees with the reference beyond the task's tolerance.
  bool spares_exact = false;
  /// For torch tasks: the framework's flags let it round FP32 operands to TF32.
  bool rounds_to_tf32 = false;
  /// For torch tasks: the module's last drawing, from which further ones are made.
  std::shared_ptr<const TorchInputs> torch_inputs;

private:
  const StageSink &sink_;
  Side side_ = Side::Nobody;
};

/// Factors for large inputs, whose squares still fit a half, and for small ones.
inline constexpr float kLargeScale = 64, kSmallScale = 1.0F / 64;

/// One drawing of all inputs at one binding of the sizes.
struct Drawing {
  symbolic::Sizes sizes;
  std::uint64_t seed = 1;
  float scale = 1;
  bool misaligned = false;
  /// Not 0: an eighth of each input is drawn from this seed instead, at a place that it decides.
  std::uint64_t part_seed = 0;
  bool wide_guards = false; ///< around every buffer: see GuardedBuffer
  /// True: the task does not name these sizes, and its reference may not work there.
  bool hidden = false;
  /// For torch tasks: parameters that the module's constructor fills with one value are drawn around that value.
  bool varied = false;
  /// For torch tasks: seed of the parameters' initialization; 0: `seed`.
  std::uint64_t parameter_seed = 0;
  /// For torch tasks, not 0: floating-point buffers are rotated by amounts that this decides; with part_seed, an eighth
  /// of them by other amounts.
  std::uint64_t rotation = 0;
  /// Index of the task's buffer whose rows are scaled by 2^0 to 2^30 (runner/verify/wide_rows.h).
  std::optional<std::size_t> wide_rows_of;
  /// Description: "n=1000, seed 7, inputs scaled by 64, buffers one element off alignment".
  std::string text() const;
};

/// Guarded device buffers for one drawing: the task's, and on request one plan's temporaries.
class BufferSet {
public:
  /// @param promote floating-point buffers become float64, for the fp64 reference
  static DeviceResult<BufferSet> make(Job &job, const Drawing &drawing, bool promote = false);

  /// Allocates a plan's temporaries and releases the previous plan's.
  DeviceResult<void> use_temporaries_of(Job &job, const model::Plan &plan);
  /// Draws inputs, poisons outputs, temporaries and guards.
  DeviceResult<void> prepare(Job &job, unsigned char poison);
  /// Draws the InOut buffers anew and poisons the outputs, as between timed runs.
  DeviceResult<void> restore(Job &job, unsigned char poison);
  /// Draws all inputs again at the same addresses, like prepare() but without guards and temporaries.
  /// @param part_seed not 0: only the part of each input that Drawing describes changes
  /// @param scale factor on Normal and Uniform values; not for torch tasks
  DeviceResult<void> redraw(Job &job, std::uint64_t seed, std::uint64_t part_seed, float scale = 1);
  /// Moves every floating-point input by one unit in the last place of the task's type, up or down.
  DeviceResult<void> round_inputs(Job &job, std::uint64_t seed);
  /// A sentence about the first guard that was overwritten; nullopt: none.
  DeviceResult<std::optional<std::string>> find_damage(Job &job, unsigned char poison) const;
  /// A sentence about the first In buffer that changed; nullopt: none.
  DeviceResult<std::optional<std::string>> find_changed_input(Job &job) const;

  const Drawing &drawing() const { return drawing_; }
  const BoundBuffers &bound() const { return bound_; }
  const symbolic::Sizes &sizes() const { return drawing_.sizes; }

private:
  struct Entry {
    std::string name;
    GuardedBuffer memory;
    element::Draw draw{};
    std::optional<model::Direction> direction; ///< nullopt: a temporary
    std::uint64_t elements = 0;
    std::uint64_t part_first = 0, part_count = 0; ///< elements that Drawing::part_seed draws
    float factor = 0;                             ///< factor in `draw` at scale 1
  };
  /// Consecutive elements of an entry with a draw of their own.
  struct Range {
    element::Draw draw;
    std::uint64_t first, count;
  };
  std::vector<Range> ranges_of(const Entry &entry, std::size_t index) const;
  DeviceResult<void> draw(Job &job, const Entry &entry, std::size_t index) const;
  /// Finds the changed elements of an entry that no torch module drew.
  DeviceResult<ChangedElements> find_changed(Job &job, const Entry &entry, std::size_t index) const;
  /// Finds the changed elements of each entry; none for entries that are not inputs.
  DeviceResult<std::vector<ChangedElements>> find_changed_inputs(Job &job) const;
  void choose_draws();
  /// Gets the drawing from which the buffers of a torch task are filled.
  DeviceResult<void> draw_from_torch(Job &job);
  Drawing drawing_;
  std::shared_ptr<const TorchInputs> torch_; ///< null: no torch task
  std::vector<Entry> entries_;
  BoundBuffers bound_;
  bool promote_ = false;
};

/// Largest absolute, relative and fp64 errors of two records, member by member.
void keep_larger(model::Errors &into, const model::Errors &other);

struct TrialResult {
  std::optional<Failure> failure;
  model::Errors errors;
  std::uint64_t digest = 0;     ///< of the reference's outputs
  bool constant_output = false; ///< every output has one value in all its elements
  bool only_noise = false;      ///< for a torch task: some output is only rounding error
  std::optional<model::Conditioning> conditioning; ///< of the output that amplifies rounding most
  std::optional<std::string> not_judged; ///< of wide rows: why an output's values were not judged
  std::optional<std::string> fp64_note;  ///< as Judgement's
};

class Controls;

/// Runs the candidate twice, then the reference twice and the fp64 reference once, and compares.
/// The candidate comes first, so that no expected output exists anywhere while it runs.
/// @param controls judged by the same rule if the candidate passed; may be null
DeviceResult<TrialResult> run_trial(Job &job, const Drawing &drawing, Controls *controls = nullptr);

} // namespace warpwright::runner
