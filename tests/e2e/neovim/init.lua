-- A headless Neovim through the plugin: open, lens, hover, optimise, apply, and the buffer that comes of it.
-- Prints one line a step; the test reads them. Needs WARPWRIGHT (the program), WARPWRIGHT_PLUGIN, WARPWRIGHT_FILE,
-- and for another file than saxpy's WARPWRIGHT_NAME (of the kernel) with WARPWRIGHT_HEAD (what stands before it).
local name = os.getenv('WARPWRIGHT_NAME') or 'saxpy'
local head = os.getenv('WARPWRIGHT_HEAD') or 'void '
local function say(step, value)
  io.stdout:write(step .. ': ' .. (type(value) == 'string' and value or vim.inspect(value, { newline = ' ', indent = '' })) .. '\n')
  io.stdout:flush()
end

local function wait(step, seconds, condition)
  if not vim.wait(seconds * 1000, condition, 20) then error('nothing came of ' .. step) end
end

local function lens_text(bufnr)
  local texts = {}
  for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
    if name:match('codelens') then
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, namespace, 0, -1, { details = true })) do
        for _, chunk in ipairs(mark[4].virt_text or {}) do table.insert(texts, chunk[1]) end
      end
    end
  end
  return table.concat(texts, ' ')
end

local function hover_lines()
  vim.lsp.buf.hover()
  local float
  wait('hover', 30, function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then float = window end
    end
    return float ~= nil
  end)
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(float), 0, -1, false)
  vim.api.nvim_win_close(float, true)
  return table.concat(lines, '\n')
end

local function session()
  vim.opt.runtimepath:append(os.getenv('WARPWRIGHT_PLUGIN'))
  local warpwright = require('warpwright')
  warpwright.setup({ cmd = { os.getenv('WARPWRIGHT'), 'lsp' }, settings = { device = 'cpu', budget = '60s', maxVariants = 4 } })
  vim.cmd('edit ' .. os.getenv('WARPWRIGHT_FILE'))
  local bufnr = vim.api.nvim_get_current_buf()
  say('filetype', vim.bo.filetype)
  wait('lens', 30, function() return lens_text(bufnr):match('not measured') ~= nil end)
  say('lens', lens_text(bufnr))
  say('diagnostics', #vim.diagnostic.get(bufnr))

  vim.fn.search(head .. name)
  vim.fn.search(name)
  say('hover', hover_lines():match('Not measured') or 'wrong')

  local before = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n')
  local result
  warpwright.optimize(name, function(err, summary) result = { err = err and err.message, summary = summary } end)
  wait('optimise', 180, function() return result ~= nil end)
  if result.err then error(result.err) end
  say('verified', result.summary.verified > 0 and 'some' or 'none')
  wait('lens after', 30, function() return lens_text(bufnr):match('variant checked') ~= nil end)
  say('lens after', lens_text(bufnr))
  say('hover after', hover_lines():match('No GPU measured these') or 'wrong')

  vim.ui.select = function(items, _, choose)
    for index, item in ipairs(items) do
      if (item[2] and item[2].title or ''):match('^Apply') then return choose(item, index) end
    end
    choose(items[1], 1)
  end
  vim.lsp.buf.code_action()
  wait('apply', 60, function() return table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), '\n') ~= before end)
  say('applied', 'the buffer changed')
  wait('lens applied', 30, function() return lens_text(bufnr):match('applied variant') ~= nil end)
  say('lens applied', lens_text(bufnr))
  vim.cmd('silent write! ' .. os.getenv('WARPWRIGHT_FILE') .. '.applied')
  say('done', 'yes')
end

vim.api.nvim_create_autocmd('VimEnter', {
  callback = function()
    vim.schedule(function()
      local ok, problem = xpcall(session, debug.traceback)
      if not ok then say('ERROR', tostring(problem)) end
      vim.cmd(ok and 'qa!' or 'cquit')
    end)
  end,
})
