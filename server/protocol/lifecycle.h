// Initialize handshake: capabilities of clients and of this server.
//
// The server does not advertise what clangd does better (completion, navigation, rename,
// formatting), so that both run side by side on one file. Thread: values, any.
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

/// Client capabilities that change the server's messages.
struct ClientCapabilities {
  bool work_done_progress = false;
  bool code_lens_refresh = false;
  bool inlay_hint_refresh = false;
  bool configuration = false;
  bool document_changes = false;
  bool apply_edit = false;
  bool watches_files = false; ///< supports registration for file changes
  bool code_action_literals = false;
  bool lazy_code_action_edits = false;
  bool disabled_code_actions = false;
  bool change_annotations = false;
  bool related_information = false;
  /// The client requests diagnostics, and again when it is told to. Then none are published.
  bool pull_diagnostics = false;
  bool show_document = false;
  bool text_document_content = false; ///< opens documents of the scheme `warpwright`
  bool hover_markdown = true;
  bool lists_kernels = false; ///< experimental.warpwright.changed: wants `warpwright/changed`
  /// experimental.warpwright.questions: the client shows questions beside the text. In other
  /// clients typed keys may answer a question by accident, so they get a question only when the
  /// user waits for a result.
  bool questions = false;
  PositionEncoding encoding = PositionEncoding::Utf16;
};

/// Reads the client's capabilities. Members of the wrong type count as absent, so that no client
/// fails to start because of them.
ClientCapabilities read_capabilities(const Json &capabilities);

/// Parameters of `client/registerCapability` for changes on disk of files that analyses depend on.
Json watch_registration();

/// Result of `initialize`.
Json initialize_result(const ClientCapabilities &client, const std::string &version);

inline constexpr const char *kOptimizeCommand = "warpwright.optimize";
inline constexpr const char *kCancelCommand = "warpwright.cancel";
inline constexpr const char *kApplyCommand = "warpwright.apply";
inline constexpr const char *kInsertFactsCommand = "warpwright.insertFacts";

inline constexpr const char *kReviewCommand = "warpwright.review";   ///< shows the diff
inline constexpr const char *kDetailsCommand = "warpwright.details"; ///< shows the page of a kernel
inline constexpr const char *kProfileCommand = "warpwright.profile"; ///< reads hardware counters
inline constexpr const char *kTrustCommand = "warpwright.trust";

inline constexpr const char *kQuickFixKind = "quickfix";
inline constexpr const char *kRewriteKind = "refactor.rewrite";
inline constexpr const char *kFixAllKind = "source.fixAll.warpwright";

/// Scheme of the server's own documents (server/features/page_uri.h).
inline constexpr const char *kPageScheme = "warpwright";

} // namespace warpwright::server::protocol
