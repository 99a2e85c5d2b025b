// The initialize handshake: what clients can do, and what this server offers.
//
// Advertised is nothing that clangd does better (completion, navigation, rename, formatting), so
// that both run side by side on one file. Thread: values, any.
#pragma once

#include "server/protocol/position.h"
#include "server/protocol/types.h"

namespace warpwright::server::protocol {

struct WorkspaceFolder {
  std::string uri;
  std::string name;
  WARPWRIGHT_FIELDS(visit("uri", self.uri); visit("name", self.name);)
};

struct InitializeParams {
  std::optional<std::int64_t> process_id;
  std::optional<std::string> root_uri;
  std::optional<std::vector<WorkspaceFolder>> workspace_folders;
  Json capabilities;
  std::optional<Json> initialization_options;
  WARPWRIGHT_FIELDS(visit("processId", self.process_id); visit("rootUri", self.root_uri);
                    visit("workspaceFolders", self.workspace_folders);
                    visit("capabilities", self.capabilities);
                    visit("initializationOptions", self.initialization_options);)
};

/// The client capabilities that change what this server sends.
struct ClientCapabilities {
  bool work_done_progress = false;
  bool code_lens_refresh = false;
  bool inlay_hint_refresh = false;
  bool configuration = false;
  bool document_changes = false;
  bool apply_edit = false;
  bool watches_files = false; ///< it can be asked to, by registration
  bool code_action_literals = false;
  bool lazy_code_action_edits = false;
  bool disabled_code_actions = false;
  bool hover_markdown = true;
  bool lists_kernels = false; ///< experimental.warpwright.changed: it wants `warpwright/changed`
  /// experimental.warpwright.questions: it shows questions beside the text. Others may take the keys
  /// that the user types for an answer, so they are asked only when the user waits for something.
  bool questions = false;
  PositionEncoding encoding = PositionEncoding::Utf16;
};

/// Members of the wrong type count as absent: clients differ, and none should fail to start for
/// that.
ClientCapabilities read_capabilities(const Json &capabilities);

/// Parameters of `client/registerCapability`: to be told when a file that analyses depend on changes on disk.
Json watch_registration();

/// The result of `initialize`.
Json initialize_result(const ClientCapabilities &client, const std::string &version);

inline constexpr const char *kOptimizeCommand = "warpwright.optimize";
inline constexpr const char *kCancelCommand = "warpwright.cancel";
inline constexpr const char *kApplyCommand = "warpwright.apply";
inline constexpr const char *kInsertFactsCommand = "warpwright.insertFacts";

inline constexpr const char *kTrustCommand = "warpwright.trust";

inline constexpr const char *kQuickFixKind = "quickfix";
inline constexpr const char *kRewriteKind = "refactor.rewrite";

} // namespace warpwright::server::protocol
