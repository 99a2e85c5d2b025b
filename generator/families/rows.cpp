// First guesses for row regions, and their lowering; see rows.h.
//
// Where neighbours in memory are reduced ("inner"): short rows get part of a warp or a warp, middling ones a block with the row in
// registers, long ones a block that streams or, where there are too few rows to fill the GPU, several blocks. Where neighbours are kept
// ("columns"): threads side by side take neighbouring columns, and as many parts of a block share them as are needed to fill the GPU.
#include "generator/families/rows.h"

#include "generator/families/row_kernel.h"
#include "generator/fusion/row_regions.h"
#include "generator/graph/attributes.h"

#include <algorithm>
#include <bit>

namespace warpwright::generator {
namespace {

/// Registers that a thread may spend on held values, in 4-byte words, before occupancy suffers too much.
constexpr std::int64_t kHeldWords = 64;
/// Threads that keep enough loads in flight on one multiprocessor.
constexpr std::int64_t kThreadsAMultiprocessor = 1024;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
std::int64_t power_of_two_at_least(std::int64_t value) {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, value))));
}

/// What a choice of shapes depends on.
struct RowFacts {
  std::int64_t rows = 1, length = 1, innermost = 1;
  bool inner = true;
  bool several_passes = false; ///< rows are read more than once unless they are held
  bool stores_elements = false;
  std::int64_t held_words = 1; ///< 4-byte words held for each element
  int widest_vector = 1;
  int multiprocessors = 132;
  std::int64_t state_bytes = 8; ///< upper bound of what a pass accumulates
};

RowFacts facts_of(const RowProgram &program, const GraphIndex &graph, const DeviceFacts &device) {
  RowFacts facts;
  facts.rows = program.rows;
  facts.length = program.row_length;
  facts.innermost = program.groups.back().size;
  facts.inner = program.reduces_inner();
  facts.several_passes = program.passes > 1;
  facts.multiprocessors = device.multiprocessors;
  const RowPasses held = plan_passes(program, graph, true);
  std::size_t smallest = 8;
  const auto consider = [&](const std::string &value) {
    smallest = std::min(smallest, model::size_bytes(graph.node(value).type().dtype));
  };
  for (const RowPass &pass : held.passes)
    std::ranges::for_each(pass.leaves, consider);
  for (const RowOutput &output : program.outputs)
    if (output.value.kind == RowValue::Kind::Element) {
      facts.stores_elements = true;
      consider(output.node);
    }
  facts.held_words = 0;
  for (const std::string &value : held.held)
    facts.held_words += std::max<std::int64_t>(
        1, static_cast<std::int64_t>(model::size_bytes(graph.node(value).type().dtype)) / 4);
  facts.held_words = std::max<std::int64_t>(1, facts.held_words);
  facts.state_bytes = 0;
  for (int pass = 0; pass < program.passes; ++pass)
    for (const std::size_t i : held.passes[static_cast<std::size_t>(pass)].reductions)
      facts.state_bytes += program.reductions[i].kind == RowReduction::Kind::Variance         ? 24
                           : program.reductions[i].kind == RowReduction::Kind::ExponentialSum ? 16
                                                                                              : 16;
  facts.widest_vector = static_cast<int>(std::clamp<std::size_t>(16 / smallest, 1, 8));
  while (facts.innermost % facts.widest_vector != 0)
    facts.widest_vector /= 2;
  return facts;
}

Configuration configuration(const RowShape &shape, bool online) {
  return {{"threads", shape.threads}, {"group", shape.group},   {"vector", shape.vector},
          {"unroll", shape.unroll},   {"splits", shape.splits}, {"hold", shape.hold},
          {"online", online}};
}

class Guesses {
public:
  explicit Guesses(const RowFacts &facts) : facts_(facts) {}

  std::vector<Configuration> run() {
    if (facts_.inner)
      guess_inner();
    else
      guess_columns();
    return std::move(found_);
  }

private:
  void add(RowShape shape, bool online = true) {
    Configuration choice = configuration(shape, online && !shape.hold);
    if (std::ranges::find(found_, choice) == found_.end())
      found_.push_back(std::move(choice));
  }

  std::int64_t wanted_threads() const {
    return std::int64_t{facts_.multiprocessors} * kThreadsAMultiprocessor;
  }

  /// A row in the registers of `group` threads; nothing where it does not fit.
  void add_inner_held(std::int64_t group, std::int64_t threads) {
    const std::int64_t vectors = facts_.length / facts_.widest_vector;
    const std::int64_t unroll = ceil_divide(vectors, group);
    if (group > 1024 || unroll * facts_.widest_vector * facts_.held_words > kHeldWords)
      return;
    add({static_cast<int>(std::max(group, threads)), static_cast<int>(group), facts_.widest_vector,
         static_cast<int>(unroll), 1, facts_.several_passes});
  }

  void add_inner_streamed(std::int64_t group, std::int64_t threads, std::int64_t splits) {
    const std::int64_t share =
        ceil_divide(facts_.length, splits) / (std::int64_t{group} * facts_.widest_vector);
    const int unroll = static_cast<int>(std::clamp<std::int64_t>(share, 1, 4));
    add({static_cast<int>(std::max(group, threads)), static_cast<int>(group), facts_.widest_vector,
         unroll, static_cast<int>(splits), false});
  }

