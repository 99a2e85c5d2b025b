// Strict table reader over toml++, which knows the line of every value.
#include "trainer/config/table_reader.h"

#include <toml++/toml.h>

namespace warpwright::trainer {

struct TomlFile::Document {
  std::string path;
  toml::table root;

  std::string place(const toml::node &node) const {
    return path + ":" + std::to_string(node.source().begin.line) + ": ";
  }
};

TomlFile::TomlFile() : document_(std::make_unique<Document>()) {}
TomlFile::TomlFile(TomlFile &&) noexcept = default;
TomlFile::~TomlFile() = default;

Result<TomlFile> TomlFile::parse(const std::string &text, const std::string &path) {
  TomlFile file;
  file.document_->path = path;
  try {
    file.document_->root = toml::parse(text, path);
  } catch (const toml::parse_error &error) {
    return fail(path + ":" + std::to_string(error.source().begin.line) +
                    ": this is not TOML: " + std::string(error.description()),
                "Write key = value under [table] headings");
  }
  return file;
}

Result<void> TomlFile::set(const std::string &setting) {
  auto parsed = TRY(parse(setting, "--set " + setting));
  for (const auto &[table, fields] : parsed.document_->root) {
    if (!fields.is_table())
      return fail("--set " + setting + " names no table", "Write it as table.key=value");
    toml::table &root = document_->root;
    if (!root.contains(table))
      root.insert(table, toml::table());
    if (!root[table].is_table())
      continue; // allow() reports this key with its line
    for (const auto &[key, value] : *fields.as_table())
      root[table].as_table()->insert_or_assign(key, value);
  }
  return {};
}

Result<void> TomlFile::allow(const std::set<std::string> &known) const {
  std::string names;
  for (const std::string &name : known)
    names += (names.empty() ? "" : ", ") + name;
  for (const auto &[key, value] : document_->root)
    if (!known.contains(std::string(key.str())) || !value.is_table())
      return fail(document_->place(value) + std::string(key.str()) + " is not a table of a run",
                  "There are " + names);
  return {};
}

TableReader::TableReader(const TomlFile &file, std::string table)
    : file_(file), table_(std::move(table)) {}

namespace {

const toml::node *find(const toml::table &root, const std::string &table, const std::string &key) {
  const toml::table *fields = root[table].as_table();
  return fields ? fields->get(key) : nullptr;
}

std::string shown(double value) {
  std::string text = std::to_string(value);
  while (text.find('.') != std::string::npos && (text.back() == '0' || text.back() == '.')) {
    const bool dot = text.back() == '.';
    text.pop_back();
    if (dot)
      break;
  }
  return text;
}

} // namespace

void TableReader::refuse(const std::string &key, const std::string &why) {
  if (error_)
    return;
  const toml::node *node = find(file_.document_->root, table_, key);
  error_ = Error{file_.document_->place(*node) + table_ + "." + key + " " + why, {}};
}

TableReader &TableReader::read(const std::string &key, std::string &value) {
  asked_.insert(key);
  if (const toml::node *node = find(file_.document_->root, table_, key)) {
    if (const auto text = node->value_exact<std::string>())
      value = *text;
    else
      refuse(key, "is not a text: put it in quotes");
  }
  return *this;
}

TableReader &TableReader::read(const std::string &key, bool &value) {
  asked_.insert(key);
  if (const toml::node *node = find(file_.document_->root, table_, key)) {
    if (const auto flag = node->value_exact<bool>())
      value = *flag;
    else
      refuse(key, "is neither true nor false");
  }
  return *this;
}

TableReader &TableReader::read(const std::string &key, std::uint64_t &value) {
  asked_.insert(key);
  if (const toml::node *node = find(file_.document_->root, table_, key)) {
    if (const auto number = node->value_exact<std::int64_t>(); number && *number >= 0)
      value = std::uint64_t(*number);
    else
      refuse(key, "is not a whole number from 0 on");
  }
  return *this;
}

TableReader &TableReader::read(const std::string &key, int &value, int least, int most) {
  asked_.insert(key);
  if (const toml::node *node = find(file_.document_->root, table_, key)) {
    const auto number = node->value_exact<std::int64_t>();
    if (number && *number >= least && *number <= most)
      value = int(*number);
    else
      refuse(key,
             "is not a whole number in " + std::to_string(least) + ".." + std::to_string(most));
  }
  return *this;
}

TableReader &TableReader::read(const std::string &key, double &value, double least, double most) {
  asked_.insert(key);
  if (const toml::node *node = find(file_.document_->root, table_, key)) {
    const auto number = node->value<double>();
    if (number && *number >= least && *number <= most)
      value = *number;
    else
      refuse(key, "is not a number in " + shown(least) + ".." + shown(most));
  }
  return *this;
}

TableReader &TableReader::read(const std::string &key, std::vector<std::string> &value) {
  asked_.insert(key);
  const toml::node *node = find(file_.document_->root, table_, key);
  if (!node)
    return *this;
  std::vector<std::string> texts;
  if (const toml::array *array = node->as_array())
    for (const toml::node &element : *array)
      if (const auto text = element.value_exact<std::string>())
        texts.push_back(*text);
  if (node->as_array() && texts.size() == node->as_array()->size())
    value = texts;
  else
    refuse(key, "is not a list of texts: write [\"a\", \"b\"]");
  return *this;
}

TableReader &TableReader::read(const std::string &key, std::vector<int> &value) {
  asked_.insert(key);
  const toml::node *node = find(file_.document_->root, table_, key);
  if (!node)
    return *this;
  std::vector<int> numbers;
  if (const toml::array *array = node->as_array())
    for (const toml::node &element : *array)
      if (const auto number = element.value_exact<std::int64_t>();
          number && *number > 0 && *number < 1'000'000)
        numbers.push_back(int(*number));
  if (node->as_array() && numbers.size() == node->as_array()->size() && !numbers.empty())
    value = numbers;
  else
    refuse(key, "is not a list of positive whole numbers: write [1, 2, 4]");
  return *this;
}

TableReader &TableReader::choose(const std::string &key, std::string &value,
                                 const std::vector<std::string> &words) {
  read(key, value);
  std::string list;
  for (const std::string &word : words) {
    if (word == value)
      return *this;
    list += (list.empty() ? "" : ", ") + word;
  }
  refuse(key, "is \"" + value + "\": write one of " + list);
  return *this;
}

Result<void> TableReader::finish() {
  if (error_)
    return std::unexpected(*error_);
  const toml::table *fields = file_.document_->root[table_].as_table();
  if (!fields)
    return {};
  for (const auto &[key, value] : *fields)
    if (!asked_.contains(std::string(key.str()))) {
      std::string keys;
      for (const std::string &known : asked_)
        keys += (keys.empty() ? "" : ", ") + known;
      return fail(file_.document_->place(value) + table_ + " has no key " + std::string(key.str()),
                  "There are " + keys);
    }
  return {};
}

} // namespace warpwright::trainer
