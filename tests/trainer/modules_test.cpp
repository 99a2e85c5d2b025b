// Torch modules in a live environment: traced once, and states by their op graph; and what records and prompts say of them.
#include "generator/ops/text.h"
#include "generator/search/graph_env.h"
#include "support/model/json.h"
#include "tests/generator/plan_task.h"
#include "tests/trainer/temporary_folder.h"
#include "trainer/environment/module_states.h"
#include "trainer/environment/recorded.h"
#include "trainer/records/record_book.h"
#include "trainer/tokens/graph_words.h"
#include "trainer/policy/prompt.h"

#include <algorithm>
#include <doctest/doctest.h>

using namespace warpwright;
using namespace warpwright::trainer;

namespace {

constexpr const char *kGraph = "%x: f32[64,96] = input\n"
                               "%bias: f32[96] = parameter {torch_name=\"bias\"}\n"
                               "%sum: f32[64,96] = add(%x, %bias)\n"
                               "%y: f32[64,96] = softmax(%sum) {dim=1}\n"
                               "return %y\n";

/// `warpwright env`, in this process.
class EnvHere final : public EnvLine {
public:
  Result<nlohmann::json> call(const std::string &method, const nlohmann::json &params) override {
    auto answer = search::answer_graph_env(method, params);
    if (!answer)
      return fail(answer.error().message);
    return std::move(*answer);
  }
};

struct Scene {
  int traces = 0;
  EnvHere env;
  ModuleStates states{env,
                      [this](const model::TorchModule &module) -> Result<runner::TracedModule> {
                        ++traces;
                        if (module.source.empty())
                          return fail("there is no class Model");
                        const auto graph = ops::parse_graph(kGraph);
                        REQUIRE(graph);
                        return runner::TracedModule{*graph, test::task_of(*graph).buffers, "1.13",
                                                    "", ""};
                      },
                      std::nullopt};
  TrainingTask task = [] {
    TrainingTask task;
    task.id = "softmax/small";
    task.family = "softmax";
    task.language = kTorchLanguage;
    task.kernel = "Model";
    task.text = "class Model: pass\n";
    return task;
  }();
};

std::string joined(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

} // namespace

TEST_CASE("a module is traced once, and states follow from its graph") {
  Scene scene;
  const auto opened = scene.states.open(scene.task);
  REQUIRE_MESSAGE(opened, (opened ? "" : describe(opened.error())));
  CHECK(opened->definition["module"]["source"] == scene.task.text);
  CHECK(opened->graph.find("softmax(%sum)") != std::string::npos);
  const auto first = scene.states.state(scene.task, {});
  REQUIRE(first);
  CHECK(std::ranges::find(first->legal, "begin(with=ours)") != first->legal.end());
  const auto second = scene.states.state(scene.task, {"begin(with=ours)"});
  REQUIRE(second);
  CHECK(second->text_hash != first->text_hash);
  CHECK(second->text_hash.size() == 16);
  const auto plan = scene.states.plan(scene.task, {"begin(with=ours)"});
  REQUIRE(plan);
  CHECK(model::plan_from_json(*plan));
  CHECK_FALSE(scene.states.state(scene.task, {"begin(with=nobody)"}));
  CHECK(scene.traces == 1);
}

TEST_CASE("a module that cannot be traced says why") {
  Scene scene;
  scene.task.text.clear();
  const auto opened = scene.states.open(scene.task);
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message == "there is no class Model");
}

TEST_CASE("what is recorded of a module comes back, and is replayed without a runner") {
  Scene scene;
  const testing::TemporaryFolder folder;
  const std::string path = folder.path / "records.jsonl";
  model::DeviceInfo device;
  device.kind = "cpu";
  {
    auto book = RecordBook::append_to(path);
    REQUIRE(book);
    REQUIRE(book->add_device(device));
    const auto opened = scene.states.open(scene.task);
    REQUIRE(book->add_task(scene.task, opened->definition, "hash", opened->graph));
    Measured measured;
    measured.outcome = model::Outcome::Verified;
    measured.device = "cpu";
    for (const Moves &moves : {Moves{}, Moves{"begin(with=ours)"}}) {
      const auto state = scene.states.state(scene.task, moves);
      REQUIRE(book->add_state(scene.task.id, *state));
      REQUIRE(book->add_verdict(scene.task.id, state->text_hash, measured));
    }
  }
  auto read = RecordBook::read(path);
  REQUIRE_MESSAGE(read, (read ? "" : describe(read.error())));
  Exclusive<RecordBook> records(std::move(*read));
  RecordedEnvironment environment(records, "cpu");
  const TrainingTask task =
      records.with([](RecordBook &book) { return recorded_tasks(book).front(); });
  CHECK(task.language == kTorchLanguage);
  const auto view = environment.open(task);
  REQUIRE(view);
  CHECK(view->graph.find("softmax(%sum)") != std::string::npos);
  REQUIRE(environment.state(task, {}));
  CHECK(environment.state(task, {})->legal == Moves{"begin(with=ours)"});
  CHECK(environment.measure(task, {"begin(with=ours)"}, {})->outcome == model::Outcome::Verified);
  const std::vector<Exemplar> tried;
  const Context context{task, *view, std::nullopt, {}, tried};
  const std::string prompt = joined(prompt_words(context, {"begin(with=ours)"}, {}));
  CHECK(prompt.starts_with("<begin> in float32 2^12 in float32 2^6 out float32 2^12 sizes bytes"));
  CHECK(prompt.find("<source> region=0 op:") != std::string::npos);
  CHECK(prompt.ends_with("<legal> move:begin <analysis>"));
}

TEST_CASE("a graph is words of its operations and shapes, and of no names") {
  const std::string text = std::string("# region 0: 2 of %y\n# region 1: 1 of %sum\n") + kGraph;
  const std::string words = joined(graph_words(text, 100));
  CHECK(words == "region=0 2^1 op:softmax 2^6 2^6 dim 1 region=1 op:add 2^6 2^6 "
                 "v0 op:add v1 v2 v3 op:softmax v0 dim 1");
  std::string renamed = text;
  for (std::size_t at; (at = renamed.find("%sum")) != std::string::npos;)
    renamed.replace(at, 4, "%total");
  CHECK(joined(graph_words(renamed, 100)) == words);
  CHECK(graph_words(text, 5).size() == 5);
}

TEST_CASE("a graph's words say dtypes, several results and recorded operators") {
  const std::string words =
      joined(graph_words("%x: f16[8,1000000] = input\n"
                         "%s: (f16[8,4], i64[8,4]) = aten(%x) {arguments=\"[1, {\\\"a\\\"}]\", "
                         "target=\"aten::topk\"}\n"
                         "%p: f16[8,4] = max_pool(%s) {ceil=false, kernel=[2,2], stride=[2,2]}\n",
                         100));
  CHECK(words == "v0 op:aten v1 f16 2^3 2^2 aten::topk v2 op:max_pool v0 kernel 2 2 stride 2 2");
  CHECK(graph_words("%: broken\nreturn\n# region x\n", 9).empty());
  CHECK(graph_words("", 9).empty());
}
