// Hashes of all plans that the generator makes of a corpus of op graphs, to show that a change of the code changed none.
//
//   plan_hashes GRAPHS.jsonl[.xz] [--id ID]... [--every N] [--most-nodes N] [--list]
//
// A line a graph, device and kind of plan: "current/1/18  h200  starts  6  <hash>", with the number of plans and a hash over theirs and
// their moves, in order. Kinds: `starts` of a search; `recipe`, of a graph that has one; `configurations`, every one of every group of regions of the first start; `search`, the
// plans that a search proposes under verdicts that are made up from the plans' hashes. --list prints each plan, to find the one
// that changed; --sources instead the source of each recipe's plan, as a line of JSON. Nothing is run. Thread: graphs are shared among all cores.
#include "generator/planning/layouts.h"
#include "generator/planning/module_task.h"
#include "generator/search/plan_starts.h"
#include "generator/search/plan_walk.h"
#include "generator/search/torch_search.h"
#include "plan/program.h"
#include "support/hash.h"
#include "support/model/graph_json.h"
#include "support/model/json.h"
#include "support/process.h"

#include <atomic>
#include <fstream>
#include <iostream>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

using namespace warpwright;
using namespace warpwright::elements;
using namespace warpwright::planning;
using namespace warpwright::search;
using namespace warpwright::symbolic;
using nlohmann::json;

namespace {

constexpr const char *kUsage = "usage: plan_hashes GRAPHS.jsonl[.xz] [--id ID]... [--every N] [--most-nodes N] [--list | --sources]\n";
/// Plans of graphs with more nodes than this take long: fewer are made of them.
constexpr std::size_t kLargeGraph = 120;
constexpr int kProposals = 48, kProposalsOfLarge = 8;
constexpr std::size_t kGroupsOfLarge = 4;

struct Options {
  std::string graphs;
  std::set<std::string> ids; ///< empty: all
  std::size_t every = 1;     ///< of the graphs one in so many
  std::size_t most_nodes = std::numeric_limits<std::size_t>::max(); ///< larger graphs are left out
  bool list = false, sources = false;
};

struct Device {
  explicit Device(const char *name) : name(name), facts(arch::gpu_named(name).value()) {}
  const char *name;
  DeviceFacts facts;
};

/// Devices of the golden files: an H200 and the CPU backend; for a sample of the graphs, other GPUs too.
constexpr const char *kDevices[] = {"h200", "cpu"}, *kOtherGpus[] = {"a100", "h20", "rtx4090", "b200"};
constexpr std::size_t kSampledEvery = 10, kSampledMostNodes = 40;

/// The plans of one kind, in order.
class Plans {
public:
  Plans(const std::string &where, bool list) : where_(where), list_(list) {}

  void add(const std::string &what, const Result<BuiltPlan> &built) {
    std::string line = what + ": ";
    if (built) {
      line += model::hash(built->plan);
      for (const std::string &move : built->plan.moves)
        line += " " + move;
    } else {
      line += "none: " + built.error().message;
    }
    ++count_;
    all_ += line + "\n";
    if (list_)
      text_ += where_ + "\t" + line + "\n";
  }

  std::string text() const {
    return text_ + where_ + "\t" + std::to_string(count_) + "\t" + sha256_hex(all_).substr(0, 16) + "\n";
  }

private:
  std::string where_, all_, text_;
  bool list_;
  int count_ = 0;
};

struct Row {
  std::string id;
  model::Task task;
  model::Graph graph;
  PlanBuffers buffers;
  std::optional<Recipe> recipe;
};

class Rendering {
public:
  Rendering(const Row &row, const Device &device, bool list)
      : id_(row.id), task_(row.task), graph_(row.graph), buffers_(row.buffers), recipe_(row.recipe),
        device_(device), list_(list) {}

  Result<BuiltPlan> recipe_plan() const {
    if (!recipe_)
      return fail("no recipe");
    const auto graph = rewritten(with_separate_bias(graph_), recipe_->rewrites);
    return graph ? build_choices({*graph, {}, recipe_->choices}, buffers_, device_.facts)
                 : Result<BuiltPlan>(std::unexpected(graph.error()));
  }

  /// @param search false: without a recipe's plan and what a search proposes
  std::string text(bool search) {
    const std::vector<PlanStart> starts = plan_starts(graph_, device_.facts);
    std::string text = starts_text(starts);
    if (recipe_ && search)
      text += recipe_text();
    if (!starts.empty())
      text += configurations_text(starts.front());
    return search ? text + search_text() : text;
  }

private:
  bool is_large() const { return graph_.nodes.size() > kLargeGraph; }

  Plans plans(const char *kind) const { return Plans(id_ + "\t" + device_.name + "\t" + kind, list_); }

  Result<BuiltPlan> build(const PlanStart &start, const PlanChoices &choices) const {
    return build_choices({start.graph, {}, choices, start.exact}, buffers_, device_.facts);
  }

