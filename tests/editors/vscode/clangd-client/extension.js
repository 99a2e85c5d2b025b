// A client of clangd with the selector of clangd's own extension, which no package registry in reach has.
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = () => {
  client = new LanguageClient('clangd', 'clangd', { command: process.env.WARPWRIGHT_TEST_CLANGD || 'clangd-22', args: ['--log=error', '--background-index=false'] }, {
    documentSelector: ['c', 'cpp', 'cuda-cpp', 'objective-c', 'objective-cpp'].map((language) => ({ scheme: 'file', language })),
  });
  return client.start();
};
exports.deactivate = () => client?.dispose();
