// warpwright-graph plan GRAPH.json...: what fusion makes of a dumped op graph. For developers; not installed.
//
// Prints regions, the choices that each has, the plan's kernels and the bytes that its regions read and write; --out writes the plan, --source the device source. With several graphs
// it prints one line each. Omits running and measuring (warpwright-runner). Thread: one.
#include "generator/ops/names.h"
#include "generator/planning/layouts.h"
#include "generator/ops/op_traits.h"
#include "generator/planning/plan_builder.h"
#include "generator/ops/read_graph.h"
#include "generator/rewrites/rewrite.h"
#include "generator/search/plan_starts.h"
#include "support/model/json.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace warpwright;
using namespace warpwright::elements;
using namespace warpwright::ops;
using namespace warpwright::planning;
using namespace warpwright::rewrites;

namespace {

constexpr const char *kUsage =
    "usage: warpwright-graph plan [options] GRAPH.json...\n"
    "  --anchor NAME=FAMILY    lower an anchor by this family, or by \"aten\"; \"channels_last\" "
    "for convolutions\n"
    "  --library OP[,OP]        all anchors of these ops by ATen; --channels-last: convolutions "
    "among them so\n"
    "  --twin NAME             one launch with the product that only the anchor's epilogue reads\n"
    "  --alone NAME            fuse nothing with the anchor\n"
    "  --region KEY --config NAME=VALUE[,NAME=VALUE]   the configuration of a region\n"
    "  --start NAME            a start of the search, with its choices: ours, library, a rule's name, ...\n"
    "  --as-traced             no rewrites, and biases stay with their convolutions\n"
    "  --gpu NAME              plan for a100, rtx4090, h100, h200 (default), h20, b200, rtx5090, "
    "or cpu for the CPU backend\n"
    "  --out PLAN.json, --source FILE.cu   with \"%\" in them: a file for each graph, named after "
    "it\n";

struct Options {
  PlanChoices choices;
  DeviceFacts facts{arch::gpu_named("h200").value()};
  std::string start, out, source;
  std::vector<std::string> graphs;
  bool simplified = true, channels_last = false;
  std::string library; ///< ",conv,matmul,"
};

Configuration configuration_of(const std::string &text) {
  Configuration configuration;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');)
    if (const std::size_t equals = part.find('='); equals != std::string::npos)
      configuration[part.substr(0, equals)] = std::atoi(part.c_str() + equals + 1);
  return configuration;
}

Result<Options> parse(int argc, char **argv) {
  Options options;
  std::string region;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (!word.starts_with("--")) {
      options.graphs.push_back(word);
      continue;
    }
    if (word == "--channels-last") {
      options.channels_last = true;
      continue;
    }
    if (word == "--as-traced") {
      options.simplified = false;
      continue;
    }
    if (i + 1 >= argc)
      return fail(word + " takes a value", kUsage);
    const std::string value = argv[++i];
    if (word == "--gpu") {
      const auto gpu = arch::gpu_named(value);
      if (!gpu)
        return fail("there is no GPU " + value, kUsage);
      static_cast<arch::Gpu &>(options.facts) = *gpu;
    } else if (word == "--start") {
      options.start = value;
    } else if (word == "--library") {
      options.library = "," + value + ",";
    } else if (word == "--anchor") {
      const std::size_t equals = value.find('=');
      AnchorChoice &choice = options.choices.anchors[value.substr(0, equals)];
      choice.family = equals == std::string::npos ? "" : value.substr(equals + 1);
      choice.channels_last = choice.family == "channels_last";
      if (choice.channels_last)
        choice.family = kLibraryFamily;
    } else if (word == "--twin") {
      options.choices.anchors[value].twin = true;
    } else if (word == "--alone") {
      options.choices.anchors[value].fuse = false;
    } else if (word == "--region") {
      region = value;
    } else if (word == "--config") {
      options.choices.configurations[region] = configuration_of(value);
    } else if (word == "--out") {
      options.out = value;
    } else if (word == "--source") {
      options.source = value;
    } else {
      return fail("unknown option " + word, kUsage);
    }
  }
  return options;
}

/// A task that such a graph may come from, to check plans against.
model::Task task_of(const model::Graph &graph) {
  model::Task task;
  task.module = model::TorchModule{};
  const GraphIndex index(graph);
  const auto add = [&](const std::string &name, const model::TensorType &type,
                       model::Direction direction) {
    model::Buffer buffer;
    buffer.name = name;
    buffer.dtype = type.dtype;
    buffer.extent = model::elements_of(type.shape);
    buffer.direction = direction;
    buffer.shape = type.shape;
    task.buffers.push_back(std::move(buffer));
  };
  for (const model::Node &node : graph.nodes)
    if (is_buffer_leaf(node))
      add(node.name, node.type(),
          std::ranges::any_of(graph.updates,
                              [&](const auto &update) { return update.parameter == node.name; })
              ? model::Direction::InOut
              : model::Direction::In);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    add("output_" + std::to_string(i), index.node(graph.outputs[i]).type(), model::Direction::Out);
  return task;
}

