// The features as pure functions: a snapshot and the status of its kernels in, protocol structures
// out.
//
// Nothing here knows the server, a runner or a clock. Thread: any; the server calls them on the
// strand, and each costs less than a millisecond.
#pragma once

#include "server/engine.h"
#include "server/kernel_status.h"
#include "server/protocol/extensions.h"
#include "server/protocol/lifecycle.h"
#include "server/settings.h"

#include <functional>

namespace warpwright::server::features {

/// The status of a kernel of the snapshot.
using StatusOf = std::function<KernelStatus(const analysis::Kernel &)>;

/// What a feature may look at.
struct Context {
  const Snapshot &snapshot;
  StatusOf status;
  const Settings &settings;
  const protocol::ClientCapabilities &client;
  std::string runner_name; ///< "NVIDIA H200", "CPU backend", or the URL until it is known
  std::string docs_url;    ///< page of the rules, one anchor a rule; empty: none is linked
};

/// Diagnostics of the rules that are not disabled.
std::vector<protocol::Diagnostic> diagnostics(const Context &context);

/// Of a module that was traced in vain, or whose reference fails. At the line that it names, else at the class's name.
protocol::Diagnostic problem_diagnostic(const Snapshot &snapshot, const analysis::Kernel &module,
                                        const ModuleProblem &problem, const std::string &docs_url);

/// What a lens says of a kernel's state, what a click does about it, and the command that does.
struct StateLine {
  std::string text, action;
  const char *command;
};
StateLine state_line(const Context &context, const analysis::Kernel &kernel);

/// The kernels of the snapshot with their state and verified variants.
std::vector<protocol::KernelItem> kernel_items(const Context &context);

/// One lens a kernel, unresolved.
std::vector<protocol::CodeLens> code_lenses(const Context &context);
/// The lens with its command. Errors: the kernel is no longer there.
Result<protocol::CodeLens> resolve_code_lens(const Context &context, protocol::CodeLens lens);

/// On a kernel's name and on its launches.
std::optional<protocol::Hover> hover(const Context &context, protocol::Position position);

/// Quick fixes with their edits; actions on kernels lazily, with a KernelReference as data.
std::vector<protocol::CodeAction> code_actions(const Context &context,
                                               const protocol::CodeActionParams &params);

std::vector<protocol::InlayHint> inlay_hints(const Context &context, protocol::Range range);

/// Byte edits of the snapshot's text as a workspace edit, versioned where the client can.
protocol::WorkspaceEdit workspace_edit(const Context &context, const std::vector<TextEdit> &edits);

/// The command that optimises, applies, ... with its reference to a kernel.
protocol::Command kernel_command(const std::string &title, const char *command,
                                 const Context &context, const analysis::Kernel &kernel,
                                 std::optional<std::string> plan = {},
                                 std::optional<std::string> form = {});

/// "Apply verified variant: 2.31x [2.27, 2.35] on NVIDIA H200".
std::string apply_title(const runner::LedgerEntry &entry);

} // namespace warpwright::server::features
