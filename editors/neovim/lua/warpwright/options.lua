-- Options of `setup{}` with their defaults and checks.
--
-- A wrong option is reported once and replaced by its default, so the editor starts despite a typing
-- mistake. The server checks the values under `settings` and reports unusable values.
local M = {}

M.defaults = {
  cmd = nil, -- { 'warpwright', 'lsp' }; nil: see M.command
  filetypes = { 'cuda', 'python', 'cpp' },
  root_markers = { '.warpwright.toml', 'compile_commands.json', '.git' },
  settings = {}, -- runner, python, device, budget, maxVariants, policy, learn, disabledRules, hover, inlayHints, languages, standalone, trusted
  runners = {}, -- { { name = 'lab', url = 'tls://gpu.example.org:4433?ca=...', device = 'cuda:0' }, ... }
  lens = 'above', -- its line, at the 'end' of it, or false
  hover_key = 'K', -- mapped in attached buffers to the hover of all servers; false maps nothing
  inlay_hints = true, -- where Neovim can show them (0.10 and newer)
  notify = true, -- say when an optimization ended
  restarts = 3, -- of a server that ended by itself, within three minutes
  on_attach = nil, -- function(client, bufnr)
}

local types = {
  cmd = { 'table' },
  filetypes = { 'table' },
  root_markers = { 'table' },
  settings = { 'table' },
  runners = { 'table' },
  lens = { 'string', 'boolean' },
  hover_key = { 'string', 'boolean' },
  inlay_hints = { 'boolean' },
  notify = { 'boolean' },
  restarts = { 'number' },
  on_attach = { 'function' },
}

M.current = vim.deepcopy(M.defaults)

--- @return table options, string[] problems: one sentence each
function M.merge(user)
  local result, problems = vim.deepcopy(M.defaults), {}
  for name, value in pairs(user or {}) do
    local wanted = types[name]
    if not wanted then
      local known = vim.tbl_keys(types)
      table.sort(known)
      table.insert(problems, ("setup{} has no option '%s'; it has %s"):format(name, table.concat(known, ', ')))
    elseif not vim.tbl_contains(wanted, type(value)) then
      table.insert(problems, ("the option '%s' must be a %s, it is a %s"):format(name, table.concat(wanted, ' or '), type(value)))
    else
      result[name] = vim.deepcopy(value) -- ours to change
    end
  end
  if result.lens == true then result.lens = M.defaults.lens end
  if result.lens and result.lens ~= 'end' and result.lens ~= 'above' then
    table.insert(problems, ("the option 'lens' must be 'end', 'above' or false, it is '%s'"):format(result.lens))
    result.lens = M.defaults.lens
  end
  if result.hover_key == true then result.hover_key = 'K' end
  return result, problems
end

--- The server's command: the option, the program on the PATH, or the one that this plugin came with (an unpacked
--- archive, or a checkout that was built).
function M.command()
  if M.current.cmd then return M.current.cmd end
  if vim.fn.executable('warpwright') == 1 then return { 'warpwright', 'lsp' } end
  local plugin = vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h:h:h')
  local above = '/../../../../../../..' -- of share/nvim/site/pack/warpwright/start/warpwright.nvim
  for _, place in ipairs({ above .. '/bin/warpwright', '/../../build/release/bin/warpwright' }) do
    local program = vim.fn.resolve(plugin) .. place
    if vim.fn.executable(program) == 1 then return { vim.fn.resolve(program), 'lsp' } end
  end
  return { 'warpwright', 'lsp' }
end

--- The command without `lsp`, for the program's other commands: what stands before it, a wrapper included.
function M.program()
  local result = {}
  for _, word in ipairs(M.command()) do
    if word == 'lsp' then break end
    table.insert(result, word)
  end
  return result
end

return M
