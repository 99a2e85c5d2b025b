// Hosts of the user's ssh configuration, as a choice of runners. Included files and patterns are not
// read; the user can type any other host.
import * as fs from 'fs';
import * as os from 'os';
import * as path from 'path';

/** Names after `Host` that are no patterns, in the order of the file. */
export function hostsOf(config: string): string[] {
  const hosts: string[] = [];
  for (const line of config.split('\n')) {
    const words = /^\s*host[\s=]+(.*)$/i.exec(line.trim())?.[1].split(/\s+/) ?? [];
    hosts.push(...words.filter((word) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(word)));
  }
  return [...new Set(hosts)];
}

export function sshHosts(): string[] {
  try {
    return hostsOf(fs.readFileSync(path.join(os.homedir(), '.ssh', 'config'), 'utf8'));
  } catch {
    return []; // there is no configuration
  }
}
