-- One headless Neovim with one language server, Warpwright or clangd, and what a user waits for in it, in ms:
--   key to diagnostic   from the key that breaks a line until the diagnostic is there to be drawn
--   hover to text       from the key until the window with the text is open
--   menu of actions     from asking for code actions until the choice is on the screen
-- Prints "name ms" a sample and, after opening and after each round, "turn over"; a round begins with a line on stdin, so that two
-- of these can take turns. Waiting looks every millisecond, so times are that coarse. It asserts nothing.
-- From the environment: LATENCY_SERVER (a JSON list, the command), LATENCY_PLUGIN (editors/neovim for Warpwright, empty for
-- clangd), LATENCY_FILE (of bench/clangd), LATENCY_ROUNDS.
local command = vim.fn.json_decode(os.getenv('LATENCY_SERVER'))
local plugin = os.getenv('LATENCY_PLUGIN')
local rounds = tonumber(os.getenv('LATENCY_ROUNDS'))

local function now() return vim.loop.hrtime() / 1e6 end

local function wait(what, condition)
  if not vim.wait(60000, condition, 1) then error('nothing came of ' .. what) end
end

local function sample(name, begin, condition)
  local start = now()
  begin()
  wait(name, condition)
  io.stdout:write(('%s %.2f\n'):format(name, now() - start))
  io.stdout:flush()
end

local function press(keys)
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(keys, true, false, true), 'xtm', false)
end

local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then return window end
  end
end

local function start_server()
  if plugin ~= '' then
    vim.opt.runtimepath:prepend(plugin)
    require('warpwright').setup({ cmd = command })
    vim.cmd('edit ' .. os.getenv('LATENCY_FILE'))
    return
  end
  vim.cmd('edit ' .. os.getenv('LATENCY_FILE'))
  local config = { name = 'clangd', cmd = command, root_dir = vim.fn.expand('%:p:h') }
  local id = vim.fn.has('nvim-0.11') == 1 and vim.lsp.start(config, { attach = false }) or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(0, id)
  vim.keymap.set('n', 'K', vim.lsp.buf.hover, { buffer = true })
end

local function broken() return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) > 0 end

local function key_to_diagnostic(name)
  vim.fn.search('__shared__ float tile')
  sample(name, function() press('oint latency<Esc>') end, broken)
  press('u')
  wait('repair', function() return not broken() end)
end

local function hover_to_text()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  vim.fn.search('transpose(')
  sample('hover_to_text', function() press('K') end, float)
  vim.api.nvim_win_close(float(), true)
end

-- Where each has something to offer: on the kernel's name, and on an operator.
local function menu_of_actions()
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  vim.fn.search(plugin ~= '' and 'transpose(' or '\\* columns')
  local offered
  vim.ui.select = function(items) offered = #items end
  sample('menu_of_actions', vim.lsp.buf.code_action, function() return offered end)
end

local function session()
  vim.o.columns, vim.o.lines = 140, 45
  local turns, over = 0, false
  vim.fn.stdioopen({ on_stdin = function(_, data)
    turns = turns + #data - 1
    over = over or #data == 1 and data[1] == ''
  end })
  start_server()
  key_to_diagnostic('first_key_to_diagnostic') -- with what the server still does after opening
  for _ = 1, 5 do key_to_diagnostic('warm_up') end
  for round = 1, rounds do
    io.stdout:write('turn over\n')
    io.stdout:flush()
    wait('turn', function() return turns >= round or over end)
    if over then return end
    key_to_diagnostic('key_to_diagnostic')
    hover_to_text()
    menu_of_actions()
  end
end

vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    vim.schedule(function()
      local ok, problem = xpcall(session, debug.traceback)
      if not ok then io.stderr:write(tostring(problem) .. '\n') end
      vim.cmd(ok and 'qa!' or 'cquit')
    end)
  end,
})
