// Holds work on source text, so that a file costs its own facts at most: crashes, endless loops, deep recursion and
// memory end the work, never the program.
//
// The work runs on a thread of its own with a large stack, in LLVM's crash-recovery context and under a budget
// (budget.h). A crash loses what the work had allocated and whatever it had locked. What passes its limits ends at the
// next checkpoint. Work that reaches none for long is left behind on its thread, which runs on until it ends by itself:
// only a process can end it, so commands over many files give each its own (server/cli/own_process.h).
// Leaves out what a crash did to memory of others before it was noticed. Thread: any; threads are kept and used again.
#pragma once

#include "analysis/analyze.h"
#include "support/budget.h"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

namespace warpwright::analysis {

/// While somebody types: longer than any file of the public programs in tests/analysis/corpus takes, by far.
constexpr Limits kEditorLimits{std::chrono::seconds(2), std::size_t{1} << 30};
/// In a command, or one move of a search.
constexpr Limits kCommandLimits{std::chrono::seconds(10), std::size_t{1} << 30};
/// With real headers, of which a framework's take tens of seconds and gigabytes to precompile.
constexpr Limits kFullLimits{std::chrono::seconds(60), std::size_t{4} << 30};

/// Runs `work` under `limits` and waits for it. Inside a guard it runs at once, under the limits there.
/// @param work must own all that it uses: after an error it may still be running
/// Errors: what ended it, as an end of "cannot analyse FILE: ".
Result<void> run_guarded(const Limits &limits, std::function<void()> work);

/// As run_guarded, of work that returns a Result; its errors and the guard's come back alike.
template <class Work>
std::invoke_result_t<Work &> guarded(const Limits &limits, Work work) {
  using Outcome = std::invoke_result_t<Work &>;
  struct Shared {
    Work work;
    std::optional<Outcome> outcome;
  };
  const auto shared = std::make_shared<Shared>(Shared{std::move(work), std::nullopt});
  if (Result<void> done =
          run_guarded(limits, [shared] { shared->outcome.emplace(shared->work()); });
      !done)
    return std::unexpected(done.error());
  return std::move(*shared->outcome);
}

/// The rule of the diagnostic that says why a file has no facts but those of the token scan.
constexpr char kNotAnalysedRule[] = "internal";

/// Facts of the token scan alone, and a diagnostic with the reason.
FileFacts scanned_facts(const SourceFile &file, const Error &reason);
/// Why `facts` are those of scanned_facts(); null: they are not.
const Diagnostic *why_not_analysed(const FileFacts &facts);

/// analyze() in a guard; scanned_facts() where it fails.
FileFacts analyze_guarded(const SourceFile &file, const ParseSettings &settings,
                          const AnalyzeOptions &options, const Limits &limits);

} // namespace warpwright::analysis
