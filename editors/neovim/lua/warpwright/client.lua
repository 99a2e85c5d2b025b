-- The server's process: started for a project's root, attached to its buffers, and restarted after
-- a crash.
--
-- Requests without an answer are lost when a server ends, and Neovim does not report this to their
-- callers. Therefore running commands are kept in `pending`, and fail with a message.
local M = {}

local compat = require('warpwright.compat')
local options = require('warpwright.options')

local ids = {} -- root directory -> client id
local attached = {} -- root directory -> bufnr -> true
local pending = {} -- client id -> request -> on_done
local is_expected_to_end = {} -- client id -> true
local ends = {} -- root directory -> times in ms at which a server ended by itself
local is_leaving = false
local restart_window_ms = 180000

local function find_root(path)
  local folder = vim.fn.fnamemodify(path, ':p:h')
  local current = folder
  while true do
    for _, marker in ipairs(options.current.root_markers) do
      if compat.uv.fs_stat(current .. '/' .. marker) then return current end
    end
    local parent = vim.fn.fnamemodify(current, ':h')
    if parent == current then return folder end
    current = parent
  end
end

--- What the server is told: an empty table would arrive as a list.
local function settings()
  local current = options.current.settings
  return vim.tbl_isempty(current) and vim.empty_dict() or current
end

-- Requests that Neovim 0.7 does not answer by itself, and notifications that others hang on.
local function handlers()
  local lens = require('warpwright.lens')
  return {
    ['$/progress'] = require('warpwright.progress').handler,
    ['workspace/codeLens/refresh'] = function(_, _, context)
      lens.refresh_all(context.client_id)
      return vim.NIL
    end,
    ['workspace/configuration'] = function(_, params)
      local answer = {}
      for _, item in ipairs(params.items) do
        table.insert(answer, item.section == 'warpwright' and settings() or vim.NIL)
      end
      return answer
    end,
    ['textDocument/publishDiagnostics'] = function(err, params, context, config)
      vim.lsp.handlers['textDocument/publishDiagnostics'](err, params, context, config)
      if params then lens.refresh(vim.uri_to_bufnr(params.uri)) end -- the text was analysed anew
    end,
    ['window/showMessageRequest'] = require('warpwright.trust').answer,
    ['window/showMessage'] = function(_, params)
      local levels = { vim.log.levels.ERROR, vim.log.levels.WARN }
      vim.notify(params.message, levels[params.type] or vim.log.levels.INFO)
      return vim.NIL
    end,
  }
end

local function capabilities()
  local result = vim.lsp.protocol.make_client_capabilities()
  result.workspace.codeLens = { refreshSupport = true }
  result.workspace.configuration = true
  result.window = result.window or {}
  result.window.workDoneProgress = true
  result.window.showDocument = { support = true } -- by warpwright.details and warpwright.variants
  result.textDocument.diagnostic = nil -- published ones say when lenses change
  return result
end

local function on_attach(client, bufnr)
  require('warpwright.lens').refresh(bufnr)
  if options.current.inlay_hints then compat.show_inlay_hints(bufnr) end
  if options.current.hover_key then
    local hover = function() require('warpwright.hover').show() end
    vim.keymap.set('n', options.current.hover_key, hover, { buffer = bufnr, desc = 'Hover of all language servers' })
  end
  if options.current.on_attach then options.current.on_attach(client, bufnr) end
end

-- In Lua tables of functions, so that a command that starts as a lens or a code action of Neovim's own is followed too.
local function commands()
  local result = {}
  for _, name in ipairs({ 'optimize', 'cancel', 'apply', 'review', 'details', 'profile', 'insertFacts', 'trust' }) do
    result['warpwright.' .. name] = function(command, context)
      local client = vim.lsp.get_client_by_id(context.client_id)
      if client then require('warpwright.actions').execute(client, context.bufnr, command) end
    end
  end
  return result
end

local function fail_pending(client_id, message)
  local waiting = pending[client_id] or {}
  pending[client_id] = nil
  for _, on_done in pairs(waiting) do on_done({ message = message }) end
end

