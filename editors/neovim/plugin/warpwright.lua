-- Defines Warpwright's commands. They exist as soon as the plugin is on the runtime path, so
-- :WarpwrightDoctor can find problems before `require('warpwright').setup{}`, which starts the
-- server. The first call of a command loads lua/warpwright/commands.lua with their functions.
if vim.g.loaded_warpwright then return end
vim.g.loaded_warpwright = true

if vim.fn.has('nvim-0.7.2') == 0 then
  vim.api.nvim_echo({ { 'Warpwright needs Neovim 0.7.2 or newer', 'WarningMsg' } }, true, {})
  return
end

local function define(name, opts)
  local run = function(call) require('warpwright.commands')[name](call) end
  if opts.complete then
    local of = opts.complete
    opts.complete = function(lead) return require('warpwright.commands').complete(of, lead) end
  end
  vim.api.nvim_create_user_command('Warpwright' .. name, run, opts)
end

define('Optimize', { nargs = '?', bang = true, complete = 'kernels', desc = 'Search faster versions; ! for all kernels' })
define('Cancel', { nargs = '?', complete = 'kernels', desc = 'Stop an optimization' })
define('Review', { nargs = '?', complete = 'kernels', desc = 'Show a verified variant as a diff' })
define('Details', { nargs = '?', complete = 'kernels', desc = 'Show measurements, counters and every attempt' })
define('Code', { nargs = '?', complete = 'kernels', desc = 'Show source and machine code side by side' })
define('Profile', { nargs = '?', complete = 'kernels', desc = 'Read hardware counters of the best variant' })
define('Apply', { nargs = '?', bang = true, complete = 'kernels', desc = 'Write a verified variant; ! for the best one' })
define('ApplyInPlace', { nargs = '?', complete = 'kernels', desc = "Write a module's variant into its forward" })
define('InsertFacts', { nargs = '?', complete = 'kernels', desc = 'Insert the comment that asks for facts' })
define('Lens', { nargs = 0, desc = 'Run what the lens at the cursor offers' })
define('Hover', { nargs = 0, desc = 'Hover of all language servers, in one window' })
define('Explain', { nargs = 0, desc = 'Open the explanation of the diagnostic at the cursor' })
define('Runners', { nargs = '?', complete = 'runners', desc = 'Choose where kernels are verified and measured' })
define('Trust', { nargs = 0, desc = 'Approve that code of this project is run, and what its .warpwright.toml asks for' })
define('Doctor', { nargs = 0, desc = 'What was found on this machine' })
define('Restart', { nargs = 0, desc = 'Restart the language server' })
define('Log', { nargs = 0, desc = "Open Neovim's log of language servers" })
