// An OpenAI-compatible endpoint of the test's own: real TLS on a port of this machine, one scripted reply a connection.
//
// Thread: its own; what it recorded is read after the client's call has ended.
#pragma once

#include "tests/trainer/temporary_folder.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace warpwright::trainer::testing {

struct SeenRequest {
  std::string target, authorization, accept, body;
};

struct Reply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string type = "application/json";
  std::vector<std::string> pieces; ///< of the body, each sent on its own
  enum class End {
    Whole,
    Cut,
    Hang
  } end = End::Whole;   ///< Cut: the line drops; Hang: silence until the client goes
  bool garbage = false; ///< the pieces are sent raw, instead of an HTTP answer
};

/// A body that is one chat completion.
Reply whole_answer(const std::string &text, int prompt_tokens = 11, int answer_tokens = 7);
/// Server-sent events, one a piece of text, then usage and [DONE].
Reply streamed_answer(const std::vector<std::string> &texts, const std::string &finish = "stop");
Reply error_answer(int status, const std::string &message,
                   std::vector<std::pair<std::string, std::string>> headers = {});

class ChatServer {
public:
  using Answer = std::function<Reply(const SeenRequest &)>;
  /// @param answer the reply to each request; it runs on the server's thread
  explicit ChatServer(Answer answer);
  /// @param script the reply to the nth request; requests beyond it get the last one
  explicit ChatServer(std::vector<Reply> script);
  ~ChatServer();

  std::string url() const;                                       ///< "https://localhost:PORT/v1"
  std::string ca() const { return folder_.path / "server.pem"; } ///< of its certificate
  std::vector<SeenRequest> seen() const;

private:
  struct Impl;
  TemporaryFolder folder_;
  std::unique_ptr<Impl> impl_;
};

} // namespace warpwright::trainer::testing
