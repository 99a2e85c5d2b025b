// Judgement of verdicts by `check`, and its renderings. SARIF is validated against the schema of OASIS
// (2.1.0-rtm.5, as in npm's @microsoft/jest-sarif, without descriptions).
#include "server/cli/check/check_result.h"
#include "support/files.h"

#include <doctest/doctest.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

using namespace warpwright;
using namespace warpwright::cli;
using nlohmann::json;

namespace {

/// A kernel whose changed code is `ratio` times as fast as the base's, with this interval.
CheckedKernel measured(double ratio, double low, double high) {
  CheckedKernel kernel{"src/softmax.cu", "softmax", 14, CheckState::Unknown, "", "", model::Verdict{}, ""};
  kernel.verdict->outcome = model::Outcome::Verified;
  kernel.verdict->speedup = model::Speedup{ratio, low, high, 100, "NVIDIA H200"};
  kernel.verdict->reference_time = model::Time{80'100, 80'000, 80'200, 100};
  kernel.verdict->candidate_time = model::Time{80'100 / ratio, 80'000 / ratio, 80'200 / ratio, 100};
  judge(kernel, 0.02, false);
  return kernel;
}

CheckedKernel ended(model::Outcome outcome, const std::string &message, bool results_may_change = false) {
  CheckedKernel kernel{"a.cu", "k", 1, CheckState::Fine, "", "", model::Verdict{}, ""};
  kernel.verdict->outcome = outcome;
  kernel.verdict->message = message;
  judge(kernel, 0.02, results_may_change);
  return kernel;
}

CheckResult sample() {
  CheckResult result;
  result.version = "0.1.0";
  result.date = "2026-12-01T10:00:00Z";
  result.base = "1a2b3c4d5e6f7a8b9c0d";
  result.revision = "origin/main";
  result.device = "NVIDIA H200";
  result.on_gpu = true;
  CheckedKernel slower = measured(1 / 1.216, 1 / 1.23, 1 / 1.20);
  slower.applied = "6.2x over the original before, now 5.1x";
  CheckedKernel unknown{"src/a b|c.cu", "hist", 3, CheckState::Unknown, "UNKNOWN", "parameter `bins` is new", {}, ""};
  result.kernels = {slower, unknown, measured(2, 1.98, 2.02),
                    ended(model::Outcome::WrongResult, "rows=1000: 3 elements <wrong> & \x01 more")};
  result.diagnostics = {{"src/softmax.cu", 20, 5, "uncoalesced-access", "x[i * n] is strided", "warning", true},
                        {"src/softmax.cu", 21, 5, "double-arithmetic", "2.0 is a double", "information", false}};
  result.failures = {{"src/broken.cu", {"the parser ran out of time", ""}}};
  result.notes = {"the ledger was not read"};
  result.unchanged = 7;
  result.files = 4;
  return result;
}

} // namespace

TEST_CASE("slower and fine need the whole interval; in between is unknown") {
  CHECK(measured(1 / 1.216, 1 / 1.23, 1 / 1.20).label == "SLOWER");
  CHECK(measured(1 / 1.216, 1 / 1.23, 1 / 1.20).state == CheckState::Worse);
  CHECK(measured(1, 0.99, 1.01).label == "SAME");
  CHECK(measured(0.985, 0.981, 0.99).label == "SAME"); // slower, but not beyond the limit
  CHECK(measured(0.985, 0.97, 0.99).state == CheckState::Unknown);
  CHECK(measured(1, 0.9, 1.1).message.contains("contains the limit of 2%"));
  CHECK(measured(2, 1.98, 2.02).label == "FASTER");
  CHECK(times_text(measured(1 / 1.216, 1 / 1.23, 1 / 1.20)) == "80.1 us -> 97.4 us, 1.22x slower [1.20, 1.23]");
  CHECK(times_text(measured(2, 1.98, 2.02)) == "80.1 us -> 40.0 us, 2.00x faster [1.98, 2.02]");
}

TEST_CASE("outcomes without times are worse or unknown, never fine") {
  CHECK(ended(model::Outcome::WrongResult, "m").label == "WRONG RESULT");
  CHECK(ended(model::Outcome::WrongResult, "m").state == CheckState::Worse);
  CHECK(ended(model::Outcome::WrongResult, "m", true).state == CheckState::Unknown);
  CHECK(ended(model::Outcome::Crash, "m", true).state == CheckState::Worse);
  CHECK(ended(model::Outcome::CompileFailed, "m").label == "COMPILE FAILED");
  CHECK(ended(model::Outcome::Unsupported, "inline PTX").state == CheckState::Unknown);
  CHECK(ended(model::Outcome::Unsupported, "the task's reference: crash").message.starts_with("the code of the base"));
  CheckedKernel untimed = ended(model::Outcome::Verified, "verified");
  CHECK(untimed.state == CheckState::Unknown);
}

TEST_CASE("the table tells each kernel, and the summary counts") {
  const std::string table = check_table(sample(), false);
  CAPTURE(table);
  CHECK(table.contains("src/softmax.cu:14 softmax  SLOWER  80.1 us -> 97.4 us, 1.22x slower [1.20, 1.23]  6.2x over the "
                       "original before, now 5.1x\n"));
  CHECK(table.contains("UNKNOWN  parameter `bins` is new\n"));
  CHECK(table.contains("new warning (fails) [uncoalesced-access]"));
  CHECK(table.ends_with("4 kernels and modules changed since 1a2b3c4d5e6f (origin/main): 3 worse, 2 unknown, 1 fine; "
                        "7 unchanged in 4 examined files\n"));
  CHECK(CheckResult{}.state() == CheckState::Fine);
  CHECK(sample().state() == CheckState::Worse);
}

TEST_CASE("SARIF follows its schema; unknowns are notifications, not findings") {
  const json schema_text = json::parse(read_file(WARPWRIGHT_SOURCE_DIR "/tests/data/sarif-2.1.0.json").value());
  valijson::Schema schema;
  valijson::SchemaParser(valijson::SchemaParser::kDraft4)
      .populateSchema(valijson::adapters::NlohmannJsonAdapter(schema_text), schema);
  for (const CheckResult &result : {sample(), CheckResult{.version = "0.1.0"}}) {
    const json sarif = check_sarif(result);
    valijson::Validator validator;
    valijson::ValidationResults errors;
    valijson::adapters::NlohmannJsonAdapter document(sarif);
    const bool is_valid = validator.validate(schema, document, &errors);
    valijson::ValidationResults::Error error;
    while (errors.popError(error))
      MESSAGE(error.context.back() << ": " << error.description);
    CHECK(is_valid);
  }
  json broken = check_sarif(sample());
  broken["runs"][0]["results"][0]["level"] = "terrible";
  valijson::Validator validator;
  valijson::adapters::NlohmannJsonAdapter document(broken);
  CHECK_FALSE(validator.validate(schema, document, nullptr));
  const json run = check_sarif(sample())["runs"][0];
  REQUIRE(run["results"].size() == 4);
  CHECK(run["results"][0]["message"]["text"] ==
        "softmax: 80.1 us -> 97.4 us, 1.22x slower [1.20, 1.23] on NVIDIA H200; 6.2x over the original before, now 5.1x");
  CHECK(run["results"][0]["partialFingerprints"]["kernel/v1"] == "src/softmax.cu:softmax:slower");
  CHECK(run["results"][1]["ruleId"] == "wrong-result");
  const json &notes = run["invocations"][0]["toolExecutionNotifications"];
  REQUIRE(notes.size() == 2);
  CHECK(notes[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/a%20b%7Cc.cu");
}

TEST_CASE("JUnit and Markdown escape what code and paths may hold") {
  const std::string junit = check_junit(sample());
  CAPTURE(junit);
  CHECK(junit.contains("<testsuites tests=\"6\" failures=\"3\" errors=\"0\" skipped=\"2\">"));
  CHECK(junit.contains("3 elements &lt;wrong&gt; &amp;   more"));
  CHECK(junit.contains("<testcase classname=\"src/broken.cu\" name=\"analysis\"><skipped"));
  CHECK(junit.find('\x01') == std::string::npos);
  const std::string markdown = check_markdown(sample());
  CAPTURE(markdown);
  CHECK(markdown.starts_with("<!-- warpwright-check -->\n### Warpwright: something is worse\n"));
  CHECK(markdown.contains("| :x: | src/softmax.cu **softmax** | 80.1 us -\\> 97.4 us, 1.22x slower \\[1.20, 1.23\\] | SLOWER"));
  CHECK(markdown.contains("src/a b\\|c.cu **hist**"));
  CHECK(markdown.contains("parameter \\`bins\\` is new"));
}
