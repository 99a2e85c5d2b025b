// Who has a shared device when, without workers.
#include "runner/service/device_turn.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

namespace warpwright::runner {
namespace {

/// Workers named by letters, and what happened to them: "a" got its turn, "-a" was told to make room.
struct Table {
  explicit Table(const std::string &workers) : names(workers) {
    for (const char &name : names)
      turn.join(&name, [this, name] { happened += std::string("-") + name; });
  }
  const char *owner(char name) const { return &names[names.find(name)]; }
  void ask(char name, bool alone = false) {
    turn.ask(owner(name), alone, [this, name] { happened += name; });
  }
  void give(char name) { turn.give(owner(name)); }
  void leave(char name) { turn.leave(owner(name)); }

  std::string names, happened;
  DeviceTurn turn;
};

TEST_CASE("one at a time has the device, in the order of asking") {
  Table table("abc");
  table.ask('b');
  table.ask('a');
  table.ask('c');
  CHECK(table.happened == "b");
  table.leave('b');
  CHECK(table.happened == "ba");
  table.leave('a');
  CHECK(table.happened == "bac");
  CHECK(table.turn.is_of(table.owner('c')));
}

TEST_CASE("who gives its turn away in the midst of its work asks for it again like others") {
  Table table("ab");
  table.ask('a');
  table.ask('b');
  table.give('a');
  table.ask('a');
  CHECK(table.happened == "ab");
  table.leave('b');
  CHECK(table.happened == "aba");
}

TEST_CASE("who leaves while it waits is passed over") {
  Table table("abc");
  table.ask('a');
  table.ask('b');
  table.ask('c');
  table.leave('b');
  table.leave('a');
  CHECK(table.happened == "ac");
}

TEST_CASE("who wants the device alone waits for others' work, and none begins before it is done") {
  Table table("abcd");
  table.ask('a');
  table.ask('b', true);
  table.ask('c');
  table.give('a'); // its work goes on: it may have the device again
  CHECK(table.happened == "a");
  table.ask('a');
  CHECK(table.happened == "aa");
  table.leave('a');
  CHECK(table.happened == "aa-a-c-db");
  table.give('b');
  table.ask('d');
  CHECK(table.happened == "aa-a-c-db");
  table.ask('b');
  CHECK(table.happened == "aa-a-c-dbb");
  table.leave('b');
  CHECK(table.happened == "aa-a-c-dbbc");
  table.leave('c');
  CHECK(table.happened == "aa-a-c-dbbcd");
}

TEST_CASE("a worker that is gone keeps nobody waiting") {
  Table table("ab");
  table.ask('a');
  table.ask('b', true);
  table.turn.part(table.owner('a'));
  CHECK(table.happened == "ab");
}

} // namespace
} // namespace warpwright::runner
