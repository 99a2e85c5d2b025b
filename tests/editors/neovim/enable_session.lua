-- The language server without the plugin's commands, by lsp/warpwright.lua: through
-- vim.lsp.enable() where Neovim has it, else with the same table through vim.lsp.start_client().
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

t.session(function()
  vim.opt.runtimepath:append(os.getenv('WARPWRIGHT_PLUGIN'))
  vim.env.PATH = vim.fn.fnamemodify(os.getenv('WARPWRIGHT'), ':h') .. ':' .. vim.env.PATH
  vim.cmd('edit ' .. os.getenv('WARPWRIGHT_FILE'))
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].filetype = 'cuda'
  local config = dofile(os.getenv('WARPWRIGHT_PLUGIN') .. '/lsp/warpwright.lua')
  t.expect('its program', config.cmd[1], 'warpwright')
  t.expect('its file types', vim.tbl_contains(config.filetypes, 'cuda'), true)
  if vim.lsp.enable then
    vim.lsp.enable('warpwright')
  else
    config.name, config.root_dir = 'warpwright', vim.fn.fnamemodify(os.getenv('WARPWRIGHT_FILE'), ':h')
    vim.lsp.buf_attach_client(bufnr, vim.lsp.start_client(config))
  end
  local client = t.wait('a client', 60, function()
    for _, one in pairs((vim.lsp.get_clients or vim.lsp.get_active_clients)({ bufnr = bufnr })) do
      if one.name == 'warpwright' then return one end
    end
  end)
  local lenses
  t.wait('a lens', 60, function()
    local ok, answers = pcall(vim.lsp.buf_request_sync, bufnr, 'textDocument/codeLens',
      { textDocument = vim.lsp.util.make_text_document_params(bufnr) }, 5000)
    lenses = ok and answers and answers[client.id] and answers[client.id].result
    return lenses and #lenses > 0
  end)
  t.expect('lenses', #lenses > 0, true)
end)
