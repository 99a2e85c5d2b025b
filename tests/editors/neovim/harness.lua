-- What the sessions share: steps that are said on stdout, waiting for what happens, looking at what
-- a user would see. A session runs inside a real, headless Neovim, once it has started; its exit
-- code is not 0 when a step failed. From the environment: WARPWRIGHT (the program),
-- WARPWRIGHT_PLUGIN (editors/neovim or a copy of it); without one the plugin is to find the program
-- by itself, or Neovim the plugin.
local M = { messages = {} }

function M.say(step, value)
  local text = type(value) == 'string' and value or vim.inspect(value, { newline = ' ', indent = '' })
  io.stdout:write(step .. ': ' .. text .. '\n')
  io.stdout:flush()
end

local function describe(value) return type(value) == 'string' and value or vim.inspect(value) end

--- Waits until condition() is true, or fails with what the user was told last.
function M.wait(what, seconds, condition)
  local result
  local ok = vim.wait(seconds * 1000, function()
    result = condition()
    return result
  end, 5)
  if not ok then error(('nothing came of: %s; messages: %s'):format(what, describe(M.messages)), 2) end
  return result
end

function M.expect(what, actual, pattern)
  local ok = type(actual) == 'string' and (actual:find(pattern, 1, true) or actual:match(pattern)) or actual == pattern
  if not ok then error(('%s: expected %s in: %s'):format(what, describe(pattern), describe(actual)), 2) end
  M.say(what, type(actual) == 'string' and pattern or actual)
end

function M.message(pattern)
  for _, text in ipairs(M.messages) do
    if text:match(pattern) then return text end
  end
end

--- Virtual text of a buffer's lenses, as it is drawn.
function M.lenses(bufnr)
  local namespace = vim.api.nvim_get_namespaces().warpwright_lens
  local texts = {}
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
    for _, chunk in ipairs(mark[4].virt_text or mark[4].virt_lines[1]) do table.insert(texts, chunk[1]) end
  end
  return table.concat(texts, ' ')
end

function M.text(bufnr) return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n') end

local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then return window end
  end
end

--- Presses K and reads the window that opens.
function M.hover()
  M.press('K')
  local window = M.wait('hover', 30, float)
  local text = M.text(vim.api.nvim_win_get_buf(window))
  vim.api.nvim_win_close(window, true)
  return text
end

function M.press(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'xtm', false)
end

--- Answers vim.ui.select with the first item whose text matches, or with none; `seen` collects what was offered.
function M.select(pattern, seen)
  vim.ui.select = function(items, opts, choose)
    local chosen
    for index, item in ipairs(items) do
      local text = opts.format_item and opts.format_item(item) or tostring(item)
      table.insert(M.messages, 'offered: ' .. text)
      table.insert(seen or {}, text)
      if not chosen and text:match(pattern) then chosen = index end
    end
    choose(items[chosen], chosen)
  end
end

--- Children of this Neovim by the name of their program.
function M.child(name)
  for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    local process = vim.api.nvim_get_proc(pid)
    if process and process.name == name then return pid end
  end
end

function M.setup(options)
  local program = os.getenv('WARPWRIGHT')
  local chosen = { cmd = program and { program, 'lsp' }, settings = { device = 'cpu', budget = '60s', maxVariants = 4 } }
  chosen = vim.tbl_extend('force', chosen, options or {})
  if not M.asks_for_trust then chosen.settings.trusted = true end -- the sessions' own files
  require('warpwright').setup(chosen)
end

--- Most variants of an optimization, from now on.
function M.variants(most)
  require('warpwright.options').current.settings.maxVariants = most
  require('warpwright.client').send_settings()
end

--- The body of a session's file. Everything that Neovim calls deprecated counts as a failure.
function M.session(body)
  local plugin = os.getenv('WARPWRIGHT_PLUGIN')
  if plugin then vim.opt.runtimepath:prepend(plugin) end
  vim.o.columns, vim.o.lines = 140, 45
  vim.notify = function(text) table.insert(M.messages, text) end
  vim.deprecate = function(name) table.insert(M.messages, 'deprecated: ' .. tostring(name)) end
  vim.api.nvim_create_autocmd('VimEnter', {
    callback = function()
      vim.schedule(function()
        local ok, problem = xpcall(body, debug.traceback)
        if ok and M.message('^deprecated') then ok, problem = false, M.message('^deprecated') end
        if ok then M.say('done', 'yes') else M.say('ERROR', tostring(problem)) end
        vim.cmd(ok and 'qa!' or 'cquit')
      end)
    end,
  })
end

return M
