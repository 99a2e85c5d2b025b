-- A CUDA file from opening to an applied variant, on the CPU backend, with clangd on the same
-- buffer if there is one. WARPWRIGHT_FILE is a saxpy of few elements: the CPU backend takes seconds
-- then, not minutes.
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

local function attach_clangd(bufnr)
  local clangd = os.getenv('WARPWRIGHT_CLANGD')
  if not clangd or clangd == '' then return t.say('clangd', 'absent') end
  local config = { name = 'clangd', cmd = { clangd, '--log=error' }, root_dir = vim.fn.expand('%:p:h') }
  local id = vim.fn.has('nvim-0.11') == 1 and vim.lsp.start(config, { attach = false }) or vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(bufnr, id)
  t.wait('clangd', 30, function()
    local client = vim.lsp.get_client_by_id(id)
    return client and client.initialized and vim.lsp.buf_is_attached(bufnr, id)
  end)
  t.say('clangd', 'attached')
  return id
end

local function edit_and_fix(bufnr)
  vim.fn.search('a \\* x\\[i')
  t.press('i2.0 * <Esc>') -- a double among floats
  local found = t.wait('diagnostic', 30, function()
    for _, one in ipairs(vim.diagnostic.get(bufnr)) do
      if one.code == 'double-arithmetic' then return one end
    end
  end)
  t.expect('diagnostic', found.source, 'warpwright')
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
  vim.cmd('WarpwrightExplain')
  t.expect('explanation', vim.api.nvim_get_current_line(), '# double-arithmetic')
  vim.cmd('close')
  t.select('Make the literal float')
  vim.lsp.buf.code_action()
  t.wait('quick fix', 30, function() return t.text(bufnr):match('2%.0f %* a') end)
  t.say('quick fix', 'applied')
  t.press('uu')
  t.wait('no diagnostic', 30, function()
    return #vim.tbl_filter(function(one) return one.code == 'double-arithmetic' end, vim.diagnostic.get(bufnr)) == 0
  end)
end

local function cancel_one(warpwright)
  local outcome
  warpwright.optimize('saxpy', function(err, result) outcome = { err = err, result = result } end)
  t.wait('progress', 60, function() return warpwright.statusline() ~= '' end)
  t.expect('progress', warpwright.statusline(), 'optimizing saxpy')
  vim.cmd('WarpwrightCancel')
  t.wait('cancel', 30, function() return outcome end)
  assert(outcome.err or outcome.result.tried < 200, 'it ran to its end')
  t.say('cancelled', 'before its end')
  t.wait('no progress', 30, function() return warpwright.statusline() == '' end)
  t.variants(4)
end

local function optimize(bufnr, warpwright)
  local seen = {}
  vim.api.nvim_create_autocmd('User', {
    pattern = 'WarpwrightProgress',
    callback = function() seen[warpwright.statusline()] = true end,
  })
  t.messages = {}
  local outcome
  vim.cmd('WarpwrightOptimize')
  t.wait('an outcome', 180, function() return t.message('^Warpwright: saxpy: %d+ of %d+') or t.message('failed') end)
  outcome = t.message('^Warpwright: saxpy: %d+ of %d+')
  t.say('outcome', outcome or vim.inspect(t.messages))
  t.expect('progress seen', table.concat(vim.tbl_keys(seen), '; '), 'variant %d+ of 4')
  t.wait('lens after', 30, function() return t.lenses(bufnr):match('variant checked') end)
  t.expect('lens after', t.lenses(bufnr), 'Review | Apply')
end

local function preview_and_apply(bufnr)
  local before, offered = t.text(bufnr), {}
  t.select('^Apply', offered)
  vim.cmd('WarpwrightReview saxpy')
  t.wait('preview', 60, function() return #vim.api.nvim_list_wins() == 2 and vim.wo.diff end)
  local shown = t.text(0)
  assert(shown ~= before, 'the diff shows no difference')
  t.say('preview', 'a diff')
  t.press('q')
  t.wait('closed', 10, function() return #vim.api.nvim_list_wins() == 1 and not vim.wo.diff end)
  assert(t.text(bufnr) == before, 'closing the diff changed the text')
  vim.cmd('WarpwrightReview saxpy')
  t.wait('preview', 60, function() return #vim.api.nvim_list_wins() == 2 and vim.wo.diff end)
  vim.cmd('quit') -- as well as q
  t.wait('closed', 10, function() return #vim.api.nvim_list_wins() == 1 and not vim.wo.diff end)
  vim.cmd('WarpwrightReview saxpy')
  t.wait('preview', 60, function() return #vim.api.nvim_list_wins() == 2 and vim.wo.diff end)
  t.press('<CR>')
  t.wait('applied', 60, function() return t.text(bufnr) ~= before end)
  assert(t.text(bufnr) == shown, 'what was applied is not what was shown')
  t.say('applied', 'as shown')
  t.wait('lens applied', 30, function() return t.lenses(bufnr):match('applied variant') end)
  t.say('lens applied', t.lenses(bufnr))
  t.press('u')
  assert(t.text(bufnr) == before, 'one undo does not bring the text back')
  t.wait('lens undone', 30, function() return t.lenses(bufnr):match('variant checked') end)
  vim.cmd('WarpwrightApply! saxpy')
  t.wait('applied again', 60, function() return t.text(bufnr) == shown end)
  t.wait('lens applied again', 30, function() return t.lenses(bufnr):match('applied variant') end)
end

t.session(function()
  t.setup()
  t.variants(200) -- too many to be through before the cancel
  local warpwright = require('warpwright')
  vim.cmd('edit ' .. os.getenv('WARPWRIGHT_FILE'))
  local bufnr = vim.api.nvim_get_current_buf()
  t.say('filetype', vim.bo.filetype)
  t.wait('lens', 30, function() return t.lenses(bufnr):match('not measured') end)
  t.say('lens', t.lenses(bufnr))
  local clangd = attach_clangd(bufnr)
  vim.fn.search('void saxpy')
  vim.fn.search('saxpy')
  local hover = t.hover()
  t.expect('hover', hover, 'Not measured')
  if clangd then
    t.wait('the hovers of both', 60, function()
      hover = t.hover()
      return hover:match('function') and hover:match('Not measured')
    end)
    t.expect('hover of clangd too', hover, 'saxpy')
  end
  edit_and_fix(bufnr)
  vim.fn.search('void saxpy')
  vim.fn.search('saxpy')
  cancel_one(warpwright)
  optimize(bufnr, warpwright)
  t.expect('hover after', t.hover(), 'No GPU measured these')
  vim.cmd('WarpwrightDetails saxpy')
  t.wait('the page of the kernel', 60, function() return t.text(0):match('## Tried') end)
  t.expect('page of the kernel', t.text(0), '# saxpy')
  t.press('q')
  preview_and_apply(bufnr)
  vim.fn.search('saxpy<<<')
  t.expect('hover applied', t.hover(), 'The code is a verified variant')
  vim.cmd('silent write! ' .. os.getenv('WARPWRIGHT_FILE') .. '.applied')
end)
