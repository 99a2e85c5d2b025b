// The server's commands, and its requests beyond the Language Server Protocol.
// docs/use/editors.md describes both.
import { NotificationType, Range, RequestType } from 'vscode-languageclient';

/** Names a kernel of a document; what lenses and actions carry and commands take. */
export interface KernelReference {
  uri: string;
  kernel: string;
  version?: number;
  /** Hash of the plan of a variant; absent: the best one. */
  plan?: string;
  /** "in-place": how a module's variant is applied. */
  form?: string;
}

export interface Speedup {
  ratio: number;
  low: number;
  high: number;
  device: string;
}

export interface Variant {
  plan: string;
  title: string;
  moves: string[];
  device: string;
  date: string;
  speedup?: Speedup;
}

export type KernelState =
  | 'notMeasured' | 'missingFacts' | 'queued' | 'measuring' | 'faster' | 'checked' | 'nothingFaster' | 'applied' | 'stale';

export interface Kernel {
  uri: string;
  kernel: string;
  language: string;
  state: KernelState;
  text: string;
  range: Range;
  variants: Variant[];
}

/** A waiting or running job of this session. */
export interface Job {
  kernel: string;
  queued: boolean;
  text: string;
}

export interface Runner {
  state: 'unknown' | 'connecting' | 'ready' | 'failed' | 'untrusted';
  label: string;
  message: string;
  devices: { kind: string; name: string; detail: string }[];
  notes: string[];
  jobs: Job[];
}

/** PTX and machine code of one side beside its source. */
export interface MachineCode {
  source: string;
  ptx: string;
  /** Machine code by nvdisasm; if empty, `missing` has the reason. */
  sass: string;
  missing: string;
  /** [address, line of PTX, line of source], lines from 1. */
  rows: [number, number, number][];
}

/** Answer of the command warpwright.optimize. */
export interface OptimizeResult {
  kernel: string;
  tried: number;
  verified: number;
  best: Speedup | null;
  /** "keep torch.compile: ...", where PyTorch's own code is faster than the best verified plan. */
  keep?: string;
  /** Result of the command warpwright.profile. */
  profile?: string;
}

export const KernelsRequest = new RequestType<{ uris?: string[] }, { kernels: Kernel[] }, void>('warpwright/kernels');
export const VariantRequest = new RequestType<KernelReference, { text: string; version: number }, void>('warpwright/variant');
export const RunnerRequest = new RequestType<{ again?: boolean }, Runner, void>('warpwright/runner');
export const TestRunnerRequest = new RequestType<{ url: string }, Runner, void>('warpwright/testRunner');
export const ReportRequest = new RequestType<{ uris?: string[] }, { html: string; kernels: number }, void>('warpwright/report');
/** `roofline` is SVG, or empty where times or rates are unknown. */
export const DetailsRequest = new RequestType<KernelReference, { roofline: string; before: MachineCode; after: MachineCode }, void>('warpwright/details');
/** A request of LSP 3.18. */
export const TextDocumentContentRequest = new RequestType<{ uri: string }, { text: string }, void>('workspace/textDocumentContent');
export const Changed = new NotificationType<Record<string, never>>('warpwright/changed');

export const kOptimize = 'warpwright.optimize';
export const kCancel = 'warpwright.cancel';
export const kApply = 'warpwright.apply';
export const kReview = 'warpwright.review';
export const kDetails = 'warpwright.details';
export const kProfile = 'warpwright.profile';

/** "2.31x [2.27, 2.35] on NVIDIA H200" */
export function speedupText(speedup: Speedup): string {
  const number = (value: number) => value.toFixed(2);
  return `${number(speedup.ratio)}x [${number(speedup.low)}, ${number(speedup.high)}] on ${speedup.device}`;
}
