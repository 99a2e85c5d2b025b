// Who may use a remote runner: the tokens of a file, and the check of the first message.
//
// A token is compared in constant time, as a hash, with every token of the file, so that the time of
// a refusal tells nothing. What a client may see later (its jobs and their verdicts) is bound to the
// token it came with. Thread: values, any.
#pragma once

#include "support/error.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace warpwright::runner::net {

/// Of the messages between a client and a runner; both must have the same.
inline constexpr int kProtocolVersion = 1;

class TokenList {
public:
  /// One token a line, "TOKEN" or "NAME TOKEN"; empty lines and those that start with # are skipped.
  /// Errors: a file that cannot be read; no token; one shorter than 16 characters.
  static Result<TokenList> load(const std::string &path);
  static Result<TokenList> parse(const std::string &text, const std::string &path);

  /// The name to log, and under which jobs are kept; empty when no token is like it.
  std::string owner_of(const std::string &token) const;
  /// The same by the token's SHA-256: of a client that showed the token before.
  std::string owner_of_hash(const std::string &hash) const;
  bool has_owner(const std::string &owner) const;
  std::size_t size() const { return entries_.size(); }

private:
  struct Entry {
    std::string owner, hash;
  };
  std::vector<Entry> entries_;
};

/// The first message of a remote client: `authenticate` {token, version}.
/// @return the owner. Errors: another method, no token, a wrong one, another version.
Result<std::string> check_authentication(const TokenList &tokens, const std::string &method,
                                         const nlohmann::json &params);

/// What a client sends first.
nlohmann::json authentication(const std::string &token);

/// The first line of a file. Errors: it cannot be read, or has none.
Result<std::string> read_token(const std::string &path);

} // namespace warpwright::runner::net
