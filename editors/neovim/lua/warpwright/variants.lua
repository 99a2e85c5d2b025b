-- Verified variants of a kernel: a list with their speedups, a diff next to the file, and applying a
-- variant.
--
-- Variants are code actions of the server. An action is resolved into an edit when the user picks
-- it. If the text has changed meanwhile, the edit is refused. Undo takes it back in one step.
local M = {}

local actions = require('warpwright.actions')
local compat = require('warpwright.compat')
local lens = require('warpwright.lens')

local previews = {} -- bufnr of the file -> { scratch, edit, tick, encoding }

local function say(text, level) vim.notify('Warpwright: ' .. text, level or vim.log.levels.WARN) end

local function is_apply(action)
  local command = action.data and action.data.command or (type(action.command) == 'table' and action.command.command)
  return command == 'warpwright.apply'
end

local function range_of(bufnr, kernel)
  for _, one in ipairs(lens.of(bufnr)) do
    if one.kernel == kernel then return one.range end
  end
end

--- Calls on_found(actions) with the variants of a kernel that can be applied, best first.
local function list(client, bufnr, kernel, on_found)
  local range = range_of(bufnr, kernel)
  if not range then return say(('there is no kernel %s in this buffer'):format(kernel)) end
  compat.request(client, 'textDocument/codeAction', {
    textDocument = { uri = vim.uri_from_bufnr(bufnr) },
    range = { start = range.start, ['end'] = range.start },
    context = { diagnostics = {}, only = { 'refactor.rewrite' } },
  }, function(err, result)
    if err then return say(err.message, vim.log.levels.ERROR) end
    on_found(vim.tbl_filter(is_apply, result or {}))
  end, bufnr)
end

local function pick(found, kernel, on_picked)
  if #found == 0 then
    return say(('no verified variant of %s fits the code as it stands. :WarpwrightOptimize looks for one'):format(kernel))
  end
  if #found == 1 then return on_picked(found[1]) end
  vim.ui.select(found, {
    prompt = 'Variants of ' .. kernel,
    kind = 'codeaction',
    format_item = function(action) return action.title end,
  }, function(action)
    if action then on_picked(action) end
  end)
end

local function resolve(client, bufnr, action, on_edit)
  if action.edit then return on_edit(action.edit) end
  compat.request(client, 'codeAction/resolve', action, function(err, resolved)
    if err then return say(err.message, vim.log.levels.ERROR) end
    on_edit(resolved.edit)
  end, bufnr)
end

--- The text edits that a workspace edit makes in one document.
local function text_edits(edit, uri)
  if edit.changes then return edit.changes[uri] or {} end
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument and change.textDocument.uri == uri then return change.edits end
  end
  return {}
end

local function close_preview(bufnr)
  local preview = previews[bufnr]
  previews[bufnr] = nil
  if not preview then return end
  if vim.api.nvim_buf_is_valid(preview.scratch) then vim.api.nvim_buf_delete(preview.scratch, { force = true }) end
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    vim.api.nvim_win_call(window, function() vim.cmd('diffoff') end)
  end
  lens.hide(bufnr, false)
end

local function accept(bufnr)
  local preview = previews[bufnr]
  close_preview(bufnr)
  if vim.api.nvim_buf_get_changedtick(bufnr) ~= preview.tick then
    return say('the text changed since the diff was made, so nothing was applied; look at it again')
  end
  vim.lsp.util.apply_workspace_edit(preview.edit, preview.encoding)
end

local function open_preview(client, bufnr, title, edit)
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then return say('the file is in no window of this tab') end
  close_preview(bufnr)
  vim.api.nvim_set_current_win(window)
  lens.hide(bufnr, true)
  local scratch = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(scratch, 0, -1, false, vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))
  vim.lsp.util.apply_text_edits(text_edits(edit, vim.uri_from_bufnr(bufnr)), scratch, client.offset_encoding)
  vim.bo[scratch].modifiable = false
  vim.bo[scratch].bufhidden = 'wipe'
  pcall(vim.api.nvim_buf_set_name, scratch, ('warpwright://%d/%s'):format(scratch, title))
  vim.cmd('diffthis')
  vim.cmd('rightbelow vsplit')
  vim.api.nvim_win_set_buf(0, scratch)
  vim.bo[scratch].syntax = vim.bo[bufnr].filetype -- colours without another language server on it
  vim.cmd('diffthis')
  previews[bufnr] = {
    scratch = scratch,
    edit = edit,
    tick = vim.api.nvim_buf_get_changedtick(bufnr),
    encoding = client.offset_encoding,
  }
  local map = function(key, action, desc) vim.keymap.set('n', key, action, { buffer = scratch, desc = desc, nowait = true }) end
  map('<CR>', function() accept(bufnr) end, 'Apply this variant')
  map('q', function() close_preview(bufnr) end, 'Close the diff')
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = scratch,
    once = true,
    callback = function()
      vim.schedule(function()
        if previews[bufnr] and previews[bufnr].scratch == scratch then close_preview(bufnr) end
      end)
    end,
  })
  say('<Enter> applies this variant, q closes the diff', vim.log.levels.INFO)
end

--- The file whose diff the current window shows, or whose diff is open.
local function previewed()
  local current = vim.api.nvim_get_current_buf()
  for bufnr, preview in pairs(previews) do
    if bufnr == current or preview.scratch == current then return bufnr end
  end
end

local function with_picked(kernel, on_edit)
  local client, bufnr, name = actions.target(kernel)
  if not client then return end
  list(client, bufnr, name, function(found)
    pick(found, name, function(action)
      resolve(client, bufnr, action, function(edit) on_edit(client, bufnr, action.title, edit) end)
    end)
  end)
end

function M.review(kernel) with_picked(kernel, open_preview) end

--- Applies the variant whose diff is open; else the one that is picked.
function M.apply(kernel)
  local bufnr = previewed()
  if bufnr then return accept(bufnr) end
  with_picked(kernel, function(client, _, _, edit) vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding) end)
end

return M
