-- One hover window for all servers of a buffer, such as clangd's declaration and Warpwright's
-- measurements.
--
-- Before 0.11, Neovim opens a window for each server, and the last one covers the others. Servers
-- without an answer after three seconds are skipped. The columns of Markdown tables are aligned,
-- because Neovim shows the tables as plain text.
local M = {}

local compat = require('warpwright.compat')

local patience_ms = 3000
local newest = 0

local function cells(line)
  return vim.tbl_map(vim.trim, vim.split(line:match('^%s*|(.*)|%s*$'), '|', { plain = true }))
end

local function align_block(block)
  local rows, widths = {}, {}
  for _, line in ipairs(block) do
    local row = cells(line)
    table.insert(rows, row)
    for i, cell in ipairs(row) do
      local is_rule = cell:match('^:?%-%-%-+:?$')
      widths[i] = math.max(widths[i] or 3, is_rule and 3 or vim.fn.strdisplaywidth(cell))
    end
  end
  local result = {}
  for _, row in ipairs(rows) do
    local texts = {}
    for i, cell in ipairs(row) do
      local filler = cell:match('^:?%-%-%-+:?$') and '-' or ' '
      table.insert(texts, cell .. filler:rep(widths[i] - vim.fn.strdisplaywidth(cell)))
    end
    table.insert(result, '| ' .. table.concat(texts, ' | ') .. ' |')
  end
  return result
end

--- Pads the columns of markdown tables.
function M.align_tables(lines)
  local result, block = {}, {}
  local function flush()
    vim.list_extend(result, align_block(block))
    block = {}
  end
  for _, line in ipairs(lines) do
    if line:match('^%s*|.*|%s*$') then
      table.insert(block, (line:gsub('\194\160', ' '))) -- nothing breaks these lines, and 'list' would show such spaces
    else
      flush()
      table.insert(result, line)
    end
  end
  flush()
  return result
end

local function lines_of(contents)
  local lines = vim.lsp.util.convert_input_to_markdown_lines(contents)
  while lines[1] and vim.trim(lines[1]) == '' do table.remove(lines, 1) end
  while lines[1] and vim.trim(lines[#lines]) == '' do table.remove(lines) end
  return M.align_tables(lines)
end

--- The answers of servers, in their order, with a rule between them.
function M.combine(answers)
  local result = {}
  for _, contents in ipairs(answers) do
    local lines = lines_of(contents)
    if #lines > 0 then
      if #result > 0 then vim.list_extend(result, { '', '---', '' }) end
      vim.list_extend(result, lines)
    end
  end
  return result
end

local function open(answers)
  local lines = M.combine(answers)
  if #lines == 0 then return vim.notify('No information available', vim.log.levels.INFO) end
  vim.lsp.util.open_floating_preview(lines, 'markdown', {
    focus_id = 'warpwright_hover',
    border = 'rounded',
    max_width = math.max(60, vim.o.columns - 8),
  })
end

--- At the cursor. Once more while it is open: the cursor goes into the window.
function M.show()
  local bufnr, window = vim.api.nvim_get_current_buf(), vim.api.nvim_get_current_win()
  local clients = compat.clients_with(bufnr, 'textDocument/hover')
  newest = newest + 1
  local this, left, answers = newest, #clients, {}
  if left == 0 then return vim.notify('No language server here has hovers', vim.log.levels.INFO) end
  local cursor = vim.api.nvim_win_get_cursor(window)
  local function finish()
    if this ~= newest then return end
    newest = newest + 1
    if vim.api.nvim_get_current_buf() ~= bufnr or not vim.deep_equal(vim.api.nvim_win_get_cursor(0), cursor) then return end
    local in_order = {}
    for index = 1, #clients do
      if answers[index] then table.insert(in_order, answers[index]) end
    end
    open(in_order)
  end
  for index, client in ipairs(clients) do
    local sent = compat.request(client, 'textDocument/hover', compat.position_params(window, client), function(_, result)
      if type(result) == 'table' and result.contents then answers[index] = result.contents end
      left = left - 1
      if left == 0 then finish() end
    end, bufnr)
    if not sent then left = left - 1 end
  end
  if left == 0 then return finish() end
  vim.defer_fn(finish, patience_ms)
end

return M
