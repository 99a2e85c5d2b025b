// Reader, writer and in-memory index of record files.
#include "trainer/records/record_book.h"

#include "support/model/json.h"
#include "trainer/records/measured_json.h"
#include "trainer/records/unpacked.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace warpwright::trainer {
namespace {

using Json = nlohmann::json;

constexpr int kFormatVersion = 1;
constexpr std::pair<std::string_view, Split> kSplits[] = {
    {"training", Split::Training}, {"validation", Split::Validation}, {"held-out", Split::HeldOut}};

Result<std::string> contents(const std::string &path) {
  auto text = unpacked_text(path);
  if (!text && !std::filesystem::exists(path))
    return fail("cannot read " + path, "Collect records first: warpwright-train collect");
  return text;
}

} // namespace

std::string_view name(Split split) {
  return std::ranges::find(kSplits, split, &std::pair<std::string_view, Split>::second)->first;
}

Result<Split> split_from(const std::string &name) {
  for (const auto &[text, split] : kSplits)
    if (text == name)
      return split;
  return fail("there is no split " + name, "There are training, validation and held-out");
}

RecordBook::RecordBook() = default;

Result<RecordBook> RecordBook::read(const std::string &path) {
  auto text = TRY(contents(path));
  RecordBook book;
  if (auto loaded = book.load(text); !loaded)
    return fail(path + ": " + loaded.error().message, loaded.error().remedy);
  return book;
}

Result<RecordBook> RecordBook::append_to(const std::string &path) {
  if (path.ends_with(".xz") || path.ends_with(".gz"))
    return fail("cannot append to " + path, "Unpack it first, or name another file");
  RecordBook book;
  if (std::filesystem::exists(path)) {
    auto text = TRY(contents(path));
    const std::size_t whole = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    std::error_code failed;
    std::filesystem::resize_file(path, whole, failed);
    if (failed)
      return fail("cannot cut the torn last line off " + path + ": " + failed.message());
    if (auto loaded = book.load(text.substr(0, whole)); !loaded)
      return fail(path + ": " + loaded.error().message, loaded.error().remedy);
  }
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code ignored; // opening the file reports the problem
    std::filesystem::create_directories(folder, ignored);
  }
  book.path_ = path;
  book.file_ = std::make_unique<std::ofstream>(path, std::ios::binary | std::ios::app);
  if (!*book.file_)
    return fail("cannot append to " + path, "Name a file that can be written");
  if (book.tasks_.empty() && std::filesystem::file_size(path) == 0)
    TRY(book.write_line({{"warpwright_records", kFormatVersion}}));
  return book;
}

Result<void> RecordBook::load(const std::string &text) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (lines.eof() && !text.ends_with('\n'))
      break; // torn last line
    Result<void> taken;
    try {
      taken = take_line(Json::parse(line));
    } catch (const std::exception &error) { // invalid JSON, or an undefined number
      taken = fail(error.what());
    }
    if (!taken)
      return fail("line " + std::to_string(number) + ": " + taken.error().message,
                  taken.error().remedy);
  }
  return {};
}

Result<void> RecordBook::take_line(const Json &line) {
  if (line.contains("warpwright_records")) {
    if (line.at("warpwright_records") != kFormatVersion)
      return fail("records of format " + line.at("warpwright_records").dump(),
                  "This program reads format " + std::to_string(kFormatVersion));
  } else if (line.contains("move")) {
    move_numbers_[line.at("move")] = int(moves_.size());
    moves_.push_back(line.at("move"));
  } else if (line.contains("device")) {
    devices_.push_back(TRY(model::device_from_json(line.at("device"))));
  } else if (line.contains("task")) {
    auto split = TRY(split_from(line.at("split")));
    const std::string id = line.at("task");
    tasks_[id] = {id,
                  line.at("family"),
                  line.at("language"),
                  line.at("kernel"),
                  split,
                  line.at("hash"),
                  line.at("definition"),
                  line.value("graph", ""),
                  {},
                  {}};
    task_numbers_[id] = int(task_order_.size());
    task_order_.push_back(id);
  } else if (line.contains("state")) {
    const Json &path = line.at("state");
    const StateRecord state{moves_of(path, 1), line.at("text"), moves_of(line.at("legal"), 0)};
    tasks_.at(task_order_.at(path.at(0))).states[state.moves] = state;
  } else if (line.contains("verdict")) {
    auto measured = TRY(measured_from_json(line));
    const Json &place = line.at("verdict");
    measured.device = device_key(devices_.at(place.at(1)));
    tasks_.at(task_order_.at(place.at(0))).verdicts[measured.device][line.at("text")] = measured;
  } else {
    return fail("this is not a record");
  }
  return {};
}

const TaskRecord *RecordBook::find(const std::string &task) const {
  const auto found = tasks_.find(task);
  return found == tasks_.end() ? nullptr : &found->second;
}

const StateRecord *RecordBook::find_state(const std::string &task, const Moves &moves) const {
  const TaskRecord *record = find(task);
  if (!record)
    return nullptr;
  const auto found = record->states.find(moves);
  return found == record->states.end() ? nullptr : &found->second;
}