  void guess_inner() {
    const std::int64_t vectors = facts_.length / facts_.widest_vector;
    const std::int64_t total = facts_.rows * vectors;
    // Few rows of great length: several blocks a row.
    const std::int64_t blocks_wanted = std::int64_t{facts_.multiprocessors} * 4;
    if (facts_.rows < facts_.multiprocessors && facts_.length > 16384) {
      const std::int64_t splits = std::clamp<std::int64_t>(ceil_divide(blocks_wanted, facts_.rows),
                                                           1, ceil_divide(facts_.length, 4096));
      for (const std::int64_t count : {splits, splits / 2, splits * 2, splits / 4})
        if (count > 1)
          add_inner_streamed(256, 256, count);
    }
    // Groups so that every thread has 2 to 8 vectors, and enough threads in all.
    std::int64_t group = power_of_two_at_least(ceil_divide(vectors, 4));
    if (total < wanted_threads() * 4)
      group = power_of_two_at_least(vectors);
    group = std::clamp<std::int64_t>(group, 1, 512);
    if (group > 32)
      group = std::max<std::int64_t>(group, 64);
    for (const std::int64_t size : {group, group * 2, group / 2, group * 4, group / 4})
      if (size >= 1 && size <= 1024)
        add_inner_held(size, 128);
    for (const std::int64_t size :
         {std::int64_t{512}, std::int64_t{1024}, std::int64_t{256}, std::int64_t{32}})
      if (size <= std::max<std::int64_t>(32, vectors))
        add_inner_streamed(size, 256, 1);
    if (found_.empty())
      add_inner_streamed(32, 128, 1);
  }

  void add_columns(std::int64_t threads, std::int64_t parts, int vector, std::int64_t splits) {
    if (parts > 1 && threads * vector * facts_.state_bytes > 48 * 1024)
      return;
    const std::int64_t share = ceil_divide(ceil_divide(facts_.length, splits), parts);
    if (splits == 1 && facts_.several_passes && share * vector * facts_.held_words <= kHeldWords)
      add({static_cast<int>(threads), static_cast<int>(parts), vector, static_cast<int>(share), 1,
           true});
    const int unroll = static_cast<int>(std::clamp<std::int64_t>(share, 1, vector >= 4 ? 4 : 8));
    add({static_cast<int>(threads), static_cast<int>(parts), vector, unroll,
         static_cast<int>(splits), false});
  }

  void guess_columns() {
    for (int vector = facts_.widest_vector; vector >= 1; vector /= vector > 2 ? 4 : 2) {
      const std::int64_t columns = ceil_divide(facts_.rows, vector);
      std::int64_t parts = power_of_two_at_least(ceil_divide(wanted_threads(), columns));
      parts = std::clamp<std::int64_t>(parts, 1, 16);
      while (parts > 1 && parts > facts_.length)
        parts /= 2;
      const std::int64_t threads = parts > 8 ? parts * 32 : 256;
      const std::int64_t blocks = ceil_divide(columns, threads / parts);
      std::int64_t splits = 1;
      if (blocks < facts_.multiprocessors && facts_.length > parts * 32)
        splits = std::clamp<std::int64_t>(ceil_divide(2 * facts_.multiprocessors, blocks), 1,
                                          ceil_divide(facts_.length, parts * 16));
      if (facts_.several_passes && facts_.stores_elements && splits > 1)
        add_columns(threads, parts, vector, 1);
      for (const std::int64_t count : {splits, splits / 2, splits * 2})
        if (count >= 1 && (count > 1 || splits == 1))
          add_columns(threads, parts, vector, count);
      for (const std::int64_t other : {parts * 2, parts / 2, parts * 4})
        if (other >= 1 && other <= 32 && other <= facts_.length)
          add_columns(other > 8 ? other * 32 : 256, other, vector, splits);
    }
  }

  RowFacts facts_;
  std::vector<Configuration> found_;
};

bool claims(const GraphIndex &, const model::Node &anchor) { return is_row_anchor(anchor); }

std::vector<Configuration> configurations(const GraphIndex &graph, const Region &region,
                                          const DeviceFacts &device) {
  const auto program = make_row_program(graph, region);
  if (!program)
    return {{}};
  const GraphIndex expanded(program->expanded.graph);
  return Guesses(facts_of(*program, expanded, device)).run();
}

int value_of(const Configuration &configuration, const std::string &name, int fallback) {
  const auto found = configuration.find(name);
  return found == configuration.end() ? fallback : found->second;
}

Result<Lowering> lower(const GraphIndex &graph, const Region &region,
                       const Configuration &configuration, const DeviceFacts &,
                       const std::string &prefix) {
  const auto program = make_row_program(
      graph, region, {.online_softmax = value_of(configuration, "online", 0) != 0});
  if (!program)
    return std::unexpected(program.error());
  RowShape shape;
  shape.threads = value_of(configuration, "threads", 256);
  shape.group = value_of(configuration, "group", 32);
  shape.vector = value_of(configuration, "vector", 1);
  shape.unroll = value_of(configuration, "unroll", 1);
  shape.splits = value_of(configuration, "splits", 1);
  shape.hold = value_of(configuration, "hold", 0) != 0;
  return write_row_kernels(*program, shape, prefix);
}

} // namespace

const Family kRowFamily{.name = "rows",
                        .claims = claims,
                        .takes_prologue = true,
                        .takes_epilogue = true,
                        .configurations = configurations,
                        .lower = lower};

} // namespace warpwright::generator
