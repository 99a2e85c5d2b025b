// Heuristics for the shapes of row regions; see row_guesses.h.
#include "generator/families/rows/row_guesses.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace warpwright::families::rows {
namespace {

using Count = std::int64_t;

/// Threads per multiprocessor that keep enough loads in flight.
constexpr Count kThreadsAMultiprocessor = 1024;
/// Row length above which several blocks share a row if there are few rows.
constexpr Count kLongRow = 32768;
constexpr Count kSharedBytes = 48 * 1024;

Count ceil_divide(Count a, Count b) { return (a + b - 1) / b; }
Count power_of_two_at_least(Count value) {
  return static_cast<Count>(std::bit_ceil(static_cast<std::uint64_t>(std::max<Count>(1, value))));
}
Count power_of_two_at_most(Count value) {
  return static_cast<Count>(std::bit_floor(static_cast<std::uint64_t>(std::max<Count>(1, value))));
}

/// 4-byte words that a thread may hold without spills: it has 64 registers at 1024 threads, 128 at 512.
Count held_limit(Count threads) { return threads > 512 ? 32 : 64; }

/// The same limit if a multiprocessor runs a single block.
Count cluster_limit(Count threads) { return threads > 384 ? 64 : threads > 256 ? 128 : 192; }

class Guesser {
public:
  Guesser(const RowProgram &program, const ops::GraphIndex &graph,
          const elements::DeviceFacts &device)
      : rows_(program.rows), length_(program.row_length), columns_(program.groups.back().size),
        inner_(program.reduces_inner()),
        several_passes_(program.passes > 1), multiprocessors_(device.multiprocessors),
        clusters_(device.clusters), gangs_(device.gangs),
        cache_bytes_(device.rates.rows.cache_bytes) {
    const RowPasses held = plan_passes(program, graph, true);
    const auto consider = [&](const std::string &value) {
      smallest_ = std::min<Count>(smallest_, model::size_bytes(graph.node(value).type().dtype));
    };
    for (const RowPass &pass : held.passes)
      std::ranges::for_each(pass.leaves, consider);
    for (const RowOutput &output : program.outputs)
      if (output.value.kind == RowValue::Kind::Element)
        consider(output.node);
    held_words_ = held_words(program, graph, held);
    for (const RowReduction &reduction : program.reductions)
      state_bytes_ += state_bytes(reduction);
    vector_ = static_cast<int>(std::clamp<Count>(16 / smallest_, 1, 8));
    while (program.groups.back().size % vector_ != 0)
      vector_ /= 2;
  }

  std::vector<RowGuess> run() {
    if (inner_)
      guess_inner();
    else
      guess_columns();
    // Small clusters beat gangs; gangs of up to 64 blocks beat kernels that read a row twice (measured on an H200).
    const bool gang_first = !gang_guesses_.empty() && !is_cached() &&
                            gang_guesses_[0].shape.gang <= 64 &&
                            (found_.empty() || found_[0].shape.cluster == 1 ||
                             found_[0].shape.cluster * found_[0].shape.threads == 4096);
    found_.insert(found_.begin() + std::min<std::ptrdiff_t>(gang_first    ? 0
                                                            : is_cached() ? 4
                                                                          : 2,
                                                            std::ssize(found_)),
                  gang_guesses_.begin(), gang_guesses_.end());
    return std::move(found_);
  }

private:
  void add(const RowShape &shape) {
    const auto same = [&](const RowGuess &other) {
      const RowShape &o = other.shape;
      return o.threads == shape.threads && o.group == shape.group && o.vector == shape.vector &&
             o.unroll == shape.unroll && o.splits == shape.splits && o.gang == shape.gang &&
             o.cluster == shape.cluster && o.hold == shape.hold;
    };
    if (std::ranges::none_of(found_, same))
      found_.push_back({shape, !shape.hold});
  }
  /// Maximum number of 4-byte words per element that stay in registers between two passes.
  static Count held_words(const RowProgram &program, const ops::GraphIndex &graph,
                          const RowPasses &passes) {
    Count most = 1;
    for (int pass = 0; pass + 1 < program.passes; ++pass) {
      Count words = 0;
      for (const std::string &value : passes.held) {
        const RowValue &known = program.values.at(value);
        const bool made = known.kind == RowValue::Kind::Free || known.pass <= pass;
        const bool needed = std::any_of(
            passes.passes.begin() + pass + 1, passes.passes.end(), [&](const RowPass &later) {
              return std::ranges::find(later.reused, value) != later.reused.end();
            });
        if (made && needed)
          words += graph.node(value).type().dtype == model::Dtype::Float64 ? 2 : 1;
      }
      most = std::max(most, words);
    }
    return most;
  }