/// "%" stands for the graph's file name.
std::string path_for(const std::string &pattern, const std::string &graph) {
  const std::size_t at = pattern.find('%');
  const std::string stem = std::filesystem::path(graph).stem().string();
  return at == std::string::npos ? pattern : pattern.substr(0, at) + stem + pattern.substr(at + 1);
}

std::string text_of(const Configuration &configuration) {
  std::string text;
  for (const auto &[name, value] : configuration)
    text += (text.empty() ? "" : ",") + name + "=" + std::to_string(value);
  return text;
}

void print(const BuiltPlan &built) {
  for (const BuiltRegion &region : built.regions) {
    std::cout << region_key(region.planned.region) << ": " << region.words << "\n";
    for (const auto *values : {&region.planned.region.inputs, &region.planned.region.outputs}) {
      std::cout << (values == &region.planned.region.inputs ? "    reads" : "    writes");
      for (const std::string &value : *values)
        std::cout << " " << value;
      std::cout << "\n";
    }
    for (const Configuration &configuration : region.configurations)
      std::cout << "    " << (configuration == region.configuration ? "* " : "  ")
                << text_of(configuration) << "\n";
  }
  for (const std::string &note : built.notes)
    std::cout << "note: " << note << "\n";
}

/// Sum of the sizes of the values that regions read and write, each value as a whole.
std::int64_t traffic_bytes(const BuiltPlan &built) {
  const GraphIndex index(built.graph);
  std::int64_t bytes = 0;
  for (const BuiltRegion &region : built.regions)
    for (const auto *values : {&region.planned.region.inputs, &region.planned.region.outputs})
      for (const std::string &value : *values) {
        const model::TensorType &type = index.node(value).type();
        bytes += model::elements_of(type.shape) *
                 static_cast<std::int64_t>(model::size_bytes(type.dtype));
      }
  return bytes;
}

int plan_all(const Options &options) {
  int failures = 0;
  for (const std::string &path : options.graphs) {
    auto graph = read_graph(path);
    if (!graph) {
      std::cout << path << ": " << describe(graph.error()) << "\n";
      ++failures;
      continue;
    }
    PlanChoices choices = options.choices;
    if (!options.start.empty()) {
      auto starts = search::plan_starts(*graph, options.facts);
      const auto start = std::ranges::find(starts, options.start, &search::PlanStart::name);
      if (start == starts.end()) {
        std::cout << path << ": the search has no start " << options.start << "; it has";
        for (const search::PlanStart &one : starts)
          std::cout << " " << one.name;
        std::cout << "\n";
        ++failures;
        continue;
      }
      *graph = std::move(start->graph);
      choices = std::move(start->choices);
    } else if (options.simplified) {
      *graph = simplify(with_separate_bias(*graph)).graph;
    }
    for (const model::Node &node : graph->nodes)
      if (options.library.find("," + node.op + ",") != std::string::npos)
        choices.anchors[node.name] = {kLibraryFamily, true, options.channels_last && node.op == op::conv};
    const auto built = build_plan(*graph, plan_buffers(*graph), options.facts, choices);
    if (!built) {
      std::cout << path << ": " << describe(built.error()) << "\n";
      ++failures;
      continue;
    }
    if (options.graphs.size() == 1)
      print(*built);
    std::string library;
    for (const BuiltRegion &region : built->regions)
      if (!region.planned.family)
        library += " " + region.words;
    std::cout << path << ": " << built->kernels << " kernels, "
              << built->plan.steps.size() - static_cast<std::size_t>(built->kernels)
              << " other steps, " << traffic_bytes(*built) << " bytes" << (library.empty() ? "" : ";") << library << "\n";
    if (auto checked = model::check_plan(built->plan, task_of(*graph)); !checked) {
      std::cout << path << ": " << describe(checked.error()) << "\n";
      ++failures;
    }
    if (!options.out.empty())
      std::ofstream(path_for(options.out, path)) << model::to_json(built->plan).dump(1) << "\n";
    if (!options.source.empty())
      std::ofstream(path_for(options.source, path)) << built->plan.source;
  }
  return failures == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3 || std::strcmp(argv[1], "plan") != 0) {
    std::cerr << kUsage;
    return 2;
  }
  const auto options = parse(argc, argv);
  if (!options) {
    std::cerr << describe(options.error()) << "\n";
    return 2;
  }
  return plan_all(*options);
}
