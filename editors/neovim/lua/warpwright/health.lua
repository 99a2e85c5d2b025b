-- :checkhealth warpwright: the state of Neovim, the program, the runner and the open buffers, with a
-- remedy for each problem.
local M = {}

local compat = require('warpwright.compat')
local options = require('warpwright.options')

local function check_neovim(health)
  health.start('Warpwright: Neovim')
  local version = vim.version()
  local text = ('Neovim %d.%d.%d'):format(version.major, version.minor, version.patch)
  if vim.fn.has('nvim-0.7.2') == 0 then return health.error(text .. ' is too old', { 'Use 0.7.2 or newer' }) end
  health.ok(text .. (vim.fn.has('nvim-0.10') == 1 and '' or ': everything but inlay hints, which came with 0.10'))
  if options.is_set_up then
    health.ok('setup{} was called')
  else
    health.warn('setup{} was not called, so no server is started', { "Write require('warpwright').setup{} into init.lua" })
  end
end

-- The version, or what is wrong; waits for a program that may be the user's own wrapper.
local function ask_doctor()
  local report, problem
  require('warpwright.doctor').ask(options.current.settings.runner, function(answer, wrong) report, problem = answer, wrong or '' end)
  vim.wait(20000, function() return report ~= nil or problem ~= nil end, 20)
  return report, problem or 'warpwright doctor did not end within 20 seconds'
end

local function check_program(health)
  health.start('Warpwright: program and runner')
  local program = options.program()[1]
  if vim.fn.executable(program) == 0 then
    return health.error(("there is no program '%s'"):format(program), {
      'Put warpwright on the PATH',
      "Or name it: require('warpwright').setup{ cmd = { '/path/to/warpwright', 'lsp' } }",
    })
  end
  health.ok('the program is ' .. vim.fn.exepath(program))
  local report, problem = ask_doctor()
  if not report then return health.error(problem, { 'Run `' .. table.concat(options.program(), ' ') .. ' doctor` in a terminal' }) end
  health.ok('version ' .. report.version)
  for _, check in ipairs(report.checks) do
    local text = check.name .. ': ' .. check.detail
    local advice = check.remedy ~= '' and { check.remedy } or nil
    if check.state == 'found' then
      health.ok(text)
    elseif check.state == 'broken' then
      health.error(text, advice)
    elseif check.name == 'GPU' then
      health.warn(text, advice)
    else
      health.info(text .. (advice and ('. ' .. advice[1]) or ''))
    end
  end
end

local function check_clients(health)
  health.start('Warpwright: language server')
  local clients = compat.clients()
  if #clients == 0 then
    return health.info('not running: it starts with the first buffer of type ' .. table.concat(options.current.filetypes, ', '))
  end
  for _, client in ipairs(clients) do
    local buffers = vim.tbl_count(client.attached_buffers)
    health.ok(('running for %s, %d buffer(s), position encoding %s'):format(
      client.config.root_dir or '?', buffers, client.offset_encoding or '?'))
  end
  local current = require('warpwright.runners').current()
  health.info('runner: ' .. (current and current.name or options.current.settings.runner))
end

function M.check()
  local health = compat.health()
  check_neovim(health)
  check_program(health)
  check_clients(health)
end

return M