  static Count state_bytes(const RowReduction &reduction) {
    const ops::Reduction kind = reduction.kind;
    if (kind == ops::Reduction::Variance)
      return 24;
    const bool has_position =
        kind == ops::Reduction::ArgMaximum || kind == ops::Reduction::ArgMinimum;
    return reduction.is_exponential_sum() || has_position ? 16 : 8;
  }

  static int narrow(Count value) { return static_cast<int>(value); }

  /// Adds a shape that holds a row in the registers of `group` threads of a block, if the row fits.
  void add_inner_held(Count group) {
    const Count vectors = length_ / vector_, unroll = ceil_divide(vectors, group);
    const Count limit = several_passes_ ? held_limit(group) : 64;
    if (group > 1024 || unroll * vector_ * held_words_ > limit)
      return;
    add({.threads = narrow(std::max<Count>(group, 128)),
         .group = narrow(group),
         .vector = vector_,
         .unroll = narrow(unroll),
         .hold = several_passes_});
  }

  void add_inner_cluster(Count threads, Count blocks) {
    const Count unroll = ceil_divide(length_ / vector_, threads * blocks);
    if (!clusters_ || unroll * vector_ * held_words_ > cluster_limit(threads) || unroll < 2)
      return;
    add({.threads = narrow(threads),
         .group = narrow(threads * blocks),
         .vector = vector_,
         .unroll = narrow(unroll),
         .cluster = narrow(blocks),
         .hold = true});
  }

  /// Adds gangs of 512-thread blocks with at most `words` held words per thread. A multiprocessor runs two such blocks
  /// with up to 32 words, one with more. The number of gangs fills the device.
  void add_inner_gang(Count words) {
    const Count vectors = ceil_divide(length_ / vector_, 512), resident = words > 32 ? 1 : 2;
    const Count places = multiprocessors_ * resident, most = words / (vector_ * held_words_);
    if (!gangs_ || most < 1 || ceil_divide(vectors, most) > places)
      return;
    const Count gangs = std::clamp<Count>(places / ceil_divide(vectors, most), 1, rows_);
    const Count unroll = ceil_divide(vectors, places / gangs),
                blocks = ceil_divide(vectors, unroll);
    if (blocks < 2)
      return;
    gang_guesses_.push_back({{.threads = 512,
                              .group = narrow(512 * blocks),
                              .vector = vector_,
                              .unroll = narrow(unroll),
                              .gang = narrow(blocks),
                              .resident = narrow(resident),
                              .hold = true},
                             false});
  }

  void add_inner_streamed(Count group, Count splits) {
    const Count share = ceil_divide(length_, splits) / (group * vector_);
    add({.threads = narrow(std::max<Count>(group, 256)),
         .group = narrow(group),
         .vector = vector_,
         .unroll = narrow(std::clamp<Count>(share, 1, 4)),
         .splits = narrow(splits)});
  }

  /// Number of blocks per row at which all run at once, rounded to a power of two (no tails) where that costs little.
  Count splits_of_rows() const {
    const Count wanted = std::max<Count>(2, Count{multiprocessors_} * 8 / rows_);
    const Count limit = std::max<Count>(1, length_ / 4096);
    const Count power = power_of_two_at_most(wanted);
    return std::min(limit, power * 10 >= wanted * 7 ? power : wanted);
  }

  void guess_clusters() {
    bool any = false;
    for (const Count blocks : {2, 4, 8})
      if (several_passes_ && (!any || blocks * rows_ <= Count{multiprocessors_} * 2) &&
          (blocks < 8 || !is_cached())) {
        const std::size_t before = found_.size();
        add_inner_cluster(512, blocks);
        any |= found_.size() > before;
      }
  }

  /// True if a second pass finds most rows in the second-level cache.
  bool is_cached() const { return rows_ * length_ * 4 <= 2 * cache_bytes_; }

