-- What is really on a user's screen: a Neovim with a terminal interface runs in this one's
-- terminal, keys are typed into it, and the cells that it draws are read. With SESSION_SCREENS the
-- screens are kept there as text. From the environment, next to the harness's: NEOVIM, the program
-- to run in the terminal.
package.path = os.getenv('WARPWRIGHT_TESTS') .. '/?.lua;' .. package.path
local t = require('harness')

local function screen() return t.text(0) end

local function keep(name)
  local folder = os.getenv('SESSION_SCREENS')
  if not folder then return end
  local file = assert(io.open(folder .. '/' .. name .. '.txt', 'w'))
  file:write(screen() .. '\n')
  file:close()
end

local function see(what, pattern, seconds)
  if not vim.wait((seconds or 60) * 1000, function() return screen():match(pattern) end, 20) then
    error(('%s is not on the screen:\n%s'):format(what, screen()))
  end
  keep(what:gsub(' ', '_'))
  t.say('on the screen', what)
end

t.session(function()
  vim.o.columns, vim.o.lines = 132, 40
  vim.cmd('enew')
  local command = { os.getenv('NEOVIM'), '-n', '-u', os.getenv('WARPWRIGHT_TESTS') .. '/screen_user.lua', os.getenv('WARPWRIGHT_FILE') }
  local exit_code
  local on_exit = function(_, code) exit_code = code end
  local job = vim.fn.has('nvim-0.11') == 1 and vim.fn.jobstart(command, { term = true, on_exit = on_exit })
    or vim.fn.termopen(command, { on_exit = on_exit })
  local function type_in(keys) vim.api.nvim_chan_send(job, keys) end

  see('lens above its kernel', '\n *Warpwright: not measured · optimize *\n[^\n]*__global__ void saxpy')
  type_in('/void saxpy\rw')
  type_in(':WarpwrightOptimize\r')
  see('progress in the statusline', 'saxpy.cu +Warpwright: optimizing saxpy')
  see('outcome', 'Warpwright: saxpy: %d+ of %d+ variants verified', 180)
  see('lens of a checked variant', '\n *Warpwright: variant checked [^\n]*| Review | Apply *\n[^\n]*__global__ void saxpy')
  type_in('K')
  see('hover with the variants', 'Tried on ')
  type_in('j') -- closes it
  type_in(':WarpwrightReview\r')
  see('diff side by side', 'closes the diff')
  assert(not screen():match('Press ENTER'), screen())
  type_in('\r')
  see('lens of an applied variant', '\n *Warpwright: applied variant[^\n]*\n[^\n]*__global__ void [^\n]*saxpy')
  type_in(':qa!\r')
  t.wait('its end', 30, function() return exit_code == 0 end)
end)
