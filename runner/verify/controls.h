// Answers that need no work, judged like a candidate's: they must fail, or the task asks for nothing.
//
// Zeros, one constant, a copy of an input, and the result that the reference gave on other inputs. One that
// passes on every drawing of a task makes the task degenerate: whatever a candidate gains there says
// nothing. Controls are data, not plans: they take the place of the candidate's outputs once these were judged, under the
// same rule, and nothing of them is ever timed. Thread: the job thread.
#pragma once

#include "runner/verify/plan_run.h"

namespace warpwright::runner {

class Controls {
public:
  explicit Controls(const Job &job);

  /// Tries the controls that passed so far on one more drawing.
  /// @param set its inputs are as drawn
  /// @param scratch memory of the candidate's outputs, which is overwritten
  /// @param reference kept for the next drawing, where memory is not short
  DeviceResult<void> judge(Job &job, const BufferSet &set, SavedOutputs &scratch,
                           SavedOutputs &reference, const ExactOutputs *exact);

  /// What passed on every drawing, in words: "zeros pass as its result". nullopt: nothing, as it should be.
  std::optional<std::string> passed() const;

private:
  struct Control {
    enum class Kind { Zeros, Constant, InputCopy, PreviousOutput };
    Kind kind;
    std::string input; ///< of InputCopy
    int tried = 0;
    bool alive = true;
  };
  /// @return false: it cannot be made for this drawing
  DeviceResult<bool> make(Job &job, const BufferSet &set, const Control &control,
                          const SavedOutputs &reference, SavedOutputs &scratch);
  DeviceResult<bool> passes(Job &job, const BufferSet &set, const SavedOutputs &scratch,
                            const SavedOutputs &reference, const ExactOutputs *exact);
  DeviceResult<std::uint64_t> constant_of(Job &job, const model::Buffer &buffer,
                                          const SavedOutputs &reference);

  std::vector<Control> controls_;
  std::map<std::string, std::uint64_t>
      constants_; ///< by output: the bits of its first element in the first drawing
  std::optional<SavedOutputs> previous_;
};

} // namespace warpwright::runner