  /// Returns the threads for each row of a problem that memory does not limit: the instructions of all threads take
  /// turns, those of one thread wait for each other.
  Count quickest_group(Count vectors) const {
    constexpr Count kMostVectors = 8, kLanes = 128, kCyclesBetween = 4;
    Count best = 512, least = std::numeric_limits<Count>::max();
    for (Count group = 1; group <= 512; group *= 2) {
      const Count unroll = ceil_divide(vectors, group);
      if (unroll > kMostVectors)
        continue;
      const Count levels = std::bit_width(static_cast<std::uint64_t>(group)) - 1,
                  merges = levels * (state_bytes_ - 4), barrier = group > 32 ? 30 : 0,
                  instructions = unroll * vector_ * 8 + merges + barrier + 40;
      const Count cycles = rows_ * group * instructions / (Count{multiprocessors_} * kLanes) +
                           instructions * kCyclesBetween;
      if (cycles < least) {
        least = cycles;
        best = group;
      }
    }
    return best;
  }

  void guess_inner() {
    const Count vectors = length_ / vector_;
    const bool too_few = rows_ < multiprocessors_ && length_ > kLongRow;
    if (length_ > kLongRow)
      guess_clusters();
    if (several_passes_ && length_ > 131072) {
      if (found_.empty() && !is_cached())
        for (const Count threads : {384, 256})
          add_inner_cluster(threads, 8);
      add_inner_gang(32);
      add_inner_gang(64);
    }
    // One block of 1024 threads per row finds the row in the cache again; with fewer rows too much of the GPU is idle.
    if (too_few && several_passes_ && rows_ * 2 >= multiprocessors_ * 9 / 10)
      add_inner_streamed(1024, 1);
    if (too_few) {
      const Count splits = splits_of_rows();
      for (const Count count : {splits, splits * 2, splits / 2, splits / 4})
        if (count > 1)
          add_inner_streamed(256, count);
    }
    // Threads hold up to 8 vectors in groups of at most one warp, 4
    // in larger groups; the total number of threads must suffice.
    const Count wanted = Count{multiprocessors_} * kThreadsAMultiprocessor;
    Count group = power_of_two_at_least(ceil_divide(vectors, 8));
    if (group < 8 || group > 32)
      group = std::max<Count>(std::min<Count>(8, power_of_two_at_least(vectors)),
                              power_of_two_at_least(ceil_divide(vectors, 4)));
    if (rows_ * vectors < wanted * 4)
      group = quickest_group(vectors);
    group = std::clamp<Count>(group, 1, 512);
    const std::size_t before = found_.size();
    for (const Count size : {group, group * 2, group / 2, group * 4, group / 4, group / 8})
      if (size >= 1)
        add_inner_held(size);
    const bool fits = found_.size() > before;
    if (length_ > 8192 && length_ <= kLongRow)
      guess_clusters();
    // Larger blocks come first: fewer rows are in flight, so the second pass finds more of them in the cache.
    for (const Count size : {1024, 512, 256})
      if (size <= vectors && !(too_few && size == 256))
        add_inner_streamed(size, 1);
    if (!fits && vectors < 512)
      add_inner_streamed(32, 1);
    if (found_.empty())
      add_inner_streamed(power_of_two_at_most(std::clamp<Count>(vectors, 1, 32)), 1);
  }

  /// Steps along a row that each of its threads takes.
  Count steps_of_part(Count parts, Count splits) const {
    return ceil_divide(ceil_divide(length_, splits), parts);
  }

  void add_columns_of(Count threads, Count parts, int vector, Count splits, bool hold) {
    const Count share = steps_of_part(parts, splits);
    if ((parts > 1 && column_states(threads, parts, vector) * state_bytes_ > kSharedBytes) ||
        (hold && share * vector * held_words_ > held_limit(threads)))
      return;
    const Count unroll = hold ? share : std::clamp<Count>(share, 1, vector >= 4 ? 4 : 8);
    add({.threads = narrow(threads),
         .group = narrow(parts),
         .vector = vector,
         .unroll = narrow(unroll),
         .splits = narrow(splits),
         .hold = hold});
  }

  void add_columns(Count parts, int vector, Count splits, bool hold) {
    const Count threads = parts > 8 ? parts * 32 : 256;
    if (parts <= 32 && parts <= std::max<Count>(1, length_))
      add_columns_of(threads, parts, vector, splits, hold);
  }

