// Facts of recorded kernels, which Clang found (generator/search/kernel_numbers.h), as a file
// beside the records.
//
// The trainer has no Clang: `warpwright env` answers with the facts once, and later trainings read
// the file. Lines:
//   {"warpwright_kernel_facts": 1, "templates": ["gemm", ...]}
//   {"source": SHA-256 of the reference's source, "kernel": {"barriers": 2, ...}}
// Thread: any.
#pragma once

#include "trainer/ranker/features.h"
#include "trainer/records/record_book.h"

#include <set>

namespace warpwright::trainer {

class EnvLine;

struct KernelFacts {
  std::set<std::string> templates;              ///< names of the moves that the search tries first
  std::map<std::string, KernelNumbers> kernels; ///< by SHA-256 of the reference's source
};

/// Asks for the facts of all CUDA kernels of a book. Errors: the environment's, with the task.
Result<KernelFacts> ask_kernel_facts(const RecordBook &book, EnvLine &env);

/// Errors: a file that cannot be read or written, or is none of these; with its path.
Result<KernelFacts> read_kernel_facts(const std::string &path);
Result<void> write_kernel_facts(const KernelFacts &facts, const std::string &path);

} // namespace warpwright::trainer
