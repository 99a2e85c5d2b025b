-- The server killed amid an optimization: whoever waits is told, the server comes back, and what it
-- knew is there. Then killed as often as it takes for it to be left alone, and brought back by
-- hand.
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

local function kill()
  local pid = t.wait('a server', 30, function() return t.child('warpwright') end)
  vim.loop.kill(pid, 9)
  t.wait('its end', 30, function() return t.child('warpwright') ~= pid end)
end

t.session(function()
  t.setup({ restarts = 2 })
  t.variants(200) -- too many to be through before the kill
  local warpwright = require('warpwright')
  vim.cmd('edit ' .. os.getenv('WARPWRIGHT_FILE'))
  local bufnr = vim.api.nvim_get_current_buf()
  t.wait('lens', 30, function() return t.lenses(bufnr):match('not measured') end)
  local outcome
  warpwright.optimize('saxpy', function(err, result) outcome = { err = err, result = result } end)
  t.wait('progress', 60, function() return warpwright.statusline() ~= '' end)
  t.variants(4)
  kill()
  t.wait('the end of waiting', 30, function() return outcome end)
  t.expect('told', outcome.err.message, 'ended before it answered')
  t.expect('message', t.message('started again') or 'none', 'by signal 9')
  t.expect('progress', warpwright.statusline(), '')
  t.wait('lens again', 30, function() return t.lenses(bufnr):match('Warpwright: ') end)
  t.say('lens again', 'drawn')
  outcome = nil
  warpwright.optimize('saxpy', function(err, result) outcome = { err = err, result = result } end)
  t.wait('an outcome', 180, function() return outcome end)
  t.expect('verified after', outcome.result.verified > 0, true)
  t.wait('lens after', 30, function() return t.lenses(bufnr):match('variant checked') end)
  kill()
  t.wait('lens from the ledger', 60, function() return t.lenses(bufnr):match('variant checked') end)
  t.say('lens from the ledger', 'drawn')
  kill()
  t.wait('giving up', 30, function() return t.message('is not started again') end)
  t.expect('lenses without a server', t.lenses(bufnr), '')
  assert(not t.child('warpwright'), 'a server runs')
  vim.cmd('WarpwrightOptimize')
  t.wait('advice', 10, function() return t.message('checkhealth warpwright') end)
  vim.cmd('WarpwrightRestart')
  t.wait('lens by hand', 60, function() return t.lenses(bufnr):match('variant checked') end)
  t.say('restarted', 'by hand')
  t.messages = {}
  vim.cmd('WarpwrightOptimize!')
  t.wait('an outcome of all', 180, function() return t.message('saxpy: %d of %d variants verified') end)
end)