  /// Number of threads of a block that share a column, so that enough threads run.
  Count column_parts(int vector) const {
    const Count wanted = Count{multiprocessors_} * kThreadsAMultiprocessor;
    Count parts = std::clamp<Count>(
        power_of_two_at_least(ceil_divide(wanted, ceil_divide(rows_, vector))), 1, 16);
    while (parts > 1 && parts > length_)
      parts /= 2;
    return parts;
  }

  /// Adds shapes in which neighboring threads take the elements of neighboring steps along a row, for few columns: red,
  /// green and blue, or the channels of a sensor. A warp then reads memory in its order.
  void add_narrow_columns() {
    constexpr Count kWarp = 32, kLeastSteps = 4;
    for (const int vector : {vector_, std::max(1, vector_ / 4)}) {
      const Count lanes = columns_ / vector;
      if (lanes >= kWarp)
        continue;
      const auto add_shape = [&](Count parts, Count splits, bool hold) {
        const Count threads = parts * lanes;
        if (parts >= 2 && threads % kWarp == 0 && threads <= 1024 &&
            steps_of_part(parts, splits) >= kLeastSteps)
          add_columns_of(threads, parts, vector, splits, hold);
      };
      if (several_passes_)
        add_shape(power_of_two_at_least(ceil_divide(length_ * vector * held_words_, 32)), 1, true);
      for (const Count threads : {512, 256}) {
        const Count parts = power_of_two_at_most(threads / lanes),
                    blocks = rows_ / (lanes * vector),
                    wanted = ceil_divide(Count{4} * multiprocessors_, blocks);
        add_shape(parts, std::clamp<Count>(wanted, 1, std::max<Count>(1, length_ / (parts * 8))), false);
      }
    }
  }

  void guess_columns() {
    constexpr Count kWholeSectors = 64; ///< bytes beside each other that cost little more than neighbors of a warp's
    const bool narrow_first = columns_ * smallest_ < kWholeSectors;
    if (narrow_first)
      add_narrow_columns();
    // Wide vectors come first only if they leave enough blocks of a warp's width.
    const int narrow_vector = std::max(1, vector_ / 4);
    const bool enough = rows_ / vector_ / 32 >= multiprocessors_;
    const int vectors[] = {enough ? vector_ : narrow_vector, enough ? narrow_vector : vector_};
    if (several_passes_)
      for (const int vector : vectors)
        // About 32 held words per thread come first: more would cost a multiprocessor its second block.
        for (const Count words : {32, 64, 16}) {
          const Count fitting =
              power_of_two_at_least(ceil_divide(length_ * vector * held_words_, words));
          add_columns(std::max(fitting, std::min<Count>(column_parts(vector), 8)), vector, 1, true);
        }
    for (const int vector : vectors) {
      const Count parts = column_parts(vector);
      const Count blocks =
          ceil_divide(ceil_divide(rows_, vector), (parts > 8 ? parts * 32 : 256) / parts);
      Count splits = 1;
      if (blocks < multiprocessors_ && length_ > parts * 32)
        splits = std::clamp<Count>(ceil_divide(Count{2} * multiprocessors_, blocks), 1,
                                   ceil_divide(length_, parts * 16));
      for (const Count count : {splits, splits * 2, splits / 2})
        if (count > 1 || (count == 1 && splits == 1))
          add_columns(parts, vector, count, false);
      for (const Count other : {parts * 2, parts / 2})
        if (other >= 1)
          add_columns(other, vector, splits, false);
    }
    if (!narrow_first)
      add_narrow_columns();
    if (found_.empty())
      add_columns(1, 1, 1, false);
  }

  Count rows_, length_;
  Count columns_;       ///< extent of the innermost group of dimensions
  Count smallest_ = 8;  ///< bytes of the narrowest element that is read or written
  bool inner_, several_passes_;
  int multiprocessors_;
  bool clusters_, gangs_; ///< gangs on GPUs of data centres, whose multiprocessors are many
  Count cache_bytes_;
  Count held_words_ = 1;  ///< 4-byte words held for each element
  Count state_bytes_ = 0; ///< at most what a thread accumulates for a row
  int vector_ = 1;
  std::vector<RowGuess> found_, gang_guesses_;
};

} // namespace

std::vector<RowGuess> guess_row_shapes(const RowProgram &program, const ops::GraphIndex &expanded,
                                       const elements::DeviceFacts &device) {
  return Guesser(program, expanded, device).run();
}

} // namespace warpwright::families::rows
