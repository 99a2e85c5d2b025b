---@brief
---
--- @REPOSITORY@
---
--- Warpwright finds faster versions of CUDA kernels and PyTorch modules, verified and measured.
--- It runs beside clangd and a Python server: it offers no completion, navigation or formatting.

---@type vim.lsp.Config
return {
  cmd = { 'warpwright', 'lsp' },
  filetypes = { 'cuda', 'python', 'cpp' },
  root_markers = { '.warpwright.toml', 'compile_commands.json', '.git' },
}
