#include "trainer/serve/service.h"

#include "support/hash.h"
#include "support/words.h"

#include <boost/asio/post.hpp>
#include <unistd.h>

namespace warpwright::trainer {
namespace {

constexpr std::size_t kMostEpisodes = 16'384; ///< kept at a time, over all clients
constexpr std::size_t kDraws = 16;            ///< tasks that are tried where none is named
constexpr std::chrono::seconds kSweepEvery{30};

} // namespace

EnvironmentService::EnvironmentService(boost::asio::any_io_executor strand, Place place,
                                       std::size_t threads)
    : strand_(strand), place_(std::move(place)),
      run_(sha256_hex(utc_now() + " " + std::to_string(::getpid())).substr(0, 8)), sweeping_(strand),
      queue_(std::in_place, threads) {
  sweep();
}

EnvironmentService::~EnvironmentService() {
  queue_.reset();
  for (const auto &[key, entry] : episodes_) // the connections that wait end before the loop does
    entry->waiting.clear();
}

ServeSessionPtr EnvironmentService::open_session(const std::string &client) {
  if (*active_ >= std::size_t(place_.config.sessions))
    return nullptr;
  ++*active_;
  return {new ServeSession{client, client + "#" + std::to_string(++made_), ""},
          [active = active_](ServeSession *session) {
            --*active;
            delete session;
          }};
}

ServeSessionPtr EnvironmentService::passing_session(const std::string &client) {
  return std::make_shared<ServeSession>(client, client, "");
}

const TrainingTask *EnvironmentService::drawn_task(const EpisodeRequest &request,
                                                   std::size_t offset) const {
  if (!request.task_id.empty())
    return offset == 0 ? place_.tasks.find(request.task_id) : nullptr;
  const auto &all = place_.tasks.all();
  return offset < kDraws && !all.empty() ? &all[(request.seed.value_or(0) + offset) % all.size()]
                                         : nullptr;
}

void EnvironmentService::reset(const ServeSessionPtr &session, EpisodeRequest request, OnTurn done) {
  if (request.resume)
    return resume(session, request, done);
  if (request.task_id.empty() && !request.seed)
    request.seed = ++made_;
  if (!drawn_task(request, 0))
    return done(fail("there is no task " + request.task_id,
                     "List them: GET /list_environments, POST /warpwright/tasks {\"split\": ..}"));
  const std::string id = request.episode_id.empty() ? run_ + "-" + std::to_string(++made_)
                                                    : request.episode_id;
  if (const auto known = episodes_.find(key_of(*session, id)); known != episodes_.end()) {
    const auto owner = known->second->session.lock();
    if (!known->second->waiting.empty() || (owner && owner != session))
      return done(fail("the episode " + id + " is in use", "Give another episode_id, or resume it"));
  }
  forget(*session);
  const EntryPtr entry = episodes_[key_of(*session, id)] = std::make_shared<Entry>();
  entry->session = session;
  entry->used = std::chrono::steady_clock::now();
  session->episode = id;
  open(session, request, id, entry, done);
}

void EnvironmentService::resume(const ServeSessionPtr &session, const EpisodeRequest &request,
                                const OnTurn &done) {
  const auto found = episodes_.find(key_of(*session, request.episode_id));
  if (found == episodes_.end() || found->second->state.is_null())
    return done(fail("there is no episode " + request.episode_id + " to go on with", "Send reset"));
  const EntryPtr entry = found->second;
  if (session->episode != request.episode_id)
    forget(*session);
  entry->session = session;
  session->episode = request.episode_id;
  done(entry->last);
}

void EnvironmentService::open(const ServeSessionPtr &session, const EpisodeRequest &request,
                              const std::string &id, const EntryPtr &entry, const OnTurn &done) {
  entry->waiting.push_back(done);
  const bool taken = queue_->submit(
      session->key, std::size_t(place_.config.queue), [this, client = session->client, request, id, entry] {
        Result<std::unique_ptr<Episode>> episode = fail("there is no task");
        for (std::size_t i = 0; const TrainingTask *task = drawn_task(request, i); ++i)
          if ((episode = Episode::open(id, client, *task, request, place_)))
            break;
        boost::asio::post(strand_, [this, entry, episode = std::make_shared<decltype(episode)>(std::move(episode))] {
          if (*episode)
            entry->episode = std::move(**episode);
          finish(entry, *episode ? Result<Turn>(entry->episode->last())
                                 : std::unexpected(episode->error()));
        });
      });
  if (!taken)
    finish(entry, fail("too many requests wait", "Send fewer at a time"));
}

void EnvironmentService::step(const ServeSessionPtr &session, Action action, OnTurn done) {
  const auto found = episodes_.find(key_of(*session, session->episode));
  if (found == episodes_.end() || (!found->second->episode && found->second->waiting.empty()))
    return done(fail("there is no episode to step in", "Send reset first"));
  const EntryPtr entry = found->second;
  const bool is_named = !action.request_id.empty();
  if (const auto known = entry->answered.find(action.request_id); is_named && known != entry->answered.end())
    return done(known->second);
  if (!entry->waiting.empty() && is_named && entry->step_id == action.request_id)
    return entry->waiting.push_back(std::move(done));
  if (!entry->waiting.empty())
    return done(fail("another step of this episode is in work", "Wait for its answer"));
  entry->waiting.push_back(std::move(done));
  entry->step_id = action.request_id;
  const bool taken = queue_->submit(
      session->key, std::size_t(place_.config.queue), [this, entry, action = std::move(action)] {
        auto turn = std::make_shared<Result<Turn>>(entry->episode->step(action));
        boost::asio::post(strand_, [this, entry, turn] { finish(entry, *turn); });
      });
  if (!taken)
    finish(entry, fail("too many steps wait", "Send fewer at a time"));
}

void EnvironmentService::finish(const EntryPtr &entry, const Result<Turn> &turn) {
  if (turn && !turn->lost && !entry->step_id.empty())
    entry->answered[entry->step_id] = *turn;
  entry->step_id.clear();
  entry->used = std::chrono::steady_clock::now();
  if (entry->episode) {
    entry->last = entry->episode->last();
    entry->state = entry->episode->state();
  }
  for (const OnTurn &done : std::exchange(entry->waiting, {}))
    done(turn);
}

void EnvironmentService::judge(const ServeSessionPtr &session, EpisodeRequest request,
                               Action action, OnTurn done) {
  request.episode_id.clear();
  request.turns = 1;
  if (!request.seen)
    request.seen.emplace();
  reset(session, request,
        [this, session, action = std::move(action), done = std::move(done)](const Result<Turn> &opened) {
          if (!opened)
            return done(opened);
          step(session, action, [this, session, done](const Result<Turn> &turn) {
            forget(*session);
            done(turn);
          });
        });
}

nlohmann::json EnvironmentService::state(const ServeSession &session) const {
  const auto found = episodes_.find(key_of(session, session.episode));
  return found == episodes_.end() ? nlohmann::json() : found->second->state;
}

void EnvironmentService::forget(const ServeSession &session) {
  const auto found = episodes_.find(key_of(session, session.episode));
  if (session.episode.empty() || found == episodes_.end() || !found->second->waiting.empty())
    return;
  if (const auto owner = found->second->session.lock(); !owner || owner.get() == &session)
    episodes_.erase(found);
}

/// Drops episodes whose sessions are gone for long, and the longest unused ones of too many.
void EnvironmentService::sweep() {
  const auto now = std::chrono::steady_clock::now();
  const auto keep = std::chrono::seconds(
      episodes_.size() > kMostEpisodes ? place_.config.keep_s / 10 : place_.config.keep_s);
  std::erase_if(episodes_, [&](const auto &named) {
    const Entry &entry = *named.second;
    return entry.waiting.empty() && entry.session.expired() && now - entry.used > keep;
  });
  sweeping_.expires_after(kSweepEvery);
  sweeping_.async_wait([this](boost::system::error_code error) {
    if (!error)
      sweep();
  });
}

} // namespace warpwright::trainer
