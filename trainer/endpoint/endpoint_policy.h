// Policy that asks a language model behind an endpoint: sends the contrastive prompt and parses the
// answer strictly.
//
// A task is a conversation: the first message shows the task and measured versions, and each later
// one has the verdict on the answer before it, or the reason why that could not be used. In each
// turn several answers may be asked for; the conversation goes on from the best. After `turns`
// turns, or if the caller does not tell the verdict, a new one begins. Answers are counted by kind.
// Permanent failures of the endpoint (budget, key, no such model) are errors that end the run.
// Thread: one.
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
  explicit EndpointPolicy(std::unique_ptr<ChatClient> client, ChatClient::Log log = {});
  ~EndpointPolicy() override;

  std::string_view name() const override { return name_; } ///< "endpoint"
  Result<Proposal> propose(const Context &context, Environment &environment) override;

  nlohmann::json account() const override;
  const AnswerCounts &counts() const { return counts_; }
  const ChatTotals &totals() const { return client_->totals(); }
  /// "12 answers of MODEL: 9 usable, 2 malformed, 1 host_code; 34120 tokens; 3 retries, 0 times rate limited".
  std::string summary() const;

private:
  /// One of the answers of a turn.
  struct Draw {
    std::string text;
    std::string refused; ///< why it is unusable
    Moves moves;         ///< with `answer`: how the caller names it in Context::tried
    std::string answer;
  };
  struct Talk {
    std::vector<ChatMessage> messages;
    int turn = 0;
    std::vector<Draw> draws; ///< of this turn
    int versions = 0;        ///< in the first message
    std::string base;        ///< PlanView::id there; empty: it showed no plan
  };
  enum class Next { Ask, Wait, Begin };

  Next go_on(Talk &talk, const Context &context) const;
  Result<void> begin(Talk &talk, const model::Task &task, const Context &context,
                     Environment &environment) const;
  Result<ChatAnswer> ask(const Talk &talk, const Context &context);
  ParsedAnswer counted(ParsedAnswer parsed, const ChatAnswer &answer);

  std::unique_ptr<ChatClient> client_;
  std::string name_ = "endpoint";
  ChatClient::Log log_;
  AnswerCounts counts_;
  std::map<std::string, Talk> talks_; ///< by task
};

/// Creates the policy with its transport, key and limits. Errors: no key; an unreadable file.
Result<std::unique_ptr<EndpointPolicy>>
make_endpoint_policy(const EndpointConfig &config, std::uint64_t seed, ChatClient::Log log = {});

} // namespace warpwright::trainer
