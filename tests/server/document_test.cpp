// Positions, URIs and incremental changes, against references that are written the plain way.
#include "server/documents.h"
#include "server/protocol/uri.h"
#include "server/settings.h"
#include "server/source_hash.h"
#include "tests/server/meta_model.h"

#include <doctest/doctest.h>
#include <random>

using namespace warpwright;
using namespace warpwright::server;
using protocol::Position;
using protocol::PositionEncoding;
using protocol::PositionMap;

TEST_CASE("columns count UTF-16 units, or bytes where the client offered UTF-8") {
  const std::string text = "aé😀b\r\nx\ry\n";
  const PositionMap utf16(text, PositionEncoding::Utf16), utf8(text, PositionEncoding::Utf8);
  CHECK(utf16.position(text.find('b')) == Position{0, 4});
  CHECK(utf8.position(text.find('b')) == Position{0, 7});
  CHECK(utf16.offset({0, 4}) == text.find('b'));
  CHECK(utf16.offset({0, 3}) == text.find("😀")); // inside a surrogate pair: its start
  CHECK(utf16.offset({0, 99}) == text.find('\r'));
  CHECK(utf16.offset({1, 0}) == text.find('x'));
  CHECK(utf16.offset({2, 0}) == text.find('y'));
  CHECK(utf16.offset({3, 0}) == text.size());
  CHECK(utf16.offset({9, 9}) == text.size());
  CHECK(utf16.bytes({{1, 0}, {0, 1}}) == Range{1, text.find('x')});
}

namespace {

/// The document as a list of UTF-32 lines: edits by plain splicing, columns by counting.
struct ReferenceDocument {
  std::u32string text;

  std::size_t index(Position position) const {
    std::size_t at = 0;
    for (std::uint32_t line = 0; line < position.line; ++line)
      at = text.find(U'\n', at) + 1;
    for (std::uint32_t units = 0; units < position.character; ++at)
      units += text[at] > 0xFFFF ? 2 : 1;
    return at;
  }
  Position position(std::size_t index) const {
    Position result;
    for (std::size_t at = 0; at < index; ++at)
      if (text[at] == U'\n')
        result = {result.line + 1, 0};
      else
        result.character += text[at] > 0xFFFF ? 2 : 1;
    return result;
  }
  std::string utf8() const {
    std::string out;
    for (const char32_t c : text) {
      if (c < 0x80) {
        out += static_cast<char>(c);
      } else if (c < 0x800) {
        out += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
      } else if (c < 0x10000) {
        out += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
                static_cast<char>(0x80 | (c & 63))};
      } else {
        out += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
                static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
      }
    }
    return out;
  }
};

} // namespace

TEST_CASE("a thousand random incremental edits leave the reference text") {
  std::mt19937 random(7);
  const std::u32string alphabet = U"ab {};\n\n<é€😀𝛼";
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  ReferenceDocument reference;
  Documents documents;
  documents.open({"file:///r.cu", 0, ""});
  for (int version = 1; version <= 1000; ++version) {
    protocol::DidChangeParams params{{"file:///r.cu", version}, {}};
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t begin = below(reference.text.size() + 1);
      const std::size_t end = std::min(reference.text.size(), begin + below(12));
      ReferenceDocument inserted;
      for (std::size_t count = below(14); count > 0; --count)
        inserted.text += alphabet[below(alphabet.size())];
      params.content_changes.push_back(
          {protocol::Range{reference.position(begin), reference.position(end)}, inserted.utf8()});
      REQUIRE(reference.index(reference.position(begin)) == begin);
      reference.text.replace(begin, end - begin, inserted.text);
    }
    const Document *document = documents.change(params);
    REQUIRE(document);
    REQUIRE(*document->text == reference.utf8());
    REQUIRE(document->version == version);
  }
  CHECK(reference.text.size() > 100);
}

TEST_CASE("Python without its ending is known by what the client says") {
  Documents documents;
  CHECK(documents.open({"file:///p/script", 1, "", "python"}).path == "/p/script.py");
  CHECK(documents.open({"file:///p/a.py", 1, "", "python"}).path == "/p/a.py");
  CHECK(documents.open({"file:///p/a.cu", 1, "", "cuda"}).path == "/p/a.cu");
}

