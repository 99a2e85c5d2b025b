-- Neovim on a real GPU, through a runner that is reached over TLS: a CUDA file and a Python module,
-- each from "not measured" to a variant that is applied with its measured speedup. Keeps what a
-- user saw: hovers, lenses, the texts. From the environment, next to the harness's: SESSION_RUNNER
-- (URL), SESSION_OUT (folder), SESSION_CUDA and SESSION_KERNEL, SESSION_MODULE and SESSION_CLASS (a
-- file and what is optimized in it; the module may be omitted), SESSION_TRANSCRIPT (transcript.py),
-- SESSION_BUDGET.
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

local out = os.getenv('SESSION_OUT')
-- "cpu" only to try this script where there is no GPU.
local device = os.getenv('SESSION_DEVICE')

local function keep(name, text)
  local file = assert(io.open(out .. '/' .. name, 'w'))
  file:write(text .. '\n')
  file:close()
end

-- The cursor onto the name of a kernel, where its lens is.
local function go_to(bufnr, name)
  local lens = vim.tbl_filter(function(one) return one.kernel == name end, require('warpwright.lens').of(bufnr))[1]
  vim.api.nvim_win_set_cursor(0, { lens.range.start.line + 1, lens.range.start.character })
end

local function cancel_one(name)
  local outcome
  require('warpwright').optimize(name, function(err, result) outcome = { err = err, result = result } end)
  t.wait('progress', 120, function() return require('warpwright').statusline():match('variant') end)
  t.say('statusline', require('warpwright').statusline())
  vim.cmd('WarpwrightCancel')
  t.wait('cancel', 60, function() return outcome end)
  t.say('cancelled', outcome.err and outcome.err.message or ('after %d variants'):format(outcome.result.tried))
end

local function optimize(bufnr, name)
  local outcome
  require('warpwright').optimize(name, function(err, result) outcome = { err = err, result = result } end)
  t.wait('an outcome', 300, function() return outcome end)
  assert(not outcome.err, outcome.err and outcome.err.message)
  t.say('outcome', outcome.result)
  assert(outcome.result.verified > 0, 'nothing was verified')
  if not device then assert(type(outcome.result.best) == 'table' and outcome.result.best.low > 1, 'nothing was measured as faster') end
  t.wait('lens', 30, function() return t.lenses(bufnr):match('Apply') end)
  t.say('lens', vim.trim(t.lenses(bufnr)))
end

local function session(file, name, apply)
  vim.cmd('edit ' .. file)
  local bufnr, base = vim.api.nvim_get_current_buf(), vim.fn.fnamemodify(file, ':t')
  t.wait('lens', 60, function() return t.lenses(bufnr):match('not measured') end)
  t.say('lens', vim.trim(t.lenses(bufnr)))
  go_to(bufnr, name)
  keep(base .. '.1_before.hover.md', t.hover())
  if apply == 'Review' then cancel_one(name) end
  optimize(bufnr, name)
  keep(base .. '.2_measured.hover.md', t.hover())
  local before = t.text(bufnr)
  t.select('^Apply')
  vim.cmd('Warpwright' .. apply .. ' ' .. name)
  if apply == 'Review' then
    t.wait('diff', 60, function() return #vim.api.nvim_list_wins() == 2 and vim.wo.diff end)
    t.press('<CR>')
  end
  t.wait('the edit', 60, function() return t.text(bufnr) ~= before end)
  t.wait('lens applied', 60, function() return t.lenses(bufnr):match('applied variant') end)
  t.say('lens', vim.trim(t.lenses(bufnr)))
  go_to(bufnr, name)
  keep(base .. '.3_applied.hover.md', t.hover())
  keep('applied_' .. base, t.text(bufnr))
  vim.cmd('bwipeout!')
end

t.session(function()
  t.setup({
    cmd = { 'python3', os.getenv('SESSION_TRANSCRIPT'), out .. '/transcript.jsonl', os.getenv('WARPWRIGHT'), 'lsp' },
    settings = { runner = os.getenv('SESSION_RUNNER'), device = device, budget = os.getenv('SESSION_BUDGET'), maxVariants = 10 },
    root_markers = {},
  })
  session(os.getenv('SESSION_CUDA'), os.getenv('SESSION_KERNEL'), 'Review')
  if os.getenv('SESSION_MODULE') then session(os.getenv('SESSION_MODULE'), os.getenv('SESSION_CLASS'), 'ApplyInPlace') end
  for _, text in ipairs(t.messages) do t.say('message', text) end
end)
