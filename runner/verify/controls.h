// Trivial answers that are judged like a candidate's; a task that accepts one is degenerate.
//
// The controls are zeros, one constant, a copy of an input, and the reference's result on other inputs. If one passes
// on every drawing of a task, a candidate's gain there means nothing. Controls are data, not plans: they replace the
// candidate's outputs after those were judged, follow the same rule and are never timed. Thread: the job thread.
#pragma once

#include "runner/verify/plan_run.h"

namespace warpwright::runner {

class Controls {
public:
  explicit Controls(const Job &job);

  /// Tries the controls that have passed so far on one more drawing.
  /// @param set its inputs are as drawn
  /// @param scratch memory of the candidate's outputs, which is overwritten
  /// @param reference kept for the next drawing if memory suffices
  DeviceResult<void> judge(Job &job, const BufferSet &set, SavedOutputs &scratch,
                           SavedOutputs &reference, const ExactOutputs *exact);

  /// Description of a control that passed on every drawing: "zeros pass as its result". nullopt: none did.
  std::optional<std::string> passed() const;

private:
  struct Control {
    enum class Kind { Zeros, Constant, InputCopy, PreviousOutput };
    Kind kind;
    std::string input; ///< for InputCopy
    int tried = 0;
    bool alive = true;
  };
  /// @return false: the control cannot be made for this drawing
  DeviceResult<bool> make(Job &job, const BufferSet &set, const Control &control,
                          const SavedOutputs &reference, SavedOutputs &scratch);
  DeviceResult<bool> passes(Job &job, const BufferSet &set, const SavedOutputs &scratch,
                            const SavedOutputs &reference, const ExactOutputs *exact);
  DeviceResult<std::uint64_t> constant_of(Job &job, const model::Buffer &buffer,
                                          const SavedOutputs &reference);

  std::vector<Control> controls_;
  std::map<std::string, std::uint64_t>
      constants_; ///< bits of each output's first element in the first drawing
  std::optional<SavedOutputs> previous_;
};

} // namespace warpwright::runner
