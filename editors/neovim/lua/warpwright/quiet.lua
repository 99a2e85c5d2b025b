-- When the server is started: with the first buffer that may hold a kernel or a module. A Python or
-- C++ file without such a word starts nothing until the word is typed.
local M = {}

-- A word without which a text of the language has no kernel; server/workspace_files.cpp has the same test.
local words = { cuda = '__global__', python = 'Module', cpp = 'Tensor' }

local group = vim.api.nvim_create_augroup('warpwright_quiet', { clear = true })

function M.may_hold_kernels(bufnr)
  local word = words[vim.bo[bufnr].filetype]
  if not word then return true end -- a file type that the user added
  for _, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
    if line:find(word, 1, true) then return true end
  end
  return false
end

--- Calls start(bufnr) once, now or when the buffer may hold a kernel.
function M.when_needed(bufnr, start)
  vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
  if M.may_hold_kernels(bufnr) then return start(bufnr) end
  vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave', 'BufWritePost' }, {
    group = group,
    buffer = bufnr,
    callback = function()
      if not M.may_hold_kernels(bufnr) then return end
      vim.api.nvim_clear_autocmds({ group = group, buffer = bufnr })
      start(bufnr)
    end,
  })
end

return M
