-- Configuration of the language server for Neovim 0.11 and newer: vim.lsp.enable('warpwright').
-- Neovim itself shows lenses, hovers, code actions and inlay hints. For commands, diffs in a split
-- and combined hovers, call require('warpwright').setup{} instead. Do not use both.
local options = require('warpwright.options')

return {
  cmd = options.command(),
  filetypes = options.current.filetypes,
  root_markers = options.current.root_markers,
  init_options = options.current.settings,
}
