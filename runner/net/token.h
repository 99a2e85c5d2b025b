// Authentication of remote clients: the tokens of a file, and the check of a client's first
// message.
//
// A token is hashed and compared in constant time with every token of the file, so that the
// duration of a refusal reveals nothing. A client can reach only the jobs and verdicts of its own
// token's owner. Thread: values, any.
#pragma once

#include "support/error.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace warpwright::runner::net {

/// Version of the messages between client and runner, which must be the same on both sides.
inline constexpr int kProtocolVersion = 1;

class TokenList {
public:
  /// One token a line, "TOKEN" or "NAME TOKEN"; empty lines and lines that start with # are
  /// skipped.
  /// Errors: a file that cannot be read; no token; one shorter than 16 characters.
  static Result<TokenList> load(const std::string &path);
  static Result<TokenList> parse(const std::string &text, const std::string &path);

  /// The owner's name, used in logs and for jobs; empty: unknown token.
  std::string owner_of(const std::string &token) const;
  /// The same for the SHA-256 of a token that a client showed before.
  std::string owner_of_hash(const std::string &hash) const;
  bool has_owner(const std::string &owner) const;
  std::size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::string owner, hash;
  };
  std::vector<Entry> entries_;
};

/// Checks the first message of a remote client, `authenticate` {token, version}.
/// @return the owner. Errors: another method, no token, a wrong token, another version.
Result<std::string> check_authentication(const TokenList &tokens, const std::string &method,
                                         const nlohmann::json &params);

/// Parameters of the client's first message.
nlohmann::json authentication(const std::string &token);

/// The first token in a token file. Errors: the file cannot be read, or has no token.
Result<std::string> read_token(const std::string &path);

} // namespace warpwright::runner::net
