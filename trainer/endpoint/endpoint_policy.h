// Policy that asks a language model behind an endpoint: sends the contrastive prompt and parses the answer strictly.
//
// An unusable answer becomes a proposal with a reason and no plan; the reason goes into the next prompt of the same
// task. Answers are counted by kind. Permanent failures of the endpoint (budget, key, no such model) are errors that
// end the run. Thread: one.
#pragma once

#include "trainer/endpoint/answer.h"
#include "trainer/endpoint/chat.h"
#include "trainer/endpoint/prompt.h"

#include <map>

namespace warpwright::trainer {

/// Counts of answers by kind, and of refusals by reason.
struct AnswerCounts {
  std::map<AnswerKind, int> kinds;
  std::map<std::string, int> reasons; ///< key: the first words of a reason
  int answers() const;
  int refused() const;
};

class EndpointPolicy final : public Policy {
public:
  /// @param log gets the summary in the destructor; may be empty
  /// @param as_object answers are JSON that fits answer_schema()
  EndpointPolicy(std::unique_ptr<ChatClient> client, std::string model, ChatClient::Log log = {},
                 bool as_object = false);
  ~EndpointPolicy() override;

  std::string_view name() const override { return name_; } ///< "endpoint"
  Result<Proposal> propose(const Context &context, Environment &environment) override;

  nlohmann::json account() const override;
  const AnswerCounts &counts() const { return counts_; }
  const ChatTotals &totals() const { return client_->totals(); }
  /// "12 answers of MODEL: 9 usable, 2 malformed, 1 host_code; 34120 tokens; 3 retries, 0 times rate limited".
  std::string summary() const;
  /// Stop source of all requests, the current one included.
  std::stop_source &stop() { return stop_; }

private:
  std::unique_ptr<ChatClient> client_;
  std::string model_, name_ = "endpoint";
  ChatClient::Log log_;
  bool as_object_ = false;
  AnswerCounts counts_;
  std::map<std::string, std::string> last_refusal_; ///< by task
  std::stop_source stop_;
};

/// Creates the policy with its transport, key and limits. Errors: no key; an unreadable file.
Result<std::unique_ptr<EndpointPolicy>>
make_endpoint_policy(const EndpointConfig &config, std::uint64_t seed, ChatClient::Log log = {});

} // namespace warpwright::trainer