  std::string starts_text(const std::vector<PlanStart> &starts) const {
    Plans found = plans("starts");
    for (const PlanStart &start : starts)
      found.add(std::string(start.name), build(start, start.choices));
    return found.text();
  }

  std::string recipe_text() const {
    Plans found = plans("recipe");
    found.add("", recipe_plan());
    return found.text();
  }

  std::string configurations_text(const PlanStart &start) const {
    Plans found = plans("configurations");
    const auto built = build(start, start.choices);
    if (!built)
      return "";
    std::vector<RegionGroup> groups = region_groups(*built, device_.facts.rates.node);
    if (is_large() && groups.size() > kGroupsOfLarge)
      groups.erase(groups.begin() + kGroupsOfLarge, groups.end());
    for (const RegionGroup &group : groups)
      for (const Configuration &configuration : group.regions.front()->configurations) {
        PlanChoices choices = built->applied;
        for (const BuiltRegion *region : group.regions)
          choices.configurations[region_key(region->planned.region)] = configuration;
        found.add(region_key(group.regions.front()->planned.region), build(start, choices));
      }
    return found.text();
  }

  /// Times between 1 and 2 ms by the plan's hash; one plan in eight is refused.
  static model::Verdict made_up(const model::Plan &plan) {
    const std::uint64_t bits = std::stoull(model::hash(plan).substr(0, 8), nullptr, 16);
    model::Verdict verdict;
    verdict.outcome = bits % 8 == 0 ? model::Outcome::WrongResult : model::Outcome::Verified;
    if (verdict.outcome != model::Outcome::Verified)
      return verdict;
    const double ns = 1e6 + static_cast<double>(bits >> 8) / static_cast<double>(1 << 24) * 1e6;
    verdict.reference_time = model::Time{.median_ns = 2e6, .low_ns = 2e6, .high_ns = 2e6, .samples = 1};
    verdict.candidate_time = model::Time{.median_ns = ns, .low_ns = ns, .high_ns = ns, .samples = 1};
    verdict.speedup = model::Speedup{2e6 / ns, 2e6 / ns, 2e6 / ns, 1, "made up"};
    return verdict;
  }

  std::string search_text() const {
    Plans found = plans("search");
    DescentPolicy policy(task_, graph_, device_.facts);
    TorchSearchEvents events;
    events.evaluate = [](const model::Task &, const model::Plan &plan, std::stop_token) { return made_up(plan); };
    const auto variants = search_torch(
        task_, policy,
        {.max_variants = is_large() ? kProposalsOfLarge : kProposals, .budget = std::chrono::hours(24)}, events, {});
    for (const TorchVariant &variant : variants)
      found.add("", Result<BuiltPlan>(variant.proposal.built));
    return found.text();
  }

