-- Warpwright in Neovim, 0.7.2 or newer: starts `warpwright lsp` for CUDA and Python buffers and shows what it says.
-- A thin client that decides nothing: lenses, hovers, actions and edits are the server's. It leaves out inlay
-- hints before Neovim 0.10, which cannot show them.
--
--   require('warpwright').setup{ cmd = {'warpwright', 'lsp'}, settings = { budget = '30s' } }
local M = {}

local defaults = {
  cmd = { 'warpwright', 'lsp' },
  filetypes = { 'cuda', 'python', 'cpp' },
  root_markers = { '.warpwright.toml', 'compile_commands.json', '.git' },
  settings = {}, -- runner, python, device, budget, maxVariants, disabledRules, hover, inlayHints
  lens = true,   -- keep code lenses up to date
  on_attach = nil,
}

local options = defaults
local clients = {} -- root directory -> client id

local function find_root(path)
  local folder = vim.fn.fnamemodify(path, ':p:h')
  local current = folder
  while true do
    for _, marker in ipairs(options.root_markers) do
      if vim.loop.fs_stat(current .. '/' .. marker) then return current end
    end
    local parent = vim.fn.fnamemodify(current, ':h')
    if parent == current then return folder end
    current = parent
  end
end

local function our_client(bufnr)
  for _, client in pairs(vim.lsp.buf_get_clients(bufnr)) do
    if client.name == 'warpwright' then return client end
  end
end

local function refresh_lenses(bufnr)
  if options.lens and vim.api.nvim_buf_is_loaded(bufnr) then
    vim.api.nvim_buf_call(bufnr, vim.lsp.codelens.refresh)
  end
end

-- Requests that Neovim 0.7 does not answer by itself.
local function handlers()
  return {
    ['workspace/codeLens/refresh'] = function(_, _, context)
      for _, bufnr in ipairs(vim.lsp.get_buffers_by_client_id(context.client_id)) do
        refresh_lenses(bufnr)
      end
      return vim.NIL
    end,
    ['workspace/configuration'] = function(_, params)
      local answer = {}
      for _, item in ipairs(params.items) do
        table.insert(answer, item.section == 'warpwright' and options.settings or vim.NIL)
      end
      return answer
    end,
  }
end

local function capabilities()
  local result = vim.lsp.protocol.make_client_capabilities()
  result.workspace.codeLens = { refreshSupport = true }
  result.workspace.configuration = true
  return result
end

-- Runs a command of the server on the kernel of this buffer: a name, or the one at the cursor's lens.
local function run(command, kernel, on_done, form)
  local bufnr = vim.api.nvim_get_current_buf()
  local client = our_client(bufnr)
  if not client then
    return vim.notify('Warpwright is not running in this buffer', vim.log.levels.WARN)
  end
  local function send(name)
    local arguments = { { uri = vim.uri_from_bufnr(bufnr), kernel = name, form = form } }
    client.request('workspace/executeCommand', { command = command, arguments = arguments }, function(err, result)
      if err then vim.notify('Warpwright: ' .. err.message, vim.log.levels.ERROR) end
      if on_done then on_done(err, result) end
    end, bufnr)
  end
  if kernel and kernel ~= '' then return send(kernel) end
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  client.request('textDocument/codeLens', { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }, function(_, lenses)
    local best
    for _, lens in ipairs(lenses or {}) do -- the last kernel that begins at or above the cursor
      if lens.range.start.line <= line or not best then best = lens end
    end
    if not best then return vim.notify('Warpwright sees no kernel in this buffer', vim.log.levels.WARN) end
    send(best.data.kernel)
  end, bufnr)
end

function M.optimize(kernel, on_done) run('warpwright.optimize', kernel, on_done) end
function M.cancel(kernel, on_done) run('warpwright.cancel', kernel, on_done) end
function M.apply(kernel, on_done) run('warpwright.apply', kernel, on_done) end
-- Into the forward of a Python module, instead of adding a class.
function M.apply_in_place(module, on_done) run('warpwright.apply', module, on_done, 'in-place') end
function M.insert_facts(kernel, on_done) run('warpwright.insertFacts', kernel, on_done) end

local function attach(bufnr)
  local path = vim.api.nvim_buf_get_name(bufnr)
  if path == '' or vim.bo[bufnr].buftype ~= '' then return end
  local root = find_root(path)
  local id = clients[root]
  if not id or vim.lsp.client_is_stopped(id) then
    id = vim.lsp.start_client({
      name = 'warpwright',
      cmd = options.cmd,
      root_dir = root,
      capabilities = capabilities(),
      init_options = options.settings,
      handlers = handlers(),
      on_attach = function(client, buffer)
        refresh_lenses(buffer)
        if options.on_attach then options.on_attach(client, buffer) end
      end,
    })
    clients[root] = id
  end
  if id then vim.lsp.buf_attach_client(bufnr, id) end
end

function M.setup(user)
  options = vim.tbl_extend('force', defaults, user or {})
  if vim.tbl_isempty(options.settings) then options.settings = vim.empty_dict() end
  if vim.filetype and vim.filetype.add then
    vim.filetype.add({ extension = { cu = 'cuda', cuh = 'cuda' } })
  end
  local group = vim.api.nvim_create_augroup('warpwright', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = options.filetypes,
    callback = function(event) attach(event.buf) end,
  })
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'BufWritePost' }, {
    group = group,
    pattern = { '*.cu', '*.cuh', '*.py' },
    callback = function(event)
      if our_client(event.buf) then refresh_lenses(event.buf) end
    end,
  })
  for name, command in pairs({
    WarpwrightOptimize = M.optimize,
    WarpwrightCancel = M.cancel,
    WarpwrightApply = M.apply,
    WarpwrightApplyInPlace = M.apply_in_place,
    WarpwrightInsertFacts = M.insert_facts,
  }) do
    vim.api.nvim_create_user_command(name, function(call) command(call.args) end, { nargs = '?' })
  end
end

return M
