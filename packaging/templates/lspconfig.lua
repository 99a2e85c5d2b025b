---@brief
---
--- @REPOSITORY@
---
--- Warpwright finds faster versions of CUDA kernels and PyTorch modules, verified and measured.
--- It runs together with clangd and a Python server, and offers no completion or navigation.

---@type vim.lsp.Config
return {
  cmd = { 'warpwright', 'lsp' },
  filetypes = { 'cuda', 'python', 'cpp' },
  root_markers = { '.warpwright.toml', 'compile_commands.json', '.git' },
}
