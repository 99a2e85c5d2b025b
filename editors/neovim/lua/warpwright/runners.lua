-- The choice of a runner: this machine, its CPU alone, or a runner on another machine.
--
-- A choice is sent to the running servers at once and tested with `warpwright doctor`. It is stored
-- with the added runners in stdpath('data')/warpwright/runners.json. Tokens are not stored there: a
-- URL names the file that holds a token.
local M = {}

local options = require('warpwright.options')

local automatic = { name = 'automatic', url = '', device = '', note = "the project's runner, else this machine" }
local cpu_only = { name = 'cpu', url = '', device = 'cpu', note = 'this machine, correctness only: no GPU times' }

local saved = { added = {}, chosen = nil }

local function path() return vim.fn.stdpath('data') .. '/warpwright/runners.json' end

local function load()
  local ok, lines = pcall(vim.fn.readfile, path())
  local decoded, content = pcall(vim.fn.json_decode, ok and lines or { 'null' })
  if decoded and type(content) == 'table' then
    saved = { added = content.added or {}, chosen = content.chosen ~= vim.NIL and content.chosen or nil }
  end
end

local function save()
  vim.fn.mkdir(vim.fn.fnamemodify(path(), ':h'), 'p')
  vim.fn.writefile({ vim.fn.json_encode(saved) }, path())
end

--- Every runner that can be chosen: { name, url, device, note }.
function M.all()
  local result = { automatic, cpu_only }
  for _, list in ipairs({ options.current.runners, saved.added }) do
    for _, one in ipairs(list) do
      table.insert(result, { name = one.name, url = one.url or '', device = one.device or '', note = one.url or '' })
    end
  end
  return result
end

function M.find(name)
  for _, one in ipairs(M.all()) do
    if one.name == name then return one end
  end
end

--- The one that the settings name now.
function M.current()
  local settings = options.current.settings
  for _, one in ipairs(M.all()) do
    if one.url == (settings.runner or '') and one.device == (settings.device or '') then return one end
  end
end

local function use(one)
  options.current.settings.runner = one.url
  options.current.settings.device = one.device
end

--- Called by setup: what was chosen last, unless setup itself says a runner or a device.
function M.use_saved(current)
  load()
  local chosen = saved.chosen and M.find(saved.chosen)
  if chosen and not current.settings.runner and not current.settings.device then use(chosen) end
end

local function try(one, on_tried)
  vim.notify(('Warpwright: trying the runner %s ...'):format(one.name), vim.log.levels.INFO)
  require('warpwright.doctor').ask(one.url, function(report, problem)
    local works, text = false, problem
    if report then
      works, text = require('warpwright.doctor').verdict(report)
    end
    vim.notify(('Warpwright: runner %s %s: %s'):format(one.name, works and 'is ready' or 'does not work', text),
      works and vim.log.levels.INFO or vim.log.levels.ERROR)
    if on_tried then on_tried(works) end
  end)
end

local function take(one)
  use(one)
  saved.chosen = one.name
  save()
  require('warpwright.client').send_settings()
  try(one)
end

--- What is wrong with a URL that is to be kept; nil when nothing is.
function M.problem_of(url)
  if url:match('^unix:') then return nil end
  for _, shell in ipairs({ '^ssh://[^%s\'"]+$', '^docker://[^%s\'"]+$', '^kubectl://[^%s\'"]+$', '^slurm://[^%s\'"]*$' }) do
    if url:match(shell) then return nil end
  end
  if not url:match('^tls://') then
    return 'write ssh://HOST, slurm://PARTITION, docker://IMAGE, kubectl://POD, tls://HOST:PORT?ca=FILE&token-file=FILE, or unix:/path'
  end
  if url:match('^tls://[^/?]*@') then
    return 'a token in the URL would be kept where others may read it; put it into a file and write token-file=FILE'
  end
end

--- Names after `Host` in the user's ssh configuration that are no patterns.
function M.hosts_of(lines)
  local hosts = {}
  for _, line in ipairs(lines) do
    for word in (line:match('^%s*[Hh][Oo][Ss][Tt][%s=]+(.*)$') or ''):gmatch('%S+') do
      if word:match('^[%w_][%w._-]*$') and not vim.tbl_contains(hosts, word) then table.insert(hosts, word) end
    end
  end
  return hosts
end

local function ssh_hosts()
  local ok, lines = pcall(vim.fn.readfile, vim.fn.expand('~/.ssh/config'))
  return ok and M.hosts_of(lines) or {}
end

local function add(given)
  local input = given and function(_, on_confirm) on_confirm(given) end or vim.ui.input
  input({ prompt = 'Runner (ssh://HOST or tls://HOST:PORT?ca=FILE&token-file=FILE): ', default = 'ssh://' }, function(url)
    if not url or url == '' or url == 'ssh://' then return end
    local problem = M.problem_of(url)
    if problem then return vim.notify('Warpwright: ' .. problem, vim.log.levels.ERROR) end
    local proposed = url:match('^%a+://([^?]+)') or url:match('^%a+://') and 'cluster' or 'socket'
    vim.ui.input({ prompt = 'Name: ', default = proposed }, function(name)
      if not name or name == '' then return end
      local one = { name = name, url = url, device = '' }
      try(one, function(works)
        local function keep()
          saved.added = vim.tbl_filter(function(other) return other.name ~= name end, saved.added)
          table.insert(saved.added, one)
          use(one)
          saved.chosen = name
          save()
          require('warpwright.client').send_settings()
        end
        if works then return keep() end
        vim.ui.select({ 'Leave it out', 'Add it all the same' }, { prompt = 'The runner does not work' }, function(answer)
          if answer and answer:match('^Add') then keep() end
        end)
      end)
    end)
  end)
end

local function remove()
  vim.ui.select(saved.added, { prompt = 'Remove', format_item = function(one) return one.name end }, function(one)
    if not one then return end
    saved.added = vim.tbl_filter(function(other) return other.name ~= one.name end, saved.added)
    if saved.chosen == one.name then return take(automatic) end
    save()
  end)
end

local function describe(one, is_current)
  return (is_current and '* ' or '  ') .. one.name .. (one.note ~= '' and ('  (' .. one.note .. ')') or '')
end

--- The runner of that name, or the one that the user picks.
function M.choose(name)
  if name and name ~= '' then
    local found = M.find(name)
    if found then return take(found) end
    return vim.notify(("Warpwright: there is no runner '%s'"):format(name), vim.log.levels.ERROR)
  end
  local current = M.current()
  local items = {}
  for _, one in ipairs(M.all()) do
    local is_current = current and one.name == current.name
    table.insert(items, { text = describe(one, is_current), run = function() take(one) end })
  end
  for _, host in ipairs(ssh_hosts()) do
    local url = 'ssh://' .. host
    if #vim.tbl_filter(function(one) return one.url == url end, M.all()) == 0 then
      table.insert(items, { text = '  ' .. host .. '  (ssh: the runner is copied there and started)', run = function() add(url) end })
    end
  end
  table.insert(items, { text = '  add a runner on another machine ...', run = function() add() end })
  if #saved.added > 0 then table.insert(items, { text = '  remove an added runner ...', run = remove }) end
  vim.ui.select(items, {
    prompt = 'Where to verify and measure',
    format_item = function(item) return item.text end,
  }, function(item)
    if item then item.run() end
  end)
end

return M
