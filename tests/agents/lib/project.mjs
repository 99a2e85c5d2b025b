// A project with a kernel in a Git repository, and a user with a state folder of their own, so that
// a test touches nothing else.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const bin = process.env.WARPWRIGHT_BIN;
export const warpwright = path.join(bin, 'warpwright');

export const softmax = `#include <cstdio>

__global__ void softmax(const float *x, float *y, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows)
    return;
  float largest = x[row * cols];
  for (int j = 1; j < cols; j++)
    largest = fmaxf(largest, x[row * cols + j]);
  float sum = 0.0f;
  for (int j = 0; j < cols; j++)
    sum += expf(x[row * cols + j] - largest);
  for (int j = 0; j < cols; j++)
    y[row * cols + j] = expf(x[row * cols + j] - largest) / sum;
}

int main() {
  const int rows = 64, cols = 100;
  float *x, *y;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&y, rows * cols * sizeof(float));
  softmax<<<(rows + 63) / 64, 64>>>(x, y, rows, cols);
  return cudaDeviceSynchronize();
}
`;

/** Replaces the one occurrence of a text. */
export function replaced(text, before, after) {
  if (text.split(before).length !== 2) throw new Error(`${before} is not in the text once`);
  return text.replace(before, () => after);
}

export class Project {
  constructor(files = { 'src/softmax.cu': softmax }) {
    this.home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'warpwright-agent-')));
    this.root = path.join(this.home, 'project');
    this.environment = {
      PATH: process.env.PATH,
      HOME: this.home,
      XDG_STATE_HOME: path.join(this.home, 'state'),
      XDG_CONFIG_HOME: path.join(this.home, 'config'),
      XDG_CACHE_HOME: path.join(this.home, 'cache'),
    };
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    this.git('init', '--quiet');
    this.commit('The original');
  }

  git(...words) {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.invalid'];
    return execFileSync('git', ['-C', this.root, ...identity, ...words], { encoding: 'utf8', env: this.environment });
  }

  commit(message) {
    this.git('add', '--all');
    this.git('commit', '--quiet', '--message', message);
  }

  write(name, text) {
    const file = path.join(this.root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }

  read(name) {
    return fs.readFileSync(path.join(this.root, name), 'utf8');
  }

  /** What the user does in a terminal. */
  trust() {
    execFileSync(warpwright, ['trust', '--yes', this.root], { env: this.environment, stdio: 'pipe' });
  }

  isTrusted() {
    return execFileSync(warpwright, ['trust', '--list'], { env: this.environment, encoding: 'utf8' }).includes(this.root);
  }

  remove() {
    fs.rmSync(this.home, { recursive: true, force: true });
  }
}