local function count_end(root)
  local now = compat.uv.now()
  local recent = vim.tbl_filter(function(time) return now - time < restart_window_ms end, ends[root] or {})
  table.insert(recent, now)
  ends[root] = recent
  return #recent
end

-- Exit code 0 and SIGTERM are how a server ends that was asked to, by whomever; all else is an accident.
local function on_exit(root, code, signal, client_id)
  local buffers = attached[root] or {}
  if ids[root] == client_id then ids[root] = nil end
  require('warpwright.progress').forget(client_id)
  local was_asked = is_expected_to_end[client_id] or is_leaving or (code == 0 and (signal == 0 or signal == 15))
  is_expected_to_end[client_id] = nil
  fail_pending(client_id, was_asked and 'the server was stopped' or 'the server ended before it answered')
  for bufnr in pairs(buffers) do require('warpwright.lens').clear(bufnr) end
  if was_asked then return end
  local how = signal ~= 0 and ('by signal %d'):format(signal) or ('with exit code %d'):format(code)
  local times = count_end(root)
  if times > options.current.restarts then
    local text = 'Warpwright: the server ended %s, %d times in three minutes, and is not started again. '
      .. ':WarpwrightDoctor and :WarpwrightLog may say why; :WarpwrightRestart starts it.'
    return vim.notify(text:format(how, times), vim.log.levels.ERROR)
  end
  vim.notify(('Warpwright: the server ended %s and is started again.'):format(how), vim.log.levels.WARN)
  for bufnr in pairs(buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) then M.attach(bufnr) end
  end
end

local has_said_missing = false

local function start(root)
  local command = options.command()
  if vim.fn.executable(command[1]) == 0 then
    if not has_said_missing then
      local text = "Warpwright: there is no program '%s'. Put it on the PATH, or name it in setup{ cmd = { '/path/to/warpwright', 'lsp' } }."
      vim.notify(text:format(command[1]), vim.log.levels.ERROR)
    end
    has_said_missing = true
    return nil
  end
  has_said_missing = false
  return compat.start({
    name = 'warpwright',
    cmd = command,
    root_dir = root,
    capabilities = capabilities(),
    init_options = settings(),
    handlers = handlers(),
    commands = commands(),
    on_attach = on_attach,
    on_exit = function(code, signal, client_id)
      vim.schedule(function() on_exit(root, code, signal, client_id) end)
    end,
  })
end

--- The client of a buffer.
function M.of(bufnr) return compat.clients(bufnr)[1] end

function M.attach(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if path == '' or vim.bo[bufnr].buftype ~= '' then return end
  local root = find_root(path)
  local client = ids[root] and vim.lsp.get_client_by_id(ids[root])
  if not client or compat.is_stopped(client) then ids[root] = start(root) end
  if not ids[root] then return end
  attached[root] = attached[root] or {}
  attached[root][bufnr] = true
  vim.lsp.buf_attach_client(bufnr, ids[root])
end

--- Sends a command; on_done(err, result) is called once, also when the server ends before it answers.
function M.execute(client, bufnr, command, on_done)
  local key = {}
  local of_client = pending[client.id] or {}
  pending[client.id] = of_client
  of_client[key] = on_done
  local params = { command = command.command, arguments = command.arguments }
  local sent = compat.request(client, 'workspace/executeCommand', params, function(err, result)
    if not of_client[key] then return end
    of_client[key] = nil
    on_done(err, result)
  end, bufnr)
  if not sent and of_client[key] then
    of_client[key] = nil
    on_done({ message = 'the server is not running' })
  end
end

--- Tells every server the settings as they are now.
function M.send_settings()
  for _, client in ipairs(compat.clients()) do
    compat.notify(client, 'workspace/didChangeConfiguration', { settings = { warpwright = settings() } })
  end
end

function M.restart()
  ends = {}
  for _, client in ipairs(compat.clients()) do
    is_expected_to_end[client.id] = true
    compat.stop(client, true)
  end
  ids = {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local is_ours = vim.tbl_contains(options.current.filetypes, vim.bo[bufnr].filetype)
    if vim.api.nvim_buf_is_loaded(bufnr) and is_ours then require('warpwright.quiet').when_needed(bufnr, M.attach) end
  end
end

function M.leave() is_leaving = true end

return M
