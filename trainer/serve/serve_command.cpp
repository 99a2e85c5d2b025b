#include "trainer/serve/serve_command.h"

#include "support/model/json.h"
#include "trainer/records/measured_json.h"
#include "trainer/serve/front.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <filesystem>
#include <iostream>

namespace warpwright::trainer {
namespace {

Result<std::vector<Split>> splits_of(const ServeConfig &config) {
  std::vector<Split> splits;
  for (const std::string &name : config.splits)
    splits.push_back(TRY(split_from(name)));
  return splits;
}

/// Versions that recorded verdicts of this device know.
void take_records(Workplace &place, const std::string &device, ExemplarStore &store) {
  place.records().with([&](RecordBook &book) {
    for (const auto &[id, task] : book.tasks())
      for (const auto &[moves, state] : task.states)
        if (const Measured *known = book.find_verdict(id, state.text_hash, device)) {
          if (moves.empty())
            store.set_original(id, *known);
          else
            store.add(id, {moves, *known, ""});
        }
  });
}

/// Versions that clients of earlier runs found on this device.
Result<void> take_trajectories(const std::string &path, const std::string &device, ExemplarStore &store) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return {};
  return read_trajectories(path, [&](const nlohmann::json &line) {
    if (line.value("device", "") != device || !line.contains("verdict") || line.value("host_code", false))
      return;
    const auto measured = measured_from_json(line.at("verdict"));
    const Moves moves = line.value("moves", Moves{});
    if (measured && (!moves.empty() || line.contains("plan")))
      store.add(line.at("task"), {moves, *measured, moves.empty() ? line.at("plan").dump() : ""});
  });
}

} // namespace

Result<void> run_serve(const Config &config, const Surroundings &surroundings) {
  const auto splits = TRY(splits_of(config.serve));
  const auto workplace = TRY(Workplace::open(config));
  const TaskSet tasks(TRY(workplace->tasks(splits)));
  Environment &environment = workplace->environment();
  const std::string device = environment.device() ? device_key(*environment.device()) : "";
  ExemplarStore exemplars;
  TrajectoryLog log;
  take_records(*workplace, device, exemplars);
  TRY(take_trajectories(config.run.out + "/trajectories.jsonl", device, exemplars));
  TRY(log.open(config.run.out));
  boost::asio::io_context loop(1);
  EnvironmentService service(loop.get_executor(),
                             {environment, tasks, exemplars, log, config.serve,
                              *reward_rule_named(config.serve.reward), surroundings.stop},
                             std::size_t(config.environment.in_flight));
  const auto front = TRY(ServeFront::open(service, loop.get_executor(), config.serve));
  std::cerr << "serving " << tasks.all().size() << " tasks on " << front->url() << std::endl;
  const std::stop_callback stopping(surroundings.stop, [&] { boost::asio::post(loop, [&] { loop.stop(); }); });
  loop.run();
  return {};
}

} // namespace warpwright::trainer