const Measured *RecordBook::find_verdict(const std::string &task, const std::string &text_hash,
                                         const std::string &device) const {
  const TaskRecord *record = find(task);
  if (!record)
    return nullptr;
  for (const auto &[name, verdicts] : record->verdicts) {
    const auto found = verdicts.find(text_hash);
    if ((device.empty() || device == name) && found != verdicts.end())
      return &found->second;
  }
  return nullptr;
}

std::optional<double> RecordBook::confirmed_speedup(const std::string &task,
                                                    const std::string &device) const {
  std::optional<double> best;
  const TaskRecord *record = find(task);
  if (!record || !record->verdicts.contains(device))
    return best;
  for (const auto &[text, measured] : record->verdicts.at(device))
    if (measured.confirmed && measured.speedup)
      best = std::max(best.value_or(0), measured.speedup->ratio);
  return best;
}

Result<void> RecordBook::add_task(const TrainingTask &task, const Json &definition,
                                  const std::string &hash, const std::string &graph) {
  if (const TaskRecord *known = find(task.id)) {
    if (known->hash != hash)
      return fail("task " + task.id + " was recorded with another definition",
                  "Give it a new id, or collect into a new file");
    return {};
  }
  Json line{{"task", task.id},           {"family", task.family}, {"split", name(task.split)},
            {"language", task.language}, {"kernel", task.kernel}, {"hash", hash},
            {"definition", definition}};
  if (!graph.empty())
    line["graph"] = graph;
  TRY(take_line(line));
  return write_line(line);
}

Result<void> RecordBook::add_device(const model::DeviceInfo &device) {
  for (const model::DeviceInfo &known : devices_)
    if (device_key(known) == device_key(device))
      return {};
  devices_.push_back(device);
  return write_line({{"device", model::to_json(device)}});
}

Result<void> RecordBook::add_state(const std::string &task, const StateRecord &state) {
  if (!find(task))
    return fail("no task " + task + " is recorded");
  if (find_state(task, state.moves))
    return {};
  auto moves = move_numbers(state.moves);
  auto legal = move_numbers(state.legal);
  if (!moves || !legal)
    return std::unexpected((moves ? legal : moves).error());
  moves->insert(moves->begin(), task_numbers_.at(task));
  tasks_.at(task).states[state.moves] = state;
  return write_line({{"state", *moves}, {"text", state.text_hash}, {"legal", *legal}});
}

Result<void> RecordBook::add_verdict(const std::string &task, const std::string &text_hash,
                                     const Measured &measured) {
  const auto device = std::ranges::find(devices_, measured.device, device_key);
  if (!find(task) || device == devices_.end())
    return fail("no task " + task + " or no device " + measured.device + " is recorded");
  Measured &known = tasks_.at(task).verdicts[measured.device][text_hash];
  if (known == measured)
    return {};
  known = measured;
  Json line = to_json(measured);
  line["verdict"] = {task_numbers_.at(task), device - devices_.begin()};
  line["text"] = text_hash;
  return write_line(line);
}

std::vector<TrainingTask> recorded_tasks(const RecordBook &book) {
  std::vector<TrainingTask> tasks;
  for (const auto &[id, record] : book.tasks()) {
    TrainingTask task;
    task.id = id;
    task.family = record.family;
    task.split = record.split;
    task.language = record.language;
    task.kernel = record.kernel;
    tasks.push_back(std::move(task));
  }
  return tasks;
}

Result<void> RecordBook::add(const RecordBook &other) {
  for (const model::DeviceInfo &device : other.devices())
    TRY(add_device(device));
  for (const TrainingTask &task : recorded_tasks(other)) {
    const TaskRecord &record = *other.find(task.id);
    TRY(add_task(task, record.definition, record.hash, record.graph));
    for (const auto &[moves, state] : record.states)
      TRY(add_state(task.id, state));
    for (const auto &[device, verdicts] : record.verdicts)
      for (const auto &[text, measured] : verdicts)
        TRY(add_verdict(task.id, text, measured));
  }
  return {};
}

Result<void> RecordBook::write_line(const Json &line) {
  if (!file_)
    return {};
  *file_ << line.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n' << std::flush;
  if (!*file_)
    return fail("cannot write to " + path_, "Is the disk full? What was written before is kept");
  return {};
}

Result<int> RecordBook::move_number(const std::string &move) {
  const auto [place, is_new] = move_numbers_.emplace(move, int(moves_.size()));
  if (is_new) {
    moves_.push_back(move);
    TRY(write_line({{"move", move}}));
  }
  return place->second;
}

Result<Json> RecordBook::move_numbers(const Moves &moves) {
  Json numbers = Json::array();
  for (const std::string &move : moves)
    numbers.push_back(TRY(move_number(move)));
  return numbers;
}

Moves RecordBook::moves_of(const Json &numbers, std::size_t first) const {
  Moves moves;
  for (std::size_t i = first; i < numbers.size(); ++i)
    moves.push_back(moves_.at(numbers.at(i)));
  return moves;
}

} // namespace warpwright::trainer
