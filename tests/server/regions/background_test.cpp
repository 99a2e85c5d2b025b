// The background search of a store's folder: which jobs it takes, and when a GPU counts as idle. Programs are tested in tests/torch/backend.
#include "server/regions/background.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <unistd.h>

using namespace warpwright;
using namespace std::chrono_literals;
using nlohmann::json;
using server::IdleTime;
using Kind = regions::Store::Kind;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("warpwright-background-" + std::to_string(getpid()));
  regions::Store store{path, json()};
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }

  void queue(char name, json job) const { REQUIRE(store.write(Kind::Job, key(name), std::move(job))); }
  static std::string key(char name) { return std::string(64, name); }
};

const json kJob = {{"program", json::object()}, {"profile", json::array()}};
const json kSearched = {{"program", json::object()}, {"profile", json::array()}, {"searched", json::object()}};

} // namespace

TEST_CASE("A GPU is idle once two seconds went by without kernels") {
  const IdleTime::Clock::time_point start{};
  IdleTime idle;
  CHECK(!idle.note(0, start));
  CHECK(!idle.note(0, start + 1900ms));
  CHECK(idle.note(0, start + 2s));
  CHECK(!idle.note(0.01, start + 3s));
  CHECK(!idle.note(0, start + 4s));
  CHECK(!idle.note(0, start + 5900ms));
  CHECK(idle.note(0, start + 6s));
}

TEST_CASE("A job waits if nobody searched it and a call told what its inputs are like") {
  const Folder folder;
  folder.queue('a', kJob);
  folder.queue('b', kSearched);
  folder.queue('c', {{"program", json::object()}, {"profile", nullptr}});
  folder.queue('d', kJob);
  REQUIRE(folder.store.write(Kind::Plan, Folder::key('d'), {{"plan", json::object()}}));
  CHECK(server::waiting_jobs(folder.store) == std::vector{Folder::key('a')});
}

TEST_CASE("A background search takes what is queued meanwhile, and begins no job twice") {
  const Folder folder;
  folder.queue('a', kJob);
  auto lock = server::lock_of(folder.store.folder());
  REQUIRE(lock);
  REQUIRE(*lock);
  std::string begun;
  const auto search = [&](const std::string &key) {
    begun += key[0];
    CHECK(!*server::lock_of(folder.store.folder())); // held
    if (key[0] == 'a')                               // it stays waiting, as one that others disturbed
      folder.queue('b', kJob);
    else
      folder.queue('b', kSearched);
  };
  CHECK(server::search_waiting(folder.store, "", std::move(**lock), search, {}));
  CHECK(begun == "ab");
  CHECK(*server::lock_of(folder.store.folder())); // free again
}

TEST_CASE("A background search that shall stop begins nothing") {
  const Folder folder;
  folder.queue('a', kJob);
  std::stop_source stop;
  stop.request_stop();
  const auto search = [](const std::string &) { FAIL("it was begun"); };
  CHECK(server::search_waiting(folder.store, "", std::move(**server::lock_of(folder.store.folder())), search, stop.get_token()));
}
