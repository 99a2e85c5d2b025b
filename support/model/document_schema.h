// JSON schema with messages for people: where a document is wrong, and the expected form.
// Thread: any, once constructed.
#pragma once

#include "support/error.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace warpwright::model {

class DocumentSchema {
public:
  /// @param schema draft 7, or a later one without its new keywords @param name of the documents,
  /// for messages: "task" @param remedy of the messages
  DocumentSchema(nlohmann::json schema, std::string name, std::string remedy);
  ~DocumentSchema();

  /// Errors: the first members that violate the schema, each with its JSON path and the expected
  /// form.
  Result<void> check(const nlohmann::json &document) const;
  const nlohmann::json &text() const;

private:
  struct Loaded;
  std::unique_ptr<const Loaded> loaded_;
  std::string name_, remedy_;
};

} // namespace warpwright::model