  const std::string &id_;
  const model::Task &task_;
  const model::Graph &graph_;
  const PlanBuffers &buffers_;
  const std::optional<Recipe> &recipe_;
  Device device_;
  bool list_;
};

/// As `warpwright-runner trace --json` writes it.
Result<model::Buffer> buffer_of(const json &entry) {
  const auto dtype = model::dtype_from_name(entry.at("dtype").get<std::string>());
  if (!dtype)
    return fail("a buffer of dtype " + entry.at("dtype").get<std::string>());
  const std::string direction = entry.at("direction");
  model::Buffer buffer;
  buffer.name = entry.at("name");
  buffer.torch_name = entry.at("torch_name");
  buffer.dtype = *dtype;
  buffer.shape = entry.at("shape").get<model::Shape>();
  buffer.extent = Expression(model::elements_of(buffer.shape));
  buffer.direction = direction == "in"    ? model::Direction::In
                     : direction == "out" ? model::Direction::Out
                                          : model::Direction::InOut;
  buffer.distribution.kind = model::Distribution::Kind::Module;
  return buffer;
}

Result<Row> row_of(const json &line) {
  auto graph = model::graph_from_json(line.at("graph"));
  if (!graph)
    return std::unexpected(graph.error());
  std::vector<model::Buffer> buffers;
  for (const json &entry : line.at("buffers")) {
    auto buffer = buffer_of(entry);
    if (!buffer)
      return std::unexpected(buffer.error());
    buffers.push_back(std::move(*buffer));
  }
  const std::string id = line.at("id");
  auto task = module_task(id, "", model::TorchModule{}, *graph, std::move(buffers));
  if (!task)
    return std::unexpected(task.error());
  auto named = plan_buffers(*task, *graph);
  if (!named)
    return std::unexpected(named.error());
  std::optional<Recipe> recipe;
  if (line.contains("recipe")) {
    auto read = recipe_from_json(line.at("recipe"));
    if (!read)
      return std::unexpected(read.error());
    recipe = std::move(*read);
  }
  return Row{id, std::move(*task), std::move(*graph), std::move(*named), std::move(recipe)};
}

std::string hashes(const Row &row, std::size_t number, bool list) {
  std::string text;
  const auto render = [&](const char *gpu, bool search) {
    text += Rendering(row, Device(gpu), list).text(search);
  };
  for (const char *device : kDevices)
    render(device, true);
  if (number % kSampledEvery == 0 && row.graph.nodes.size() <= kSampledMostNodes)
    for (const char *gpu : kOtherGpus)
      render(gpu, false);
  return text;
}

/// The program's own launches and fills with numbers for all expressions; operators of torch are left out.
json launches_of(const plan::Program &program) {
  json launches = json::array();
  for (const plan::Step &step : program.steps) {
    if (const auto *fill = std::get_if<plan::Fill>(&step))
      launches.push_back({{"fill", fill->place}, {"byte", fill->byte}});
    const auto *launch = std::get_if<plan::Launch>(&step);
    if (!launch)
      continue;
    json arguments = json::array();
    for (const plan::Argument &argument : launch->arguments)
      if (const auto *place = std::get_if<plan::PlaceArgument>(&argument))
        arguments.push_back({{"place", place->place}, {"offset", place->offset}});
      else if (const auto &number = std::get<plan::NumberArgument>(argument); const auto *integer = std::get_if<std::int64_t>(&number.value))
        arguments.push_back({{"dtype", model::name(number.dtype)}, {"value", *integer}});
      else
        arguments.push_back({{"dtype", model::name(number.dtype)}, {"value", std::get<double>(number.value)}});
    launches.push_back({{"kernel", program.kernels[launch->kernel].name}, {"grid", launch->grid}, {"block", launch->block},
                        {"shared", launch->shared_bytes}, {"cooperative", launch->cooperative}, {"arguments", std::move(arguments)}});
  }
  return launches;
}

/// The recipe's plan for an H200, with what NVRTC and a launch need, as a line of JSON; empty where there is none.
std::string source_line(const Row &row) {
  const auto built = Rendering(row, Device("h200"), false).recipe_plan();
  if (!built)
    return "";
  json places = json::array(), launches;
  if (const auto program = plan::program_of(built->plan, row.task, row.task.sizes)) {
    for (const plan::Place &place : program->places)
      places.push_back({{"dtype", model::name(place.dtype)}, {"elements", place.elements}});
    launches = launches_of(*program);
  }
  return json{{"id", row.id},
              {"source", built->plan.source},
              {"kernels", plan::kernels_of(built->plan)},
              {"options", built->plan.options},
              {"places", std::move(places)},
              {"launches", std::move(launches)},
              {"steps", built->plan.steps.size()},
              {"tensors", row.task.buffers.size() + built->plan.temporaries.size()}}
             .dump() +
         "\n";
}

std::string render(const json &line, const Options &options) {
  const auto row = row_of(line);
  if (!row)
    return line.at("id").get<std::string>() + "\t" + row.error().message + "\n";
  return options.sources ? source_line(*row)
                         : hashes(*row, line.at("number").get<std::size_t>(), options.list);
}

Result<std::vector<json>> read_corpus(const Options &options) {
  std::string text;
  if (options.graphs.ends_with(".xz")) {
    const auto run = run_captured({"xz", "-dc", options.graphs}, "", std::chrono::minutes(1));
    if (!run)
      return std::unexpected(run.error());
    if (run->status.code != 0)
      return fail("xz -dc " + options.graphs + ": " + run->errors);
    text = run->output;
  } else {
    std::ifstream file(options.graphs);
    if (!file)
      return fail("cannot read " + options.graphs);
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::vector<json> corpus;
  std::size_t number = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json graph = json::parse(line, nullptr, false);
    if (!graph.is_object())
      return fail(options.graphs + ": line " + std::to_string(number + 1) + " is no object");
    const bool wanted = options.ids.empty() ? number % options.every == 0 : options.ids.contains(graph.value("id", ""));
    graph["number"] = number++;
    if (wanted && graph.at("graph").at("nodes").size() <= options.most_nodes)
      corpus.push_back(std::move(graph));
  }
  return corpus;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--list")
      options.list = true;
    else if (word == "--sources")
      options.sources = true;
    else if (word == "--id" && i + 1 < argc)
      options.ids.insert(argv[++i]);
    else if (word == "--every" && i + 1 < argc)
      options.every = std::max<std::size_t>(1, std::strtoul(argv[++i], nullptr, 10));
    else if (word == "--most-nodes" && i + 1 < argc)
      options.most_nodes = std::strtoul(argv[++i], nullptr, 10);
    else if (options.graphs.empty() && !word.starts_with("--"))
      options.graphs = word;
    else
      options.graphs.clear(), i = argc;
  }
  if (options.graphs.empty()) {
    std::cerr << kUsage;
    return 2;
  }
  const auto corpus = read_corpus(options);
  if (!corpus) {
    std::cerr << describe(corpus.error()) << "\n";
    return 2;
  }
  std::vector<std::string> texts(corpus->size());
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back([&] {
        for (std::size_t at = next++; at < corpus->size(); at = next++)
          texts[at] = render((*corpus)[at], options);
      });
  }
  for (const std::string &text : texts)
    std::cout << text;
  return 0;
}
