// Parsing and comparison of tokens.
#include "runner/net/token.h"
#include "support/hash.h"

#include <algorithm>
#include <fstream>
#include <openssl/crypto.h>
#include <sstream>

namespace warpwright::runner::net {
namespace {

constexpr std::size_t kMinTokenLength = 16;
constexpr const char *kMakeOne = "Make one: openssl rand -hex 32 > ";

} // namespace

Result<TokenList> TokenList::load(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf()))
    return fail("cannot read the token file " + path, kMakeOne + path);
  return parse(text.str(), path);
}

Result<TokenList> TokenList::parse(const std::string &text, const std::string &path) {
  TokenList list;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first.empty() || first.starts_with('#'))
      continue;
    const std::string &token = second.empty() ? first : second;
    if (token.size() < kMinTokenLength)
      return fail(path + ", line " + std::to_string(number) + ": the token is shorter than " +
                      std::to_string(kMinTokenLength) + " characters",
                  kMakeOne + path);
    const std::string hash = sha256_hex(token);
    list.entries_.push_back({second.empty() ? "token " + hash.substr(0, 8) : first, hash});
  }
  if (list.entries_.empty())
    return fail("the token file " + path + " holds no token", kMakeOne + path);
  return list;
}

std::string TokenList::owner_of(const std::string &token) const {
  return owner_of_hash(sha256_hex(token));
}

std::string TokenList::owner_of_hash(const std::string &hash) const {
  std::string owner;
  // No early exit, so that the time does not depend on the token.
  for (const Entry &entry : entries_)
    if (hash.size() == entry.hash.size() &&
        CRYPTO_memcmp(hash.data(), entry.hash.data(), hash.size()) == 0)
      owner = entry.owner;
  return owner;
}

bool TokenList::has_owner(const std::string &owner) const {
  return std::ranges::find(entries_, owner, &Entry::owner) != entries_.end();
}

Result<std::string> check_authentication(const TokenList &tokens, const std::string &method,
                                         const nlohmann::json &params) {
  if (method != "authenticate")
    return fail("not authenticated: the first message must be authenticate {token, version}, not " +
                method.substr(0, 40));
  const auto token = params.is_object() ? params.find("token") : params.end();
  const auto version = params.is_object() ? params.find("version") : params.end();
  if (token == params.end() || !token->is_string() || version == params.end() ||
      !version->is_number_integer())
    return fail("not authenticated: authenticate needs {token: text, version: integer}");
  const std::string owner = tokens.owner_of(token->get<std::string>());
  if (owner.empty())
    return fail("wrong token");
  if (*version != kProtocolVersion)
    return fail("the client speaks version " + version->dump() + " of the protocol, this runner " +
                    std::to_string(kProtocolVersion),
                "Install the same release on both machines");
  return owner;
}

nlohmann::json authentication(const std::string &token) {
  return {{"token", token}, {"version", kProtocolVersion}};
}

Result<std::string> read_token(const std::string &path) {
  std::ifstream file(path);
  std::string first, second;
  for (std::string line; second.empty() && std::getline(file, line);) {
    std::istringstream words(line);
    if (words >> first && !first.starts_with('#'))
      second = (words >> second) ? second : first;
  }
  if (second.empty())
    return fail("the token file " + path + " cannot be read, or is empty",
                "Copy the runner's token file to this machine");
  return second;
}

} // namespace warpwright::runner::net
