-- The language server alone, for Neovim 0.11 and newer: vim.lsp.enable('warpwright'). Lenses, hovers, code actions and
-- inlay hints are Neovim's own. For commands, diffs in a split and combined hovers call require('warpwright').setup{}
-- instead, and not both.
local options = require('warpwright.options')

return {
  cmd = options.command(),
  filetypes = options.current.filetypes,
  root_markers = options.current.root_markers,
  init_options = options.current.settings,
}
