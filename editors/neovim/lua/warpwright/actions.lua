-- The server's commands, for a kernel by name or for the kernel at the cursor. A message shows the
-- result.
local M = {}

local client_of = require('warpwright.client')
local lens = require('warpwright.lens')
local options = require('warpwright.options')

local function warn(text) vim.notify('Warpwright: ' .. text, vim.log.levels.WARN) end

-- Results that this plugin shows in its own windows.
local shown = {
  ['warpwright.review'] = function(reference) require('warpwright.variants').review(reference.kernel) end,
  ['warpwright.details'] = function(reference) require('warpwright.details').show(reference.kernel) end,
}

local function summary(result)
  if result.profile then return result.kernel .. ': ' .. result.profile end
  if result.keep then return result.kernel .. ': ' .. result.keep end
  if type(result.best) == 'table' then
    local best = result.best
    return ('%s: %d of %d variants verified, the best %.2fx [%.2f, %.2f] on %s'):format(
      result.kernel, result.verified, result.tried, best.ratio, best.low, best.high, best.device)
  end
  if result.tried == 0 then return result.kernel .. ': no variant was tried' end
  return ('%s: %d of %d variants verified, none measured faster'):format(result.kernel, result.verified, result.tried)
end

--- Runs a command as the server made it. on_done(err, result), if given, is called once.
function M.execute(client, bufnr, command, on_done)
  if shown[command.command] then return shown[command.command](command.arguments[1]) end
  client_of.execute(client, bufnr, command, function(err, result)
    if err then
      vim.notify('Warpwright: ' .. err.message, vim.log.levels.ERROR)
    elseif type(result) == 'table' and result.kernel and options.current.notify then
      vim.notify('Warpwright: ' .. summary(result), vim.log.levels.INFO)
    end
    if on_done then on_done(err, result) end
  end)
end

--- The client of the current buffer and the kernel that is meant: the one named, else the one at the cursor.
--- Says what is wrong and returns nil where there is none.
function M.target(kernel)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = client_of.of(bufnr)
  if not client then return warn('it is not running in this buffer; see :checkhealth warpwright') end
  if kernel and kernel ~= '' then return client, bufnr, kernel end
  local found = lens.at(bufnr, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not found then return warn('it sees no kernel in this buffer') end
  return client, bufnr, found.kernel
end

--- @param extra table? more members of the command's argument
function M.run(command, kernel, on_done, extra)
  local client, bufnr, name = M.target(kernel)
  if not client then return on_done and on_done({ message = 'there is no kernel to act on' }) end
  local argument = vim.tbl_extend('force', { uri = vim.uri_from_bufnr(bufnr), kernel = name }, extra or {})
  M.execute(client, bufnr, { command = command, arguments = { argument } }, on_done)
end

function M.optimize_all()
  local bufnr = vim.api.nvim_get_current_buf()
  if not M.target() then return end
  for _, one in ipairs(lens.of(bufnr)) do
    if one.kernel then M.run('warpwright.optimize', one.kernel) end
  end
end

local function cancel_token(work)
  local client = vim.lsp.get_client_by_id(work.client_id)
  if client then require('warpwright.compat').notify(client, 'window/workDoneProgress/cancel', { token = work.token }) end
end

--- Of the kernel that is named; else of the only work there is; else of the one that the user picks.
function M.cancel(kernel, on_done)
  if kernel and kernel ~= '' then return M.run('warpwright.cancel', kernel, on_done) end
  local all = require('warpwright.progress').all()
  if #all == 0 then return warn('nothing is running') end
  if #all == 1 then return cancel_token(all[1]) end
  vim.ui.select(all, {
    prompt = 'Cancel',
    format_item = function(work) return work.title .. ' ' .. work.message end,
  }, function(work)
    if work then cancel_token(work) end
  end)
end

return M
