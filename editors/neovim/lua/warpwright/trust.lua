-- Questions about trust: whether the code of a folder may be built and run, and whether the requests
-- of a project's .warpwright.toml are approved. The server asks only after a command of the user, so
-- a key that is typed into a text is never taken for an answer. Before that, a message lists the
-- requests that are ignored.
local M = {}

--- The handler of window/showMessageRequest. The last answer, which changes nothing, is the default.
function M.answer(_, params)
  local actions = params.actions or {}
  if #actions == 0 or #vim.api.nvim_list_uis() == 0 then return vim.NIL end
  local choices = {}
  for index, action in ipairs(actions) do table.insert(choices, ('&%d %s'):format(index, action.title)) end
  local chosen = vim.fn.confirm(params.message, table.concat(choices, '\n'), #choices, 'Warning')
  return actions[chosen] or vim.NIL
end

--- Asks about all that is not approved of the current buffer's project.
function M.review(on_done)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = require('warpwright.client').of(bufnr)
  if not client then
    return vim.notify('Warpwright: it is not running in this buffer; see :checkhealth warpwright', vim.log.levels.WARN)
  end
  local argument = { uri = vim.uri_from_bufnr(bufnr) }
  require('warpwright.actions').execute(client, bufnr, { command = 'warpwright.trust', arguments = { argument } }, on_done)
end

return M
