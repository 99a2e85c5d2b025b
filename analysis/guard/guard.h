// Isolation of work on source text: crashes, endless loops, deep recursion and excessive memory end
// the work, never the program.
//
// The work runs on its own thread with a large stack, in LLVM's crash-recovery context and under a
// budget (support/budget.h). A crash leaks the memory that the work had allocated and the locks
// that it held. Work that exceeds its limits ends at the next checkpoint. Work that reaches no
// checkpoint for long is abandoned on its thread, which runs until the work ends. Only the end of a
// process can stop such a thread, so commands over many files use one process per file
// (server/cli/own_process.h). A crash may have damaged other memory before it was noticed; the
// guard cannot undo that. Thread: any; threads are reused.
#pragma once

#include "analysis/analyze.h"
#include "support/budget.h"

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

namespace warpwright::analysis {

/// Limits while the user types: far more than any public program in tests/analysis/corpus needs.
constexpr Limits kEditorLimits{std::chrono::seconds(2), std::size_t{1} << 30};
/// Limits in a command, or for one move of a search.
constexpr Limits kCommandLimits{std::chrono::seconds(10), std::size_t{1} << 30};
/// Limits with real headers. A framework's headers take tens of seconds and gigabytes to
/// precompile.
constexpr Limits kFullLimits{std::chrono::seconds(60), std::size_t{4} << 30};

/// Runs `work` under `limits` and waits for it. Inside a guard, runs it directly under the limits
/// of that guard.
/// @param work must own all data that it uses, because it may still run after an error
/// Errors: the reason why the work ended, worded to follow a colon in a message.
Result<void> run_guarded(const Limits &limits, std::function<void()> work);

/// Like run_guarded, for work that returns a Result. Errors of the work and of the guard are
/// returned alike.
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

/// Rule of the diagnostic that explains why a file has only the facts of the token scan.
constexpr char kNotAnalysedRule[] = "internal";

/// The facts of the token scan, and a diagnostic with the reason.
FileFacts scanned_facts(const SourceFile &file, const Error &reason);
/// The diagnostic that scanned_facts() added to `facts`; null if there is none.
const Diagnostic *why_not_analysed(const FileFacts &facts);

/// Runs analyze() in a guard, and returns scanned_facts() if that fails.
FileFacts analyze_guarded(const SourceFile &file, const ParseSettings &settings,
                          const AnalyzeOptions &options, const Limits &limits);

} // namespace warpwright::analysis
