-- The page of a kernel in a split, and source next to PTX or machine code, linked line by line: the
-- line at the cursor in one window is marked in the other.
local M = {}

local actions = require('warpwright.actions')
local compat = require('warpwright.compat')

local namespace = vim.api.nvim_create_namespace('warpwright_code')

local function fail(err) vim.notify('Warpwright: ' .. err.message, vim.log.levels.ERROR) end

--- A scratch buffer that `q` closes.
local function scratch(lines, name, filetype)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  pcall(vim.api.nvim_buf_set_name, bufnr, ('warpwright://%d/%s'):format(bufnr, name))
  if filetype then vim.bo[bufnr].syntax = filetype end -- colors without another language server on it
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, nowait = true, desc = 'Close' })
  return bufnr
end

local function encoded(text)
  return (text:gsub('[^%w%-%._~/:]', function(char) return ('%%%02X'):format(char:byte()) end))
end

--- Shows the page of the kernel that is named, else of the one at the cursor.
function M.show(kernel)
  local client, bufnr, name = actions.target(kernel)
  if not client then return end
  local uri = ('warpwright:/details/%s.md?%s'):format(encoded(name), encoded(vim.uri_from_bufnr(bufnr)))
  compat.request(client, 'workspace/textDocumentContent', { uri = uri }, function(err, result)
    if err then return fail(err) end
    local lines = require('warpwright.hover').align_tables(vim.split(result.text, '\n', { plain = true }))
    vim.cmd('rightbelow vsplit')
    vim.api.nvim_win_set_buf(0, scratch(lines, name .. '.md', 'markdown'))
  end, bufnr)
end

--- Links between the lines of the source and those of the other side.
--- @return table other: source line -> { lines }, table source: line -> { source lines }
function M.links(code)
  local other, source = {}, {}
  local function add(map, from, to)
    map[from] = map[from] or {}
    if not vim.tbl_contains(map[from], to) then table.insert(map[from], to) end
  end
  if code.sass == '' then
    for _, row in ipairs(code.rows) do
      add(other, row[3], row[2])
      add(source, row[2], row[3])
    end
    return other, source
  end
  for number, line in ipairs(vim.split(code.sass, '\n', { plain = true })) do
    local address = line:match('^%s*/%*(%x%x%x%x+)%*/')
    local found
    for _, row in ipairs(address and code.rows or {}) do
      if row[1] <= tonumber(address, 16) then found = row end
    end
    if found then
      add(other, found[3], number)
      add(source, number, found[3])
    end
  end
  return other, source
end

--- Marks the lines of `to` that belong to the line at the cursor of `from`, whenever that moves.
local function follow(from, to, links)
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = from,
    callback = function()
      if not vim.api.nvim_buf_is_valid(to) then return end
      vim.api.nvim_buf_clear_namespace(to, namespace, 0, -1)
      local lines = links[vim.api.nvim_win_get_cursor(0)[1]] or {}
      for _, line in ipairs(lines) do
        vim.api.nvim_buf_set_extmark(to, namespace, line - 1, 0, { line_hl_group = 'Visual', end_row = line - 1 })
      end
      local window = vim.fn.bufwinid(to)
      if lines[1] and window ~= -1 then vim.api.nvim_win_set_cursor(window, { lines[1], 0 }) end
    end,
  })
end

--- Opens the source and, beside it, the machine code, or PTX where there is no disassembler.
--- @return integer source, integer other: the buffers
function M.open_code(name, code)
  local is_sass = code.sass ~= ''
  local source = scratch(vim.split(code.source, '\n', { plain = true }), name .. '.cu', 'cuda')
  local other = scratch(vim.split(is_sass and code.sass or code.ptx, '\n', { plain = true }), name .. (is_sass and '.sass' or '.ptx'), 'asm')
  local to_other, to_source = M.links(code)
  vim.cmd('tabnew')
  vim.api.nvim_win_set_buf(0, source)
  vim.cmd('rightbelow vsplit')
  vim.api.nvim_win_set_buf(0, other)
  vim.cmd('wincmd h')
  follow(source, other, to_other)
  follow(other, source, to_source)
  if not is_sass then vim.notify('Warpwright: PTX only: ' .. code.missing, vim.log.levels.INFO) end
  return source, other
end

--- Shows the code of the best variant of a kernel.
function M.show_code(kernel)
  local client, bufnr, name = actions.target(kernel)
  if not client then return end
  compat.request(client, 'warpwright/details', { uri = vim.uri_from_bufnr(bufnr), kernel = name }, function(err, result)
    if err then return fail(err) end
    if result.after.source == '' then return fail({ message = result.after.missing }) end
    M.open_code(name, result.after)
  end, bufnr)
end

return M
