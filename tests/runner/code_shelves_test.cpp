// Who may take which compiled code: sealed entries on disk, shelves by owner and task, and workers' processes, each bound to one
// owner. What a process could write into the folder, or say over its line, must not reach another's verdict.
#include "runner/service/code_hash.h"
#include "runner/service/code_shelves.h"
#include "runner/verify/compile_cache.h"
#include "tests/runner/scheduler_fixture.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace warpwright::runner {
namespace {

namespace fs = std::filesystem;
using namespace testing;

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/warpwright-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(path))
      if (entry.path().filename() != "secret")
        found.push_back(entry.path());
    return found;
  }
};

std::string text_of(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

nlohmann::json code(const std::string &cubin) {
  return to_json(CompiledCode{cubin, {"k"}, "", 1});
}

std::string cubin_of(const nlohmann::json &found) {
  const auto decoded = compiled_code_from_json(found);
  return decoded ? decoded->cubin : "none";
}

TEST_CASE("an entry that somebody without the secret changed, moved or wrote is not there") {
  const Folder folder;
  const SealedStore store(folder.path);
  REQUIRE(store.keeps());
  store.write("a", "one");
  const fs::path a = folder.entries().at(0);
  store.write("b", "two");
  const auto both = folder.entries();
  REQUIRE(both.size() == 2);
  const fs::path b = both[0] == a ? both[1] : both[0];
  CHECK(store.read("a") == "one");
  CHECK(SealedStore(folder.path).read("b") == "two"); // after a restart
  const std::string first = text_of(a), second = text_of(b);
  std::ofstream(a) << second; // moved
  CHECK(!store.read("a"));
  std::ofstream(a) << first.substr(0, first.size() - 3) << "0ne"; // changed
  CHECK(!store.read("a"));
  std::ofstream(a) << "0123\none"; // written
  CHECK(!store.read("a"));
  std::ofstream(a) << "";
  CHECK(!store.read("a"));
  store.write("a", "three");
  CHECK(store.read("a") == "three");
  // Others neither read the secret nor list the folder.
  struct stat status {};
  REQUIRE(stat((folder.path / "secret").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  REQUIRE(stat(folder.path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  CHECK((fs::status(a).permissions() & fs::perms::all) ==
        (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a secret that others could read is not used, and what it sealed is gone") {
  const Folder folder;
  SealedStore(folder.path).write("a", "one");
  fs::permissions(folder.path / "secret", fs::perms::others_read, fs::perm_options::add);
  CHECK(!SealedStore(folder.path).read("a"));
  CHECK((fs::status(folder.path / "secret").permissions() & fs::perms::others_read) ==
        fs::perms::none);
  const SealedStore nowhere(fs::path(""));
  nowhere.write("a", "one");
  CHECK(!nowhere.read("a"));
}

TEST_CASE("what a process compiled is found by its own owner, and from Python by its own task") {
  const Folder folder;
  const CodeShelves shelves{SealedStore(folder.path)};
  const Binding alice{"alice", ""}, bob{"bob", ""}, python{"alice", "task1"},
      other_task{"alice", "task2"};
  shelves.keep(alice, "key", code("of alice"));
  CHECK(cubin_of(shelves.find(alice, "key")) == "of alice");
  CHECK(cubin_of(shelves.find(python, "key")) == "of alice");
  CHECK(cubin_of(shelves.find(bob, "key")) == "none");
  CHECK(cubin_of(shelves.find(std::nullopt, "key")) == "none");
  shelves.keep(python, "other", code("of Python"));
  CHECK(cubin_of(shelves.find(python, "other")) == "of Python");
  for (const Binding &elsewhere : {alice, bob, other_task})
    CHECK(cubin_of(shelves.find(elsewhere, "other")) == "none");
  // Names that look like others' shelves.
  shelves.keep(Binding{"ali", "ce"}, "x", code("false"));
  shelves.keep(Binding{"alice\nkey", ""}, "", code("false"));
  CHECK(cubin_of(shelves.find(alice, "x")) == "none");
  CHECK(cubin_of(shelves.find(alice, "key")) == "of alice");
}

TEST_CASE("nobody's word goes before the judge's own code") {
  const Folder folder;
  const CodeShelves shelves{SealedStore(folder.path)};
  const Binding python{"alice", "task"};
  shelves.keep(python, "checker", code("false"));
  shelves.keep(std::nullopt, "checker", code("false"));
  shelves.keep_of_judge("checker", code("true"));
  CHECK(cubin_of(shelves.find(python, "checker")) == "true");
  CHECK(cubin_of(shelves.find(std::nullopt, "checker")) == "true");
  shelves.keep(python, "checker", code("false"));
  CHECK(cubin_of(shelves.find(python, "checker")) == "true");
  shelves.keep(python, "no code", nlohmann::json{{"cubin", 7}});
  CHECK(shelves.find(python, "no code").is_null());
}

// ---- Processes

Task shelved_task() {
  Task task = square_task(4096);
  task.module = model::TorchModule{.source = "class Model: pass"};
  task.reference = Plan{};
  task.reference.steps.push_back(model::ModuleStep{});
  return task;
}

/// Process ids of the device's worker after each of these jobs, (owner, task, torch?).
std::vector<std::optional<pid_t>>
pids_after(FoundDevice found, const std::vector<std::tuple<std::string, std::string, bool>> &jobs) {
  Bench bench({std::move(found)});
  std::vector<std::optional<pid_t>> pids;
  for (const auto &[owner, task, is_torch] : jobs) {
    bench.owner = owner;
    bench.task_hash = task;
    REQUIRE(bench
                .add(is_torch ? shelved_task() : square_task(4096),
                     plan_of("candidate", "square", {"x", "y"}), "", owner, {})
                .has_value());
    bench.run_all();
    pids.push_back(bench.scheduler.find("cuda:0")->pid());
  }
  return pids;
}

TEST_CASE("a process serves one owner, and one that runs a task's files that task alone") {
  FoundDevice gpu = device("cuda:0", "NVIDIA H200");
  gpu.worker.python = std::vector<std::string>{kFakeWorker};
  const auto python = pids_after(gpu, {{"alice", "1", true},
                                       {"alice", "1", true},
                                       {"alice", "2", true},
                                       {"bob", "2", true},
                                       {"bob", "2", true}});
  CHECK(python[0] == python[1]);
  CHECK(python[1] != python[2]);
  CHECK(python[2] != python[3]);
  CHECK(python[3] == python[4]);
  const auto native = pids_after(device("cuda:0", "NVIDIA H200"),
                                 {{"alice", "1", false}, {"alice", "2", false}, {"bob", "2", false}});
  CHECK(native[0] == native[1]);
  CHECK(native[1] != native[2]);
  // The CPU worker serves both kinds, and runs a module's files in a child.
  const auto both = pids_after(device("cuda:0", "NVIDIA H200"),
                               {{"alice", "1", true}, {"alice", "2", true}, {"alice", "2", false}});
  CHECK(both[0] != both[1]);
  CHECK(both[1] != both[2]);
}

TEST_CASE("a process that says it compiled the judge's code deceives its own task alone") {
  const Folder folder, cache;
  const std::string told = (folder.path / "told").string();
  FoundDevice gpu = device("cuda:0", "NVIDIA H200", "forger");
  gpu.worker.environment.push_back("WARPWRIGHT_FAKE_FILE=" + told);
  gpu.worker.python = std::vector<std::string>{kFakeWorker};
  const auto shelves = std::make_shared<const CodeShelves>(SealedStore(cache.path));
  gpu.worker.shelves = shelves;
  const auto found_by = [&](const std::string &owner, const std::string &task) {
    fs::remove(told);
    pids_after(gpu, {{owner, task, true}});
    return text_of(told).substr(0, text_of(told).find('\n')); // before it forged anything itself
  };
  CHECK(found_by("alice", "1") == "none");
  CHECK(found_by("alice", "1") == "forged");
  CHECK(found_by("alice", "2") == "none");
  CHECK(found_by("bob", "1") == "none");
  shelves->keep_of_judge("key", code("the judge's"));
  CHECK(found_by("alice", "1") == "the judge's");
}

TEST_CASE("tasks bring the same code where numbers of their arguments differ, and nothing else") {
  model::Task task;
  task.module = model::TorchModule{
      .source = "class Model: pass", .inputs = "get_inputs(2, 64)", .init_inputs = "[2, 64]"};
  const auto with = [&](std::string model::TorchModule::*member, const char *text) {
    model::Task other = task;
    (*other.module).*member = text;
    return code_hash(other);
  };
  CHECK(with(&model::TorchModule::inputs, "get_inputs(13, 7)") == code_hash(task));
  CHECK(with(&model::TorchModule::init_inputs, "[1000, 7]") == code_hash(task));
  CHECK(with(&model::TorchModule::inputs, "get_inputs(2, exit())") != code_hash(task));
  CHECK(with(&model::TorchModule::source, "class Model: pass # 1") != code_hash(task));
  CHECK(code_hash({}) == "");
}

TEST_CASE(
    "Modules that only call operators bring the same code, and no other module counts as one") {
  const std::string text = R"py("""A region of a model, as torch.compile has it."""
import torch


class Model(torch.nn.Module):
    def __init__(self, n0):
        super().__init__()
        self.n0 = n0

    def forward(self, a0, a1):
        a1 = a1.permute(0, 2, 1,)
        b0 = torch.ops.aten.native_layer_norm.default(a0, [(3 * self.n0)], None, None, 1e-05)
        b1 = torch.ops.aten.gelu.default(b0[0], approximate="tanh")
        b2 = torch.ops.aten.where.self(a1, b1, float("-inf"))
        b3 = (torch.nn.functional.scaled_dot_product_attention(b2, b2, b2, is_causal=True),)
        return b3[0].to(a0.dtype).permute(0, 2, 1,).contiguous()


def get_inputs(n0):
    return [
        (0.5 + 0.05 * torch.randn([4, 2, (3 * n0)])).abs().clamp_min(0.25).to(torch.bfloat16),
        torch.rand([4, (3 * n0), 2]) < 0.5,
    ]


def get_init_inputs():
    return []
)py";
  model::Task task;
  task.module =
      model::TorchModule{.source = text, .inputs = "get_inputs(64)", .init_inputs = "[64]"};
  CHECK(code_hash(task) == "operators");
  const auto is_refused = [&](const std::string &old, const std::string &now) {
    model::Task other = task;
    REQUIRE(text.contains(old));
    other.module->source.replace(text.find(old), old.size(), now);
    return code_hash(other) != "operators";
  };
  CHECK(!is_refused("gelu.default", "exp.default"));
  CHECK(is_refused("import torch", "import os"));
  CHECK(is_refused("torch.ops.aten.gelu.default(b0[0]", "torch.load(b0[0]"));
  CHECK(is_refused("torch.ops.aten.gelu.default(b0[0]", "torch.ops.load_library(\"a\""));
  CHECK(is_refused("torch.ops.aten.gelu.default(b0[0]", "torch.ops.mine.gelu.default(b0[0]"));
  CHECK(is_refused("gelu.default", "gelu_.default"));
  CHECK(is_refused("gelu.default", "from_file.default"));
  CHECK(is_refused("gelu.default", "exp.out"));
  CHECK(is_refused("gelu.default", "gelu.default.redispatch"));
  CHECK(is_refused("a0.dtype", "a0.data"));
  CHECK(is_refused("a0.dtype", "a0.__class__"));
  CHECK(is_refused("\"tanh\"", "\"a/b\""));
  CHECK(is_refused("        self.n0 = n0", "        self.train = n0"));
  CHECK(is_refused("        self.n0 = n0", "        torch.randn = n0"));
  CHECK(is_refused("        self.n0 = n0", "        torch.randn, b0 = n0, n0"));
  CHECK(is_refused("        self.n0 = n0", "        (torch.randn) = n0"));
  CHECK(is_refused("        self.n0 = n0", "        [torch.randn, b0] = [n0, n0]"));
  CHECK(is_refused("        self.n0 = n0", "        b0 = torch.randn = n0"));
  CHECK(is_refused("        self.n0 = n0", "        torch.randn: n0 = n0"));
  CHECK(is_refused("        self.n0 = n0", "        import n0"));
  CHECK(is_refused("    return []", "    return exec(\"a\")"));
  CHECK(is_refused("    return []", "    return [] # free"));
  CHECK(is_refused("as torch.compile has it.", "as\\\"\"\" has it."));
  task.module->inputs = "get_inputs(exit())";
  CHECK(code_hash(task) != "operators");
  task.module->inputs = "get_inputs(64)";
  task.module->files["a.py"] = "";
  CHECK(code_hash(task) != "operators");
}

TEST_CASE("two owners' jobs of torch tasks each keep a process for a while") {
  FoundDevice gpu = device("cuda:0", "NVIDIA H200");
  gpu.worker.python = std::vector<std::string>{kFakeWorker};
  Bench bench({gpu});
  for (int i = 0; i < 4; ++i)
    for (const char *owner : {"alice", "bob"}) {
      bench.owner = bench.task_hash = owner;
      REQUIRE(bench.add(shelved_task(), plan_of("candidate", "square", {"x", "y"}), "", owner, {})
                  .has_value());
    }
  bench.run_all();
  CHECK(bench.told.starts == std::map<std::string, int>{{"cuda:0", 2}});
}

} // namespace
} // namespace warpwright::runner
