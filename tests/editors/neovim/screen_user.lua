-- The init.lua of the user whose screen screen_session.lua looks at.
vim.opt.runtimepath:prepend(os.getenv('WARPWRIGHT_PLUGIN'))
vim.o.statusline = "%f %=%{v:lua.require'warpwright'.statusline()}"
require('warpwright').setup({
  cmd = { os.getenv('WARPWRIGHT'), 'lsp' },
  settings = { device = 'cpu', budget = '60s', maxVariants = 12, trusted = true },
})
