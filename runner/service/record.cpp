// A job's record. The seed is random, so no candidate can know its inputs beforehand, and it is in
// the verdict, so everybody can reproduce them afterwards.
#include "runner/service/record.h"
#include "support/version.h"

#include <random>

namespace warpwright::runner {

using rpc::Json;

void carry_record(QueuedJob &job) {
  if (job.options.seed == 0) {
    std::random_device random;
    while (job.options.seed == 0)
      job.options.seed = (std::uint64_t{random()} << 32) | random();
    job.request["options"]["seed"] = job.options.seed;
  }
  Json record = job.request;
  record["options"].erase("job");
  record["runner_version"] = version();
  job.done = [done = std::move(job.done), record = std::move(record)](rpc::Outcome outcome) {
    if (outcome && outcome->is_object())
      (*outcome)["record"] = record;
    done(std::move(outcome));
  };
}

} // namespace warpwright::runner
