// Move split_loop(threads): neighboring threads share the iterations of one thread's loops.
//
//   float sum = 0;                                   float sum = 0;
//   for (int j = 0; j < n; ++j)                      for (int j = lane; j < n; j += 8)
//     sum += a[i * n + j] * x[j];       becomes        sum += a[i * n + j] * x[j];
//   y[i] = sum;                                      for (int offset = 4; offset > 0; offset >>= 1)
//                                                      sum = sum + __shfl_xor_sync(group, sum, offset);
//                                                    if (lane == 0)
//                                                      y[i] = sum;
//
// It pays if there are fewer elements than the GPU runs threads, or if each thread reads a separate
// row (cross-thread reduction; for sparse matrices Bell and Garland, "Efficient sparse matrix-vector
// multiplication on CUDA", 2008). All else is computed by all threads of a group with the same
// values, and one of them stores. The grid grows. A block too small to be divided grows instead, and
// a block of one thread may become a group of many warps. Legal for loops with independent
// iterations (lift/parallel_loop.h), without shared memory, barriers and warp operations.
#include "generator/text/moves/move_kind.h"

#include "generator/text/lift/shared_loops.h"
#include "generator/text/source/thread_places.h"

#include <clang/AST/Attr.h>

#include <algorithm>

namespace warpwright::moves {
namespace {

struct Split {
  lift::GroupWork work;
  bool grows_block = false; ///< the block grows by the threads of a group; else the grid does
};

/// Errors: the reason why groups of threads cannot run the kernel, whatever its loops are.
Result<void> check_kernel(const source::KernelSource &source) {
  if (!source.has_all_launches())
    return fail("there is no launch with a grid that could grow");
  if (source.body_text().contains("__shared__") || source::has_collective(source.body()))
    return fail("the kernel uses shared memory, a barrier or warp operations");
  if (const std::string why = lift::refuses_groups(source); !why.empty())
    return fail(why);
  return {};
}

/// The group of a number of threads. Errors: the block does not allow it.
Result<Split> group_of(const source::IndexReader &form, int threads) {
  const source::KernelSource &source = form.source();
  const auto [x, y, z] = form.block();
  if (!x || !y || !z)
    return fail("the block's size is not known");
  Split split;
  split.grows_block = *x % threads != 0;
  const std::int64_t width = split.grows_block ? *x * threads : *x;
  if (split.grows_block && (source.kernel()->hasAttr<clang::CUDALaunchBoundsAttr>() || width * *y * *z > 1024))
    return fail("the block can neither be divided nor grow");
  if (threads > 32 && *x * *y * *z != 1)
    return fail("only a block of one thread becomes more than a warp");
  templates::ThreadGroup &group = split.work.group;
  group.threads = threads;
  group.lane = source.unused_name("lane");
  if (threads < 32)
    group.mask = source.unused_name("group");
  if (width % 32 != 0 && (*y != 1 || *z != 1))
    group.lane_in_warp = std::string("(threadIdx.x + blockDim.x * ") +
                         (*z == 1 ? "threadIdx.y" : "(threadIdx.y + blockDim.y * threadIdx.z)") + ") % 32";
  for (const char *name : {"offset", "element", "element1", "element2", "partials"})
    if (source.unused_name(name) != name)
      group.taken.insert(name);
  return split;
}

Result<Split> split_of(const source::IndexReader &form, int threads) {
  Split split = TRY(group_of(form, threads));
  const clang::Stmt *body = form.source().body();
  split.work.loops = TRY(lift::shared_loops(form, body, threads));
  std::set<const clang::Stmt *> loops;
  for (const lift::SharedLoop &shared : split.work.loops)
    loops.insert(shared.loop.loop);
  split.work.runs = TRY(lift::leader_runs(form, body, loops));
  return split;
}

Result<source::Edits> edits_of(const source::IndexReader &form, const Split &split) {
  const source::KernelSource &source = form.source();
  const templates::ThreadGroup &group = split.work.group;
  const auto places = TRY(source::divided_places(form, group.threads, split.grows_block));
  const std::string declarations = source::without_trailing_space(
      source::indent(group.declarations() + places.declarations, source.body_indent(), source.indent_step()));
  const std::size_t begin = source.body_inside().begin;
  source::Edits edits{{{begin, begin}, "\n" + declarations}};
  const auto shared = TRY(lift::group_edits(form, split.work));
  edits.insert(edits.end(), places.edits.begin(), places.edits.end());
  edits.insert(edits.end(), shared.begin(), shared.end());
  if (!split.grows_block)
    change_grids(edits, source, [&](const std::string &grid) {
      const std::string factor = std::to_string(group.threads);
      return grid == "1" ? factor : source::parenthesised(grid) + " * " + factor;
    });
  else
    for (const clang::CUDAKernelCallExpr *launch : source.launches())
      source::add_edits(edits, source::LaunchSite(source, launch)
                                   .block()
                                   .replace(0, std::to_string(*form.block()[0] * group.threads)));
  return edits;
}

} // namespace

Result<Offer> offer_split_loop(const source::KernelSource &source) {
  TRY(check_kernel(source));
  const source::IndexReader form(source);
  std::map<std::string, Split> offered;
  std::vector<Parameters> choices;
  std::string why;
  for (const int threads : {8, 32, 4, 16, 128, 256, 1024}) {
    auto split = split_of(form, threads);
    const auto edits = split ? edits_of(form, *split) : Result<source::Edits>(std::unexpected(split.error()));
    if (!edits) {
      why = why.empty() ? edits.error().message : why;
      continue;
    }
    choices.push_back({{"threads", std::to_string(threads)}});
    offered.emplace(std::to_string(threads), std::move(*split));
  }
  if (choices.empty())
    return fail(why);
  const int block = static_cast<int>(*form.block()[0]);
  return Offer{choices,
               [&source, offered](const Parameters &choice) -> Result<source::Edits> {
                 const source::IndexReader form(source);
                 return edits_of(form, offered.at(choice.at("threads")));
               },
               [offered, block](const Parameters &choice) {
                 const int threads = number(choice, "threads");
                 source::LaunchChange change{.grid_factor = threads};
                 if (offered.at(choice.at("threads")).grows_block)
                   change.block[0] = block * threads;
                 return change;
               }};
}

} // namespace warpwright::moves
