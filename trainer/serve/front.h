// The service's listener: who may come in, and which protocol a path belongs to.
//
// A client shows its token in the header Authorization, or, if it cannot send headers (as
// OpenEnv's client), before the path: /t/TOKEN/ws. Without a token file only this machine is
// served, and no page of a browser. Paths are not logged. Thread: the strand.
#pragma once

#include "runner/net/token.h"
#include "trainer/serve/nemo_gym.h"
#include "trainer/serve/openenv.h"

namespace warpwright::trainer {

class ServeFront {
public:
  /// Opens the listener. Errors: an address that cannot be used; files of TLS or tokens that cannot be used; an address
  /// that other machines can reach, without TLS or without tokens.
  static Result<std::unique_ptr<ServeFront>> open(EnvironmentService &service,
                                                  boost::asio::any_io_executor strand,
                                                  const ServeConfig &config);
  /// "http://127.0.0.1:8000"
  const std::string &url() const { return url_; }

private:
  explicit ServeFront(EnvironmentService &service) : openenv_(service), nemo_gym_(service) {}
  void handle(const http::Request &request, const http::AnswerPtr &answer);
  /// The owner of the request's token, and the path after a token; nullopt: it may not come in.
  std::optional<std::string> client_of(const http::Request &request, std::string &path) const;

  OpenEnv openenv_;
  NemoGym nemo_gym_;
  std::optional<runner::net::TokenList> tokens_;
  std::string url_;
  std::unique_ptr<http::Server> server_;
};

} // namespace warpwright::trainer
