-- Opens the page that explains a diagnostic. The server sends the page's path with each diagnostic.
local M = {}

local function href_of(diagnostic)
  local lsp = diagnostic.user_data and diagnostic.user_data.lsp
  local description = lsp and lsp.codeDescription
  return type(description) == 'table' and description.href or nil
end

--- Of the diagnostic at the cursor, else of the first of its line.
function M.show()
  local line, column = vim.api.nvim_win_get_cursor(0)[1] - 1, vim.api.nvim_win_get_cursor(0)[2]
  local href
  for _, one in ipairs(vim.diagnostic.get(0, { lnum = line })) do
    local is_at_cursor = one.col <= column and (one.end_lnum or one.lnum) >= line and column <= (one.end_col or one.col)
    if one.source == 'warpwright' and (is_at_cursor or not href) then href = href_of(one) or href end
  end
  if not href then return vim.notify('Warpwright: no diagnostic with an explanation here', vim.log.levels.WARN) end
  if not href:match('^file:') then return vim.notify('Warpwright: ' .. href, vim.log.levels.INFO) end
  vim.cmd('split ' .. vim.fn.fnameescape(vim.uri_to_fname(href)))
  vim.bo.readonly = true
end

return M
