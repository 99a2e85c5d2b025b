// Editor features as pure functions from a snapshot and the status of its kernels to protocol
// structures.
//
// The features do not depend on the server, a runner or a clock. Thread: any; the server calls them
// on the strand, and each takes less than a millisecond.
#pragma once

#include "regions/report.h"
#include "server/engine.h"
#include "server/kernel_status.h"
#include "server/protocol/extensions.h"
#include "server/protocol/lifecycle.h"
#include "server/settings.h"

#include <functional>

namespace warpwright::server::features {

/// Status of a kernel of the snapshot.
using StatusOf = std::function<KernelStatus(const analysis::Kernel &)>;

/// Inputs of a feature.
struct Context {
  const Snapshot &snapshot;
  StatusOf status;
  const Settings &settings;
  const protocol::ClientCapabilities &client;
  std::string runner_name; ///< "NVIDIA H200", "CPU backend", or the URL until it is known
  std::string docs_url;    ///< folder of the pages of the rules, NAME.md; empty: no links
};

/// Findings of the rules that are not disabled, in the order of the text.
std::vector<const analysis::Diagnostic *> shown_findings(const Context &context);
protocol::Diagnostic diagnostic(const Context &context, const analysis::Diagnostic &finding);
std::vector<protocol::Diagnostic> diagnostics(const Context &context);
/// Link to the page of a rule; nullopt: there are no pages.
std::optional<protocol::CodeDescription> rule_page(const std::string &docs_url, const std::string &rule);

/// Diagnostic of a module that could not be traced, or whose reference fails: at the line that the
/// problem names, else at the class's name.
protocol::Diagnostic problem_diagnostic(const Snapshot &snapshot, const analysis::Kernel &module,
                                        const ModuleProblem &problem, const std::string &docs_url);

/// Texts of a lens: the kernel's state, the action of a click, and the action's command.
struct StateLine {
  std::string text, action;
  const char *command;
};
StateLine state_line(const Context &context, const analysis::Kernel &kernel);

/// Kernels of the snapshot with their states and verified variants.
std::vector<protocol::KernelItem> kernel_items(const Context &context);

/// Unresolved lenses: of each kernel its state, then what can be done with its best variant.
std::vector<protocol::CodeLens> code_lenses(const Context &context);
/// Adds the command to a lens. Errors: the kernel no longer exists.
Result<protocol::CodeLens> resolve_code_lens(const Context &context, protocol::CodeLens lens);

/// Hover text on a kernel's name and on its launches.
/// @param report shown if the name is that of its class
std::optional<protocol::Hover> hover(const Context &context, protocol::Position position,
                                     const std::optional<regions::ModelReport> &report = {});

/// Quick fixes with their edits, and actions on kernels without edits, with a KernelReference as
/// data.
std::vector<protocol::CodeAction> code_actions(const Context &context,
                                               const protocol::CodeActionParams &params);

std::vector<protocol::InlayHint> inlay_hints(const Context &context, protocol::Range range);

/// Byte edits of the snapshot's text as a workspace edit, with a version if the client supports it.
/// @param includer edits of a further file
/// @param version of that file's document; nullopt: it is not open
protocol::WorkspaceEdit workspace_edit(const Context &context, const std::vector<TextEdit> &edits,
                                       const std::optional<FileEdits> &includer = {},
                                       std::optional<std::int64_t> version = {});

/// Command on a kernel (optimize, apply, ...) with the reference to the kernel.
protocol::Command kernel_command(const std::string &title, const char *command,
                                 const Context &context, const analysis::Kernel &kernel,
                                 std::optional<std::string> plan = {},
                                 std::optional<std::string> form = {});

/// "Apply verified variant: 2.31x [2.27, 2.35] on NVIDIA H200".
std::string apply_title(const runner::LedgerEntry &entry);

} // namespace warpwright::server::features