TEST_CASE("a change without a range replaces the text, and one of a closed document is dropped") {
  Documents documents;
  documents.open({"file:///a.cu", 1, "old"});
  CHECK(*documents.change({{"file:///a.cu", 2}, {{std::nullopt, "new"}}})->text == "new");
  documents.close("file:///a.cu");
  CHECK(documents.change({{"file:///a.cu", 3}, {{std::nullopt, "x"}}}) == nullptr);
}

TEST_CASE("file URIs decode to paths and back, other schemes stay as they are") {
  CHECK(protocol::path_of("file:///a%20b/c%2B%2b.cu") == "/a b/c++.cu");
  CHECK(protocol::path_of("file://host/x") == "/x");
  CHECK(protocol::path_of("untitled:Untitled-1") == "untitled:Untitled-1");
  CHECK(protocol::path_of("file:///100%") == "/100%");
  for (const std::string path : {"/a b/ü.cu", "/100%/x#y?.cu"})
    CHECK(protocol::path_of(protocol::uri_of(path)) == path);
}

TEST_CASE("settings take what fits and name what does not") {
  Settings settings;
  CHECK(update_settings(settings, nullptr).empty());
  CHECK(update_settings(settings, {{"runner", "unix:/r"}, {"budget", "500ms"}, {"maxVariants", 5}})
            .empty());
  CHECK(settings.runner == "unix:/r");
  CHECK(settings.budget == std::chrono::milliseconds(500));
  const auto problems = update_settings(settings, {{"budget", "0s"},
                                                   {"maxVariants", "many"},
                                                   {"hover", 1},
                                                   {"disabledRules", {1}},
                                                   {"inlayHints", false}});
  CHECK(problems.size() == 4);
  CHECK(settings.budget == std::chrono::milliseconds(500));
  CHECK_FALSE(settings.inlay_hints);
  CHECK(update_settings(settings, 3).size() == 1);
}

TEST_CASE("the hash of a source ignores where its lines came from") {
  CHECK(source_hash("#line 3 \"a.cu\"\nint x;\n") == source_hash("#line 9 \"a.cu\"\nint x;"
                                                                 "\n"));
  CHECK(source_hash("int x;\n") != source_hash("int y;\n"));
  CHECK(source_hash("") != source_hash("\n"));
}

TEST_CASE("the meta model rejects what the specification does not know") {
  const auto model = tests::MetaModel::load();
  if (!model) {
    MESSAGE("skipped: no metaModel.json");
    return;
  }
  using Json = nlohmann::json;
  const Json range = {{"start", {{"line", 0}, {"character", 0}}},
                      {"end", {{"line", 0}, {"character", 1}}}};
  CHECK(model->check_type("Range", range).empty());
  CHECK_FALSE(model->check_type("Range", {{"start", range["start"]}}).empty());
  CHECK_FALSE(model->check_type("Position", {{"line", -1}, {"character", 0}}).empty());
  CHECK(model->check_result("textDocument/hover", nullptr).empty());
  CHECK(model
            ->check_result("textDocument/hover",
                           {{"contents", {{"kind", "markdown"}, {"value", "x"}}}})
            .empty());
  CHECK_FALSE(
      model->check_result("textDocument/hover", {{"contents", {{"kind", "html"}, {"value", "x"}}}})
          .empty());
  CHECK_FALSE(
      model->check_result("textDocument/codeLens", Json::array({{{"range", range}, {"colour", 1}}}))
          .empty());
  CHECK_FALSE(model->check_notification("textDocument/didOpen", Json::object()).empty());
  CHECK_FALSE(
      model->check_notification("textDocument/publishDiagnostics", {{"uri", "file:///x"}}).empty());
  CHECK_FALSE(
      model->check_notification("$/progress", {{"token", 1}, {"value", {{"kind", "begin"}}}})
          .empty());
  CHECK(model->check_request("workspace/codeLens/refresh", nullptr).empty());
  CHECK_FALSE(model->check_request("workspace/codeLens/refresh", {{"x", 1}}).empty());
  CHECK_FALSE(model->check_request("workspace/nothing", nullptr).empty());
}
