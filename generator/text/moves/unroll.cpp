// Move unroll(factor): `#pragma unroll` before the innermost loops, so that more loads are in
// flight.
//
// Also in device functions that only this kernel runs. Legal if there is a loop without such a pragma
// that contains no barrier.
#include "generator/text/moves/move_kind.h"

namespace warpwright::moves {
namespace {

bool has_pragma(const source::KernelSource &source, std::size_t loop) {
  return source::with_pragmas(source.text(), loop) != loop;
}

/// Offsets of the innermost loops that stand on lines of their own and have no pragma.
std::vector<std::size_t> innermost_loops(const source::KernelSource &source) {
  std::vector<std::size_t> begins;
  for (const auto *loop : source::find_all<clang::ForStmt>(source.own_bodies()))
    if (const auto range = source.range_of(loop);
        range && source::starts_line(source.text(), range->begin) && !has_pragma(source, range->begin) &&
        !source::has_collective(loop->getBody()) &&
        source::find_all<clang::ForStmt>(loop->getBody()).empty() &&
        source::find_all<clang::WhileStmt>(loop->getBody()).empty())
      begins.push_back(range->begin);
  return begins;
}

} // namespace

Result<Offer> offer_unroll(const source::KernelSource &source) {
  const auto loops = innermost_loops(source);
  if (loops.empty())
    return fail("there is no loop without a barrier and without a pragma");
  return Offer{choices_of("factor", {2, 4, 8}), [&source, loops](const Parameters &choice) {
                 source::Edits edits;
                 for (const std::size_t begin : loops)
                   edits.push_back({{begin, begin},
                                    "#pragma unroll " + choice.at("factor") + "\n" +
                                        indentation_at(source.text(), begin)});
                 return edits;
               }};
}

} // namespace warpwright::moves
