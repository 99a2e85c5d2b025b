-- Lenses as virtual text: the state of each kernel, above its line or at the end of its line.
--
-- The plugin does not use vim.lsp.codelens: its appearance differs between versions of Neovim, and
-- it sends requests to servers without lenses. This file requests lenses again after a refresh by
-- the server and after the analysis of a new text. Only one request is open at a time, and the
-- marks move with the text meanwhile.
local M = {}

local compat = require('warpwright.compat')
local options = require('warpwright.options')

local namespace = vim.api.nvim_create_namespace('warpwright_lens')
local shown = {} -- bufnr -> { { line, kernel, title, command, parts = { { title, command }, ... } }, ... } by line
local asking = {} -- bufnr -> 'once' or 'again'
local hidden = {} -- bufnr -> true

--- "6.23x faster | Review | Apply | Profile"
local function chunk(lens)
  local titles = { lens.title }
  for _, part in ipairs(lens.parts) do table.insert(titles, part.title) end
  return { table.concat(titles, ' | '), 'LspCodeLens' }
end

local function draw(bufnr, lenses)
  vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1)
  if not options.current.lens or hidden[bufnr] then return end
  local last = vim.api.nvim_buf_line_count(bufnr) - 1
  for _, lens in ipairs(lenses) do
    if lens.title and lens.line <= last then
      -- Before the texts of diagnostics, which fill the rest of the line.
      local mark = { virt_text = { { '  ' }, chunk(lens) }, hl_mode = 'combine', priority = 1 }
      if options.current.lens == 'above' and lens.line > 0 then -- Neovim shows nothing above the first line
        local indent = vim.api.nvim_buf_get_lines(bufnr, lens.line, lens.line + 1, false)[1]:match('^%s*')
        mark = { virt_lines = { { { indent }, chunk(lens) } }, virt_lines_above = true }
      end
      vim.api.nvim_buf_set_extmark(bufnr, namespace, lens.line, 0, mark)
    end
  end
end

local function finish(bufnr, lenses)
  local again = asking[bufnr] == 'again'
  asking[bufnr] = nil
  if not vim.api.nvim_buf_is_loaded(bufnr) then return end
  if lenses then
    table.sort(lenses, function(a, b) return a.line < b.line end)
    shown[bufnr] = lenses
    draw(bufnr, lenses)
    vim.cmd('silent doautocmd <nomodeline> User WarpwrightLenses')
  end
  if again then M.refresh(bufnr) end
end

--- One entry for each kernel: its state, with the other lenses as parts.
local function grouped(lenses)
  local result, by_kernel = {}, {}
  for _, lens in ipairs(lenses) do
    local known = by_kernel[lens.kernel]
    if not known then
      lens.parts = {}
      by_kernel[lens.kernel] = lens
      table.insert(result, lens)
    elseif lens.title then
      table.insert(known.parts, { title = lens.title, command = lens.command })
    end
  end
  return result
end

local function resolve(client, bufnr, raw)
  local lenses, left = {}, #raw
  if left == 0 then return finish(bufnr, lenses) end
  for _, lens in ipairs(raw) do
    local one = { line = lens.range.start.line, range = lens.range, kernel = lens.data and lens.data.kernel }
    table.insert(lenses, one)
    local function done(command)
      if command then one.title, one.command = command.title, command end
      left = left - 1
      if left == 0 then finish(bufnr, grouped(lenses)) end
    end
    if lens.command then
      done(lens.command)
    else
      compat.request(client, 'codeLens/resolve', lens, function(_, resolved) done(resolved and resolved.command) end, bufnr)
    end
  end
end

--- Asks for the lenses of a buffer and draws them.
function M.refresh(bufnr)
  local client = vim.api.nvim_buf_is_loaded(bufnr) and require('warpwright.client').of(bufnr)
  if not client then return end
  if asking[bufnr] then
    asking[bufnr] = 'again'
    return
  end
  asking[bufnr] = 'once'
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
  local sent = compat.request(client, 'textDocument/codeLens', params, function(err, raw)
    if err or not raw then return finish(bufnr, nil) end
    resolve(client, bufnr, raw)
  end, bufnr)
  if not sent then asking[bufnr] = nil end
end

function M.refresh_all(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  for bufnr in pairs(client and client.attached_buffers or {}) do M.refresh(bufnr) end
end

--- Not drawn while the buffer is in a diff, whose lines they would put out of step.
function M.hide(bufnr, is_hidden)
  hidden[bufnr] = is_hidden or nil
  if vim.api.nvim_buf_is_loaded(bufnr) then draw(bufnr, M.of(bufnr)) end
end

--- Of a buffer whose server is gone.
function M.clear(bufnr)
  asking[bufnr], shown[bufnr] = nil, nil
  if vim.api.nvim_buf_is_valid(bufnr) then vim.api.nvim_buf_clear_namespace(bufnr, namespace, 0, -1) end
end

--- What is drawn in a buffer: { line (from 0), kernel, range, title, command }, by line.
function M.of(bufnr) return shown[bufnr == 0 and vim.api.nvim_get_current_buf() or bufnr] or {} end

--- The last kernel that begins at or above `line` (from 0), else the first one; nil where there is none.
function M.at(bufnr, line)
  local best
  for _, lens in ipairs(M.of(bufnr)) do
    if lens.kernel and (lens.line <= line or not best) then best = lens end
  end
  return best
end

--- Runs what the lens at the cursor offers; the user picks where it offers more than one thing.
function M.run()
  local bufnr = vim.api.nvim_get_current_buf()
  local lens = M.at(bufnr, vim.api.nvim_win_get_cursor(0)[1] - 1)
  if not lens or not lens.command then return vim.notify('Warpwright: no lens here', vim.log.levels.WARN) end
  local client = require('warpwright.client').of(bufnr)
  if not client then return end
  local function execute(part) require('warpwright.actions').execute(client, bufnr, part.command) end
  if #lens.parts == 0 then return execute(lens) end
  local offered = vim.list_extend({ lens }, lens.parts)
  vim.ui.select(offered, {
    prompt = lens.kernel,
    format_item = function(part) return part.title end,
  }, function(part)
    if part then execute(part) end
  end)
end

return M
