-- The Warpwright plugin for Neovim 0.7.2 or newer, a thin client of `warpwright lsp`. The server
-- provides all facts, lenses, hovers, variants and edits. This file is the public interface; see
-- :help warpwright.
--
--   require('warpwright').setup{ settings = { budget = '30s' } }
local M = {}

local options = require('warpwright.options')

local function say(problems)
  for _, problem in ipairs(problems) do vim.notify('Warpwright: ' .. problem, vim.log.levels.WARN) end
end

--- Starts the server for buffers of the option `filetypes`, those that are open included. May be called again.
function M.setup(user)
  local problems
  options.current, problems = options.merge(user)
  options.is_set_up = true
  say(problems)
  require('warpwright.runners').use_saved(options.current)
  if vim.filetype and vim.filetype.add then vim.filetype.add({ extension = { cu = 'cuda', cuh = 'cuda' } }) end

  local client = require('warpwright.client')
  local quiet = require('warpwright.quiet')
  local group = vim.api.nvim_create_augroup('warpwright', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = options.current.filetypes,
    callback = function(event) quiet.when_needed(event.buf, client.attach) end,
  })
  vim.api.nvim_create_autocmd('VimLeavePre', { group = group, callback = client.leave })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local is_ours = vim.tbl_contains(options.current.filetypes, vim.bo[bufnr].filetype)
    if is_ours and vim.api.nvim_buf_is_loaded(bufnr) then quiet.when_needed(bufnr, client.attach) end
  end
end

-- On a kernel by its name, or, without one, on the kernel at the cursor. `on_done(err, result)` is called once.
function M.optimize(kernel, on_done) require('warpwright.actions').run('warpwright.optimize', kernel, on_done) end
function M.cancel(kernel, on_done) require('warpwright.actions').cancel(kernel, on_done) end
function M.insert_facts(kernel, on_done) require('warpwright.actions').run('warpwright.insertFacts', kernel, on_done) end
--- The best verified variant, without asking.
function M.apply(kernel, on_done) require('warpwright.actions').run('warpwright.apply', kernel, on_done) end
--- Into the forward of a Python module, instead of adding a class.
function M.apply_in_place(module, on_done)
  require('warpwright.actions').run('warpwright.apply', module, on_done, { form = 'in-place' })
end
function M.review(kernel) require('warpwright.variants').review(kernel) end
--- The page of a kernel: why its variant is faster, the roofline, counters, all that was tried.
function M.details(kernel) require('warpwright.details').show(kernel) end
function M.profile(kernel, on_done) require('warpwright.actions').run('warpwright.profile', kernel, on_done) end
function M.hover() require('warpwright.hover').show() end
function M.run_lens() require('warpwright.lens').run() end
function M.choose_runner(name) require('warpwright.runners').choose(name) end
--- Asks what of the current buffer's project is to be approved.
function M.trust(on_done) require('warpwright.trust').review(on_done) end
function M.restart() require('warpwright.client').restart() end

--- For a statusline: "Warpwright: optimizing saxpy 35% variant 4 of 12 (measure)", "" when nothing runs.
function M.statusline() return require('warpwright.progress').text() end

return M
