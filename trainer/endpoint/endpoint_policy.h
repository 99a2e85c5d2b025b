// A language model behind an endpoint as a policy: the contrastive prompt out, its answer read strictly, refusals carried into the next
// prompt of the same task, everything counted.
//
// What cannot be used is a proposal with a reason and no plan. The endpoint's failure for good (budget, key, no such model) is an error: the
// run cannot go on with it. Thread: one.
#pragma once

#include "trainer/endpoint/answer.h"
#include "trainer/endpoint/chat.h"
#include "trainer/endpoint/prompt.h"

#include <map>

namespace warpwright::trainer {

/// Answers by kind, and why those that were refused were.
struct AnswerCounts {
  std::map<AnswerKind, int> kinds;
  std::map<std::string, int> reasons; ///< of refusals: the first words, how often
  int answers() const;
  int refused() const;
};

class EndpointPolicy final : public Policy {
public:
  /// @param log gets the summary at the end; may be empty
  EndpointPolicy(std::unique_ptr<ChatClient> client, std::string model, ChatClient::Log log = {});
  ~EndpointPolicy() override;

  std::string_view name() const override { return name_; } ///< "endpoint"
  Result<Proposal> propose(const Context &context, Environment &environment) override;

  nlohmann::json account() const override;
  const AnswerCounts &counts() const { return counts_; }
  const ChatTotals &totals() const { return client_->totals(); }
  /// "12 answers of MODEL: 9 usable, 2 malformed, 1 host_code; 34,120 tokens; 3 retries".
  std::string summary() const;
  /// Stops a request that is under way.
  std::stop_source &stop() { return stop_; }

private:
  std::unique_ptr<ChatClient> client_;
  std::string model_, name_ = "endpoint";
  ChatClient::Log log_;
  AnswerCounts counts_;
  std::map<std::string, std::string> last_refusal_; ///< by task
  std::stop_source stop_;
};

/// Wires transport, key and limits together. Errors: no key, a file that cannot be read.
Result<std::unique_ptr<EndpointPolicy>>
make_endpoint_policy(const EndpointConfig &config, std::uint64_t seed, ChatClient::Log log = {});

} // namespace warpwright::trainer
