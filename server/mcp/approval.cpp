#include "server/mcp/approval.h"

#include "support/hash.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <stdexcept>

namespace warpwright::mcp {
namespace {

constexpr char kQuestion[] = "trust", kField[] = "decision";
/// Time in which the user answers.
constexpr long kValidSeconds = 3600;

long now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string random_key() {
  std::string key(32, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char *>(key.data()), static_cast<int>(key.size())) != 1)
    throw std::runtime_error("OpenSSL has no random numbers");
  return key;
}

std::string hmac_hex(const std::string &key, const std::string &text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char *>(text.data()), text.size(), digest.data(), &size);
  return sha256_hex({reinterpret_cast<const char *>(digest.data()), size});
}

Json elicitation(const server::TrustQuestion &question) {
  return {{"mode", "form"},
          {"message", question.text},
          {"requestedSchema",
           {{"type", "object"},
            {"properties",
             {{kField, {{"type", "string"}, {"title", "Decision"}, {"enum", question.answers}}}}},
            {"required", {kField}}}}};
}

/// The chosen answer of an elicitation's result; empty: declined, cancelled, or none of ours.
std::string chosen(const Json &result) {
  if (!result.is_object() || result.value("action", "") != "accept")
    return {};
  const Json content = result.value("content", Json::object());
  const auto found = content.is_object() ? content.find(kField) : content.end();
  return content.is_object() && found != content.end() && found->is_string()
             ? found->get<std::string>()
             : std::string();
}

} // namespace

Approval::Approval(consent::ApprovalStore store, std::string root)
    : store_(std::move(store)), root_(std::move(root)), key_(random_key()) {}

Outcome<bool> Approval::require(const ToolCall &call, const std::string &path,
                                const consent::ProjectFile &file) {
  const std::vector<std::string> folders =
      server::is_too_wide(root_) ? std::vector<std::string>{} : std::vector{root_};
  const consent::Approved approved = TRY(store_.read());
  server::OpenTrust open = server::open_trust(approved, file, path, folders);
  const auto was_declined = [&](const Subject &subject) {
    return declined_.with([&](const auto &declined) { return declined.contains(subject); });
  };
  if (open.folder.empty() && was_declined({"", file.content_hash}))
    open.file = false; // the user ignores the project's file
  if (open.is_settled())
    return open.file_was_approved_meanwhile;
  const Subject subject{open.folder, open.file ? file.content_hash : ""};
  if (was_declined(subject))
    return fail("the user has declined: " + call.tool + " would build and run the code of " +
                    (open.folder.empty() ? path : open.folder),
                "Only the user can approve it: warpwright trust " + root_);
  const std::string answer =
      TRY(answer_of(call, server::trust_question(open, file), subject));
  const server::TrustAnswer given = server::trust_answer(open, answer);
  if (open.file && !given.file)
    declined_.with([&](auto &declined) { declined.insert({"", file.content_hash}); });
  if (given.folder || given.file)
    TRY(server::keep_trust(store_, given.folder ? open.folder : "", given.file ? &file : nullptr));
  if (open.folder.empty() || given.folder)
    return given.file;
  declined_.with([&](auto &declined) { declined.insert(subject); });
  return fail("the user declined", "Do not ask again; warpwright trust " + root_ + " changes it");
}

Outcome<std::string> Approval::answer_of(const ToolCall &call,
                                         const server::TrustQuestion &question,
                                         const Subject &subject) {
  using Way = UserQuestions::Way;
  if (call.user.way == Way::None)
    return fail("the user has not approved that the code here is built and run",
                "Ask the user to run in a terminal: warpwright trust " + root_);
  if (call.user.way == Way::Request)
    return chosen(TRY(call.user.ask(elicitation(question))));
  if (call.user.responses.is_object() && call.user.responses.contains(kQuestion)) {
    if (!is_own_state(call, subject))
      return fail("the answer belongs to another question, or is too old",
                  "Call the tool again without it");
    return chosen(call.user.responses[kQuestion]);
  }
  return std::unexpected(InputRequired{
      {{kQuestion, {{"method", "elicitation/create"}, {"params", elicitation(question)}}}},
      signed_state(call, subject, now_s() + kValidSeconds)});
}

/// "EXPIRY.MAC" over the tool, its arguments and what is asked.
std::string Approval::signed_state(const ToolCall &call, const Subject &subject,
                                   long expires_s) const {
  const Json content{call.tool, call.arguments, subject.first, subject.second, expires_s};
  return std::to_string(expires_s) + "." +
         hmac_hex(key_, content.dump(-1, ' ', false, Json::error_handler_t::replace));
}

bool Approval::is_own_state(const ToolCall &call, const Subject &subject) const {
  const std::string &state = call.user.state;
  const long expires_s = std::strtol(state.c_str(), nullptr, 10);
  const std::string expected = signed_state(call, subject, expires_s);
  return expires_s >= now_s() && state.size() == expected.size() &&
         CRYPTO_memcmp(state.data(), expected.data(), state.size()) == 0;
}

} // namespace warpwright::mcp
