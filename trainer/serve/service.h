// The environment below its protocols: sessions, episodes, and the queue of their steps.
//
// An episode outlives its connection for a while, so that a client that lost its line can go on;
// a step that is sent again under the same request_id is made once. Steps never overlap within an
// episode. Thread: the strand; callbacks are called on it.
#pragma once

#include "trainer/serve/episode.h"
#include "trainer/serve/fair_queue.h"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

namespace warpwright::trainer {

/// A connection of a client with at most one episode.
struct ServeSession {
  std::string client;  ///< owner of its token
  std::string key;     ///< of this session, for the queue
  std::string episode; ///< empty: none yet
};
using ServeSessionPtr = std::shared_ptr<ServeSession>;

class EnvironmentService {
public:
  using OnTurn = std::function<void(Result<Turn>)>;

  /// @param place its parts outlive this @param threads steps at a time
  EnvironmentService(boost::asio::any_io_executor strand, Place place, std::size_t threads);
  /// Waits for the steps in work; request `place.stop` first.
  ~EnvironmentService();

  const Place &place() const { return place_; }
  std::size_t active_sessions() const { return *active_; }

  /// Null: all places are taken.
  ServeSessionPtr open_session(const std::string &client);
  /// A session without a place, for requests that stand alone.
  ServeSessionPtr passing_session(const std::string &client);

  /// Begins an episode, or goes on with one. Errors: an unknown task or episode; one that another session has; a task
  /// that cannot be opened.
  void reset(const ServeSessionPtr &session, EpisodeRequest request, OnTurn done);
  /// Errors: no such episode; another step of it is in work; too many steps wait; the episode is done.
  void step(const ServeSessionPtr &session, Action action, OnTurn done);
  /// Judges one answer in an episode of its own, of one turn. @param request with `task_id` and `seen`
  /// Errors: as reset() and step().
  void judge(const ServeSessionPtr &session, EpisodeRequest request, Action action, OnTurn done);
  /// Null: the session has no episode.
  nlohmann::json state(const ServeSession &session) const;
  /// Ends the session's episode, unless a step of it is in work.
  void forget(const ServeSession &session);

private:
  struct Entry {
    std::unique_ptr<Episode> episode; ///< null: not opened; while a step is in work only the queue's thread uses it
    Turn last;                        ///< of the episode, as of its last step
    nlohmann::json state;             ///< likewise
    std::weak_ptr<ServeSession> session;
    std::map<std::string, Turn> answered; ///< by request_id
    std::string step_id;                  ///< request_id of the step in work
    std::vector<OnTurn> waiting;          ///< for the step in work; empty: none is
    std::chrono::steady_clock::time_point used;
  };
  using EntryPtr = std::shared_ptr<Entry>;

  const TrainingTask *drawn_task(const EpisodeRequest &request, std::size_t offset) const; ///< Thread: any
  void resume(const ServeSessionPtr &session, const EpisodeRequest &request, const OnTurn &done);
  void open(const ServeSessionPtr &session, const EpisodeRequest &request, const std::string &id,
            const EntryPtr &entry, const OnTurn &done);
  void finish(const EntryPtr &entry, const Result<Turn> &turn);
  std::string key_of(const ServeSession &session, const std::string &episode) const {
    return session.client + "\n" + episode;
  }
  void sweep();

  boost::asio::any_io_executor strand_;
  Place place_;
  std::map<std::string, EntryPtr> episodes_; ///< by key_of()
  std::shared_ptr<std::size_t> active_ = std::make_shared<std::size_t>(0); ///< sessions with a place
  std::uint64_t made_ = 0;                   ///< episodes and sessions, for their names
  std::string run_;                          ///< makes names unique over runs of the service
  boost::asio::steady_timer sweeping_;
  std::optional<FairQueue> queue_; ///< absent: the service ends
};

} // namespace warpwright::trainer
