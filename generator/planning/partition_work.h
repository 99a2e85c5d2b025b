// The work of partition() in four parts, private to their files. partition.cpp: anchors with nodes
// fused to them. partition_outputs.cpp: what these regions store. partition_memory.cpp: inline
// values that lie in memory. partition_merge.cpp: pointwise regions, merged and put in order.
#pragma once

#include "generator/planning/partition.h"

namespace warpwright::planning {

/// Limit, in units of recompute_cost, for an element that is computed again, or for each element of a larger value.
inline constexpr int kCheapChain = 40;

/// True if a node is a cast of its operand to a wider floating-point type.
bool is_wider_copy(const ops::GraphIndex &graph, const model::Node &node);

class Partition {
public:
  Partition(const ops::GraphIndex &graph, const AnchorChoices &choices, const Siblings *siblings)
      : graph_(graph), choices_(choices), siblings_(siblings) {}
  std::vector<PlannedRegion> run();

private:
  struct Draft {
    PlannedRegion planned;
    std::set<std::string> members; ///< nodes that only this region computes
  };
  bool live(const std::string &name) const { return live_.contains(name); }
  const model::Node &node(const std::string &name) const { return graph_.node(name); }
  /// Returns the users of a value that are live.
  std::vector<const model::Node *> users(const std::string &name) const;
  void find_live();
  AnchorChoice choice_of(const std::string &anchor) const;
  /// Returns the family that lowers an anchor; null: the library does.
  const elements::Family *family_of(const model::Node &anchor) const;
  void grow_anchors();
  void grow_by_family(Draft &draft);
  /// Adds the `cat` nodes whose parts the family reads (Family::cats).
  void add_cats(Draft &draft);

  /// Returns true where a value depends on one of `members`, with regions computed as a whole.
  bool depends_on(const std::string &value, const std::set<std::string> &members) const;
  void grow_epilogue(Draft &draft);
  /// Adds the product that only the epilogue reads (AnchorChoice::twin), if there is one.
  void add_twin(Draft &draft);
  /// True if the region should not compute `last`, the last node of its epilogue: storing it would cost more than
  /// computing it where it is read.
  bool is_left_to_readers(const model::Node &last, const std::vector<std::string> &followers,
                          const std::string &anchor) const;
  static std::set<std::string> with(const std::vector<std::string> &names,
                                    const std::string &other);
  /// Removes from a region of reductions the pointwise values that cost more to store than to compute where they are
  /// read, all together (partition_outputs.cpp). Those that its reductions read become repeated_.
  void leave_to_readers(Draft &draft);
  class Leavable;

  /// Returns true for values always in memory: leaves, and members of anchored regions (their outputs).
  bool in_memory(const std::string &name) const;

  /// Returns how often an anchor's loops load an element of an operand.
  static std::int64_t reuse(const model::Node &anchor, const ops::GraphIndex &graph);

  /// Decides which inline values lie in memory, users before producers.
  void choose_memory();

  /// Returns true where an ATen region, or a family that only loads memory, reads the value as memory.
  bool wanted_by_library(const model::Node &value);

  /// Finds the large distinct values from which an element is computed.
  void large_sources(const model::Node &value, std::int64_t elements, std::set<std::string> &found,
                     std::set<std::string> &seen) const;
  bool worth_memory(const model::Node &value) const;
  /// Returns true where computing an element for each of `evaluations` costs more than a value in memory.
  /// @param inside values that are not in memory while they are computed together
  /// @param reuse how often an anchor asks for an element, which its neighbors share in the first-level cache
  bool is_too_much(const std::string &value, double evaluations, double reuse,
                   const std::set<std::string> &inside) const;
  /// Returns true for a large view whose neighbors in rows are far apart in memory, and which a kernel reads row by row:
  /// a transposing copy and a read of it take less time.
  bool is_read_across(const model::Node &value) const;
  /// Returns the computed value of which `value` is a transpose that only products of halves read:
  /// they take either order of memory, so that the value itself is stored. Null: it is none.
  const model::Node *turned_for_halves(const model::Node &value) const;

  /// Returns true for views that an attention need not read: heads that are repeated.
  bool is_read_around(const model::Node &value) const;

  /// Regions that would compute a value that is not in memory.
  struct Readers {
    std::set<std::string> regions; ///< by anchor, or by value in memory
    std::int64_t growth = 1;       ///< elements of the largest over those of the value
    std::int64_t most_behind_product = 0; ///< elements of the largest in the epilogue of a product
    std::int64_t most_reuse = 1;
    std::set<std::string> seen;
    std::set<std::string>
        positions;         ///< slices and flips of the value, each an evaluation of its own
    bool in_place = false; ///< it is also read as it is

    double evaluations() const { return std::max(1.0, static_cast<double>(positions.size()) + in_place); }
  };
  /// @param is_moved whether `value` is read through one of the positions
  void collect_readers(const model::Node &value, Readers &readers, bool is_moved = false) const;

  /// Lets the operands of a `cat` that lies in memory be computed in their places, where they are pointwise values of
  /// one shape, computed from common sources, and start at multiples of 16 bytes.
  void join_parts(const model::Node &cat);

  /// Finds the nodes that a region computes besides its members, and the values that it reads.
  void close(Draft &draft);
  void form_pointwise();
  static const elements::Family *pointwise_family();

  /// Returns the numbers of the drafts that a region reads from.
  std::set<int> sources(const Draft &draft) const;
  void index_producers();
  bool reaches(int from, int to, bool directly) const;
  bool related(const Draft &a, const Draft &b) const;
  /// Returns true where a region of both would compute too much of the one's values again for the other.
  bool repeats(const Draft &from, const Draft &by) const;

  /// Merges pointwise regions over the same shape, where no path through another region forbids it.
  void merge_siblings();
  std::vector<PlannedRegion> in_order();
  const ops::GraphIndex &graph_;
  const AnchorChoices &choices_;
  const Siblings *const siblings_;
  std::set<std::string> live_, memory_;
  std::set<std::string> costly_; ///< values that regions would compute too often
  std::set<std::string> repeated_; ///< values that a region of reductions computes, and each reader again
  std::map<std::string, model::Shape> strides_;
  std::map<std::string, elements::Place> places_; ///< of parts of values in joined_
  std::set<std::string> joined_; ///< values in memory that only their parts' regions write
  std::map<std::string, int> owner_, producer_;
  std::set<std::string> taken_; ///< the names in owner_
  std::vector<std::vector<std::size_t>> operands_; ///< by position in the graph
  std::vector<int> owners_;                        ///< by position; -1: none
  std::vector<Draft> drafts_;
};

} // namespace warpwright::planning
