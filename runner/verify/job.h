// What the steps of one verification share: the device, the task, the compiled plans, and who is
// running now. Thread: the job thread.
#pragma once

#include "runner/verify/bound_plan.h"
#include "runner/verify/checker.h"
#include "runner/verify/guarded_buffer.h"

#include <functional>
#include <optional>

namespace warpwright::runner {

/// Who is on the device: decides whose fault a fault is.
enum class Side { Nobody, Reference, Candidate };

/// Where a worker reports what it is doing, so that the service can name it when the worker dies.
using StageSink =
    std::function<void(const std::string &stage, const std::string &activity, Side running)>;

/// A failed check, as it ends up in the verdict.
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
  /// The candidate is another system's module: its parameters are those that its constructor makes, and it keeps its own state.
  bool host_code() const { return model::is_host_code(candidate); }
  /// Whether a buffer's contents after a run are judged.
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
  /// The fp64 reference runs only where the candidate does not agree with the reference by itself, within the task's tolerance.
  bool spares_exact = false;
  /// Of torch tasks: the framework's flags let it round FP32 operands to TF32.
  bool rounds_to_tf32 = false;
  /// Of torch tasks: the last drawing that the module made, which further ones are cut from.
  std::shared_ptr<const TorchInputs> torch_inputs;

private:
  const StageSink &sink_;
  Side side_ = Side::Nobody;
};

/// Large inputs, whose squares still fit a half; and small ones.
inline constexpr float kLargeScale = 64, kSmallScale = 1.0F / 64;

/// One drawing of all inputs at one binding of the sizes.
struct Drawing {
  symbolic::Sizes sizes;
  std::uint64_t seed = 1;
  float scale = 1;
  bool misaligned = false;
  /// Not 0: an eighth of each input, at a place that this decides, is drawn from it instead.
  std::uint64_t part_seed = 0;
  bool wide_guards = false; ///< round every buffer: see GuardedBuffer
  /// Sizes that the task does not name, where its reference may not be at home.
  bool hidden = false;
  /// Of torch tasks. Parameters that the module's constructor fills with one value are drawn around it.
  bool varied = false;
  /// Of torch tasks: what parameters are initialised under; 0: `seed`.
  std::uint64_t parameter_seed = 0;
  /// Of torch tasks, not 0: floating-point buffers are rotated by amounts that this decides; an eighth of them, with part_seed, by
  /// other amounts.
  std::uint64_t rotation = 0;
  /// Which of the task's buffers has its rows scaled by 2^0 to 2^30 (runner/verify/wide_rows.h).
  std::optional<std::size_t> wide_rows_of;
  /// "n=1000, seed 7, inputs scaled by 64, buffers one element off alignment"
  std::string text() const;
};

/// Guarded device buffers for one drawing: the task's, and the temporaries of one plan where asked
/// for.
class BufferSet {
public:
  /// @param promote as for the fp64 reference: floating-point buffers become float64
  static DeviceResult<BufferSet> make(Job &job, const Drawing &drawing, bool promote = false);

  /// Makes a plan's temporaries; those of the plan before are released.
  DeviceResult<void> use_temporaries_of(Job &job, const model::Plan &plan);
  /// Draws inputs, poisons outputs, temporaries and guards.
  DeviceResult<void> prepare(Job &job, unsigned char poison);
  /// Draws the InOut buffers anew and poisons the outputs, as between timed runs.
  DeviceResult<void> restore(Job &job, unsigned char poison);
  /// Draws all inputs anew at the same addresses; as prepare(), but for guards and temporaries.
  /// @param part_seed not 0: only a part of each input changes, as Drawing says
  /// @param scale factor on Normal and Uniform values; of no torch task
  DeviceResult<void> redraw(Job &job, std::uint64_t seed, std::uint64_t part_seed, float scale = 1);
  /// Moves every floating-point input by one unit in the last place of the task's type, up or down.
  DeviceResult<void> round_inputs(Job &job, std::uint64_t seed);
  /// A sentence about the first guard that was written.
  DeviceResult<std::optional<std::string>> find_damage(Job &job, unsigned char poison) const;
  /// A sentence about the first In buffer that changed.
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
    float factor = 0;                             ///< of `draw` at scale 1
  };
  /// Elements of an entry with one draw of their own.
  struct Range {
    element::Draw draw;
    std::uint64_t first, count;
  };
  std::vector<Range> ranges_of(const Entry &entry, std::size_t index) const;
  DeviceResult<void> draw(Job &job, const Entry &entry, std::size_t index) const;
  /// Of an entry that no torch module drew.
  DeviceResult<ChangedElements> find_changed(Job &job, const Entry &entry, std::size_t index) const;
  /// Of each entry; none of those that are no inputs.
  DeviceResult<std::vector<ChangedElements>> find_changed_inputs(Job &job) const;
  void choose_draws();
  /// Where buffers of torch tasks come from, for the present drawing.
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
  bool only_noise = false;      ///< of a torch task: some output is rounding error and nothing else
  std::optional<model::Conditioning> conditioning; ///< of the output that magnifies rounding most
  std::optional<std::string> not_judged; ///< of wide rows: why some output's values were left alone
  std::optional<std::string> fp64_note;  ///< why the fp64 reference was not used
};

class Controls;

/// Runs the candidate twice, then the reference twice and the fp64 reference once, and compares.
/// The candidate comes first, so that no expected output exists anywhere while it runs.
/// @param controls not null: judged by the same rule, where the candidate passed
DeviceResult<TrialResult> run_trial(Job &job, const Drawing &drawing, Controls *controls = nullptr);

} // namespace warpwright::runner
