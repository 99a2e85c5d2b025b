// Records on disk: what is damaged, of another version or of another environment is as good as none.
#include "regions/store.h"

#include <doctest/doctest.h>

#include <fstream>

using warpwright::regions::Store;
using Kind = Store::Kind;
namespace fs = std::filesystem;

namespace {

const std::string kKey(64, 'a');

struct StoreFolder {
  fs::path path = fs::temp_directory_path() / ("warpwright-store-" + std::to_string(getpid()));
  StoreFolder() { fs::remove_all(path); }
  ~StoreFolder() { fs::remove_all(path); }
};

} // namespace

TEST_CASE("A record is read back in its own environment alone") {
  const StoreFolder folder;
  const Store store(folder.path, {{"device", "a"}}), other(folder.path, {{"device", "b"}});
  CHECK(!store.read(Kind::Plan, kKey));
  REQUIRE(store.write(Kind::Plan, kKey, {{"plan", "x"}}));
  CHECK(store.read(Kind::Plan, kKey)->at("plan") == "x");
  CHECK(!other.read(Kind::Plan, kKey));
  CHECK(Store::at(store.folder()).keys(Kind::Plan) == std::vector{kKey});
  store.remove(Kind::Plan, kKey);
  CHECK(!store.read(Kind::Plan, kKey));
}

TEST_CASE("A damaged record, and one of another format, are none") {
  const StoreFolder folder;
  const Store store(folder.path, {});
  REQUIRE(store.write(Kind::Plan, kKey, {{"plan", "x"}}));
  const fs::path file = store.folder() / "plans" / (kKey + ".json");
  std::ofstream(file) << "{\"format\": 1, \"plan\"";
  CHECK(!store.read(Kind::Plan, kKey));
  std::ofstream(file) << "{\"format\": 999}";
  CHECK(!store.read(Kind::Plan, kKey));
}

TEST_CASE("A key that is no hash is refused, so that no file outside is written") {
  const StoreFolder folder;
  CHECK(!Store(folder.path, {}).write(Kind::Plan, "../../x", {}));
}
