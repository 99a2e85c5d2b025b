// Offer of templates over rows, with a warp or a block for each row: the parameters (threads, row).
#pragma once

#include "generator/text/lift/launches.h"
#include "generator/text/moves/move_kind.h"

namespace warpwright::moves {

/// @param match the result of a recognizer: a task, and `rows` as a polynomial
/// @param render (task, threads a block, threads a row, taken names) -> the body; a row has 32
///   threads or the block's
/// Errors: the error of `match`.
template <class Match, class Render>
Result<Offer> offer_rows(const source::KernelSource &source, const Result<Match> &match,
                         Render render) {
  const auto edits = [&source, render](const Match &found, const Parameters &choice) {
    const int threads = number(choice, "threads");
    const int threads_a_row = choice.at("row") == "warp" ? 32 : threads;
    return lift::replace_kernel(
        source, render(found.task, threads, threads_a_row, source.taken_names()), {found.rows},
        [&](const std::vector<std::string> &rows) {
          const int rows_a_block = threads / threads_a_row;
          return lift::ShapeTexts{
              {rows_a_block > 1 ? source::ceil_div_text(rows[0], rows_a_block) : rows[0], "1", "1"},
              {std::to_string(threads), "1", "1"}};
        });
  };
  return offer_of(match,
                  {{{"threads", "128"}, {"row", "warp"}},
                   {{"threads", "256"}, {"row", "block"}},
                   {{"threads", "128"}, {"row", "block"}},
                   {{"threads", "512"}, {"row", "block"}},
                   {{"threads", "256"}, {"row", "warp"}}},
                  edits);
}

} // namespace warpwright::moves
