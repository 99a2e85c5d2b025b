// The editor as the server sees it: what can be sent to it, each only where its capabilities allow.
// Thread: the strand.
#pragma once

#include "server/protocol/lifecycle.h"
#include "support/rpc/connection.h"

namespace warpwright::server {

class EditorClient;

/// Progress of one piece of work in the editor's own display; silent where the client has none.
/// Ends itself when dropped.
class Progress {
public:
  ~Progress();
  void report(const std::string &message, std::uint32_t percentage);
  void end(const std::string &message);

private:
  friend class EditorClient;
  struct State;
  explicit Progress(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

class EditorClient {
public:
  using Json = protocol::Json;

  void connect(std::shared_ptr<rpc::Connection> connection) { connection_ = std::move(connection); }
  void disconnect();
  protocol::ClientCapabilities capabilities;

  void publish(const protocol::PublishDiagnosticsParams &params);
  void show_message(protocol::MessageType type, const std::string &message);
  /// Shows a question with buttons.
  /// @param done gets the chosen answer; nullopt where the user, or the client, chose none
  void ask(const std::string &message, const std::vector<std::string> &answers,
           std::function<void(std::optional<std::string>)> done);
  void log(const std::string &message);
  /// Asks the editor to request lenses and hints again (requests that come while one is out are
  /// folded), and tells a client that lists kernels that the list may differ.
  void refresh();
  /// Asks to be told of changes on disk, where the editor can be asked.
  void watch_files();
  /// The value of section "warpwright" of a resource; not called where the client has no
  /// configuration.
  void request_configuration(std::function<void(const Json &)> callback);
  /// Errors, to the callback: the client refused, or cannot apply edits.
  void apply_edit(const protocol::ApplyEditParams &params,
                  std::function<void(Result<void>)> callback);

  /// @param token the client's, when its request brought one; else one is created
  /// @param on_cancel called when the user cancels
  std::shared_ptr<Progress> begin_progress(const std::string &title, std::optional<Json> token,
                                           std::function<void()> on_cancel);
  void cancel_progress(const Json &token);

private:
  struct Refresh {
    bool is_out = false, again = false;
  };
  void refresh(const char *method, std::shared_ptr<Refresh> state);

  std::shared_ptr<rpc::Connection> connection_;
  std::shared_ptr<Refresh> lens_refresh_ = std::make_shared<Refresh>();
  std::shared_ptr<Refresh> hint_refresh_ = std::make_shared<Refresh>();
  std::map<Json, std::weak_ptr<Progress::State>> progress_;
  std::int64_t next_token_ = 1;
};

} // namespace warpwright::server
