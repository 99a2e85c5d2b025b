// One episode: a task, a prompt, and up to `turns` answers to it with their verdicts.
//
// Thread: any, one call at a time; calls block.
#pragma once

#include "trainer/endpoint/chat.h"
#include "trainer/serve/judging.h"

namespace warpwright::trainer {

/// Form of the answers that a prompt asks for.
enum class AnswerForm {
  Text,  ///< analysis, design, and code with its plan
  Plan,  ///< the same prompt; the client sends the plan itself
  Moves, ///< the moves of the search, which keep to legal edits
};
std::optional<AnswerForm> answer_form_named(std::string_view name);

/// Parameters of `reset`.
struct EpisodeRequest {
  std::string task_id;    ///< empty: drawn by the seed
  std::string episode_id; ///< empty: a new one
  std::optional<std::uint64_t> seed;
  std::optional<int> turns;
  AnswerForm answers = AnswerForm::Text;
  bool resume = false; ///< goes on with the episode of this id, after a lost connection
  /// An answer without an episode of its own: the prompt that the model saw, or an empty list if it is not known. Its
  /// exemplars are not known either.
  std::optional<std::vector<ChatMessage>> seen = std::nullopt;
};

/// Errors: a member of another type or out of range, by its name. Unknown members are left alone,
/// as OpenEnv does.
Result<EpisodeRequest> episode_request_from(const nlohmann::json &data);

/// Result of `reset` and `step`.
struct Turn {
  nlohmann::json observation;
  std::optional<double> reward; ///< absent: nothing was measured
  bool done = false;
  bool measured = false;
  std::optional<Error> lost; ///< nothing was measured by the environment's fault
};

class Episode {
public:
  /// Opens the task. Errors: the task cannot be inferred or traced.
  static Result<std::unique_ptr<Episode>> open(std::string id, std::string client,
                                               const TrainingTask &task,
                                               const EpisodeRequest &request, const Place &place);

  const std::string &id() const { return id_; }
  const std::string &task() const { return task_.id; }
  bool is_done() const { return turn_ >= turns_; }
  int turn() const { return turn_; }
  /// The last turn's result again; at first the one of `reset`.
  const Turn &last() const { return last_; }
  /// Judges an answer. An answer that the environment lost does not count as a turn.
  /// Errors: the episode is done.
  Result<Turn> step(const Action &action);
  /// OpenEnv's state: {"episode_id", "step_count", "task_id", "turns", "best", "done"}.
  nlohmann::json state() const;

private:
  Episode(std::string id, std::string client, const TrainingTask &task, const Place &place)
      : id_(std::move(id)), client_(std::move(client)), task_(task), place_(place) {}
  Result<void> make_prompt(const EpisodeRequest &request);
  nlohmann::json frame() const;
  void remember(const Judged &judged);
  std::optional<double> reward_of(const Judged &judged) const;
  nlohmann::json hashes_of(const Judged &judged) const;
  void write(const Action &action, const Judged &judged, const Turn &turn,
             const std::vector<ChatMessage> &prompt);

  std::string id_, client_;
  TrainingTask task_;
  Place place_;
  TaskView view_;
  model::Task definition_;
  AnswerForm form_ = AnswerForm::Text;
  std::vector<Exemplar> shown_;
  Moves legal_; ///< only in episodes of moves
  std::vector<ChatMessage> messages_;
  int turn_ = 0, turns_ = 1;
  double best_ = 1; ///< of the task, before the next answer
  Turn last_;
};

/// [{"role", "content"}, ..]
nlohmann::json to_json(const std::vector<ChatMessage> &messages);

} // namespace warpwright::trainer
