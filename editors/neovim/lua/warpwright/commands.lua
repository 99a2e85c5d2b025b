-- The user commands, one function each; plugin/warpwright.lua defines them.
local M = {}

local function warpwright() return require('warpwright') end

function M.Optimize(call)
  if call.bang then return require('warpwright.actions').optimize_all() end
  warpwright().optimize(call.args)
end

function M.Cancel(call) warpwright().cancel(call.args) end
function M.Review(call) warpwright().review(call.args) end
function M.Details(call) warpwright().details(call.args) end
function M.Profile(call) warpwright().profile(call.args) end
function M.Code(call) require('warpwright.details').show_code(call.args) end

function M.Apply(call)
  if call.bang then return warpwright().apply(call.args) end
  require('warpwright.variants').apply(call.args)
end

function M.ApplyInPlace(call) warpwright().apply_in_place(call.args) end
function M.InsertFacts(call) warpwright().insert_facts(call.args) end
function M.Lens() warpwright().run_lens() end
function M.Hover() warpwright().hover() end
function M.Explain() require('warpwright.explain').show() end
function M.Runners(call) warpwright().choose_runner(call.args) end
function M.Trust() warpwright().trust() end
function M.Doctor() require('warpwright.doctor').show() end
function M.Restart() warpwright().restart() end
function M.Log() vim.cmd('tabedit ' .. vim.fn.fnameescape(require('warpwright.compat').log_path())) end

local function names(of)
  if of == 'runners' then return require('warpwright.runners').all(), 'name' end
  return require('warpwright.lens').of(vim.api.nvim_get_current_buf()), 'kernel'
end

--- Completion of 'kernels' or 'runners'.
function M.complete(of, lead)
  local result = {}
  local list, member = names(of)
  for _, one in ipairs(list) do
    local name = one[member]
    if name and vim.startswith(name, lead) then table.insert(result, name) end
  end
  return result
end

return M
