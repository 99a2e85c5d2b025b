-- Progress of the server's work from `$/progress`, for the statusline and for cancelling. Handlers of
-- other plugins that show progress are called, too. After each change the autocommand
-- `User WarpwrightProgress` fires and the statusline is drawn again.
local M = {}

local running = {} -- client id -> token -> { title, message, percentage, cancellable }

local function changed()
  vim.cmd('redrawstatus!')
  vim.cmd('silent doautocmd <nomodeline> User WarpwrightProgress')
end

--- The client's handler of `$/progress`.
function M.handler(err, params, context, config)
  local value, token = params.value, tostring(params.token)
  local of_client = running[context.client_id] or {}
  running[context.client_id] = of_client
  if value.kind == 'end' then
    of_client[token] = nil
  else
    local before = of_client[token] or { raw_token = params.token }
    of_client[token] = vim.tbl_extend('force', before, value)
  end
  changed()
  local default = vim.lsp.handlers['$/progress']
  return default and default(err, params, context, config)
end

--- Of all clients, oldest first: { client_id, token, title, message, percentage }.
function M.all()
  local result = {}
  for client_id, of_client in pairs(running) do
    for token, value in pairs(of_client) do
      table.insert(result, {
        client_id = client_id,
        token = value.raw_token,
        title = value.title or '',
        message = value.message or '',
        percentage = value.percentage,
        order = tonumber(token:match('%d+$')) or 0,
      })
    end
  end
  table.sort(result, function(a, b) return a.order < b.order end)
  return result
end

--- Forgets the work of a client that ended.
function M.forget(client_id)
  running[client_id] = nil
  changed()
end

function M.text()
  local all = M.all()
  if #all == 0 then return '' end
  local one = all[1]
  local text = one.title
  if one.percentage then text = text .. (' %d%%'):format(one.percentage) end
  if one.message ~= '' then text = text .. ' ' .. one.message end
  if #all > 1 then text = text .. (' (and %d more)'):format(#all - 1) end
  return text
end

return M
