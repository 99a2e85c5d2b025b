-- A GPU behind ssh, here the CPU backend behind a real sshd: the dialog adds the runner, which is
-- copied, tried, kept and used.
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

t.session(function()
  t.setup({ settings = { budget = '60s', maxVariants = 2 } })
  vim.cmd('edit ' .. os.getenv('WARPWRIGHT_FILE'))
  local bufnr = vim.api.nvim_get_current_buf()
  t.wait('a lens', 60, function() return t.lenses(bufnr) ~= '' end)
  local answers, prompts = { 'ssh://gpu-box?cpu=yes', 'box' }, {}
  vim.ui.input = function(opts, on_confirm)
    table.insert(prompts, opts.prompt .. (opts.default or ''))
    on_confirm(table.remove(answers, 1))
  end
  t.select('add a runner')
  vim.cmd('WarpwrightRunners')
  t.wait('the runner', 120, function() return t.message('runner box is ready') or t.message('does not work') end)
  t.expect('tried', t.message('runner box') and t.message('is ready') or table.concat(t.messages, '; '), 'is ready')
  t.expect('asked for', prompts[1], 'ssh://')
  t.expect('proposed name', prompts[2], 'gpu-box')
  t.expect('kept', require('warpwright.options').current.settings.runner, 'ssh://gpu-box?cpu=yes')
  local outcome
  require('warpwright').optimize('saxpy', function(err, result) outcome = { err = err, result = result } end)
  t.wait('an optimization there', 200, function() return outcome end)
  assert(not outcome.err, vim.inspect(outcome))
  t.wait('verified there', 60, function() return t.lenses(bufnr):match('checked') end)
  assert(not t.child('warpwright-runner'), 'no runner is started on this machine')
  t.say('verified', 'on gpu-box')
end)
