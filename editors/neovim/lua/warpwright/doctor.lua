-- Runs `warpwright doctor` without blocking the editor. Shows its text in a window, or returns the
-- table of checks for the runner picker and :checkhealth.
local M = {}

local options = require('warpwright.options')

--- Runs a command; on_exit(code, output, errors) with the lines of both. False when the program cannot be started.
local function run(command, on_exit)
  local output, errors = {}, {}
  local ok, job = pcall(vim.fn.jobstart, command, {
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, lines) output = lines end,
    on_stderr = function(_, lines) errors = lines end,
    on_exit = function(_, code) on_exit(code, output, errors) end,
  })
  return ok and job > 0
end

local function command(runner, more)
  local result = vim.list_extend(options.program(), { 'doctor' })
  if runner and runner ~= '' then vim.list_extend(result, { '--runner', runner }) end
  return vim.list_extend(result, more or {})
end

--- Asks the program about itself and a runner. on_done(report, problem): one of the two is nil; the report is the
--- JSON document of `warpwright doctor --json`.
function M.ask(runner, on_done)
  local started = run(command(runner, { '--json' }), function(_, output, errors)
    local ok, report = pcall(vim.fn.json_decode, table.concat(output, '\n'))
    if ok and type(report) == 'table' and report.checks then return on_done(report) end
    on_done(nil, 'warpwright doctor printed no report: ' .. vim.trim(table.concat(errors, ' ')))
  end)
  if not started then on_done(nil, ("the program '%s' cannot be started"):format(options.program()[1])) end
end

--- One sentence on whether a runner works: true and its device, or false and what is wrong with what to do.
function M.verdict(report)
  for _, check in ipairs(report.checks) do
    if check.name == 'runner' and check.state ~= 'found' then
      return false, check.detail .. (check.remedy ~= '' and ('. ' .. check.remedy) or '')
    end
  end
  for _, name in ipairs({ 'GPU', 'CPU worker' }) do
    for _, check in ipairs(report.checks) do
      if check.name == name and check.state == 'found' then return true, check.detail end
    end
  end
  return false, 'the runner has no device that can run kernels'
end

--- The report in a window of its own.
function M.show()
  local lines = { 'asking `' .. table.concat(command(options.current.settings.runner), ' ') .. '` ...' }
  vim.cmd('botright 16new')
  local bufnr = vim.api.nvim_get_current_buf()
  vim.bo[bufnr].buftype, vim.bo[bufnr].bufhidden, vim.bo[bufnr].swapfile = 'nofile', 'wipe', false
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = bufnr, nowait = true })
  local function put(text)
    if not vim.api.nvim_buf_is_valid(bufnr) then return end
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, text)
    vim.bo[bufnr].modified = false
  end
  put(lines)
  local started = run(command(options.current.settings.runner), function(code, output, errors)
    local text = vim.list_extend(vim.list_extend({}, output), errors)
    while text[1] and text[#text] == '' do table.remove(text) end
    put(#text > 0 and text or { 'warpwright doctor ended with ' .. code .. ' and said nothing' })
  end)
  if not started then
    put({ ("The program '%s' cannot be started."):format(options.program()[1]), 'See :checkhealth warpwright' })
  end
end

return M
