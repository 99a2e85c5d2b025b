-- Differences between Neovim 0.7.2 and the newest version, one function each. Other files do not
-- check versions. Functions that are deprecated in a version are not called in that version.
local M = {}

local has_methods = vim.fn.has('nvim-0.11') == 1 -- client:request(...) instead of client.request(...)

M.uv = vim.uv or vim.loop

--- Clients of this plugin, of one buffer or of all.
function M.clients(bufnr)
  local all
  if vim.lsp.get_clients then
    all = vim.lsp.get_clients({ bufnr = bufnr })
  elseif bufnr then
    all = vim.lsp.buf_get_clients(bufnr)
  else
    all = vim.lsp.get_active_clients()
  end
  return vim.tbl_filter(function(client) return client.name == 'warpwright' end, vim.tbl_values(all))
end

--- Every client of a buffer that answers `method`.
function M.clients_with(bufnr, method)
  local all = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = bufnr }) or vim.lsp.buf_get_clients(bufnr)
  local result = {}
  for _, client in pairs(all) do
    local supports = has_methods and client:supports_method(method, bufnr) or (not has_methods and client.supports_method(method))
    if supports then table.insert(result, client) end
  end
  table.sort(result, function(a, b) return a.id < b.id end)
  return result
end

--- @return boolean sent, integer? id of the request
function M.request(client, method, params, callback, bufnr)
  if has_methods then return client:request(method, params, callback, bufnr) end
  return client.request(method, params, callback, bufnr)
end

function M.notify(client, method, params)
  if has_methods then return client:notify(method, params) end
  return client.notify(method, params)
end

function M.stop(client, force)
  if has_methods then return client:stop(force) end
  return client.stop(force)
end

function M.is_stopped(client)
  if has_methods then return client:is_stopped() end
  return client.is_stopped()
end

--- Starts a client without attaching it.
--- @return integer? id; nil when the program could not be started
function M.start(config)
  if has_methods then return vim.lsp.start(config, { attach = false, reuse_client = function() return false end }) end
  return vim.lsp.start_client(config)
end

function M.position_params(window, client)
  return vim.lsp.util.make_position_params(window, client.offset_encoding)
end

function M.show_inlay_hints(bufnr)
  local hint = vim.lsp.inlay_hint
  if type(hint) ~= 'table' or not hint.enable then return end
  if not pcall(hint.enable, true, { bufnr = bufnr }) then pcall(hint.enable, bufnr, true) end
end

function M.log_path()
  if vim.lsp.log and vim.lsp.log.get_filename then return vim.lsp.log.get_filename() end
  return vim.lsp.get_log_path()
end

--- Functions of a health report under one set of names.
function M.health()
  local health = vim.health or require('health')
  return {
    start = health.start or health.report_start,
    ok = health.ok or health.report_ok,
    warn = health.warn or health.report_warn,
    error = health.error or health.report_error,
    info = health.info or health.report_info,
  }
end

return M
