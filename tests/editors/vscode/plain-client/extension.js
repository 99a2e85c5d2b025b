// A client of another language server, as plain as can be: what to start and for which languages is in its package.json.
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = (context) => {
  const { name, server } = context.extension.packageJSON;
  client = new LanguageClient(name, name, { command: server.command, args: server.args }, {
    documentSelector: server.languages.map((language) => ({ scheme: 'file', language })),
    synchronize: { configurationSection: server.sections },
  });
  return client.start();
};
exports.deactivate = () => client?.dispose();
