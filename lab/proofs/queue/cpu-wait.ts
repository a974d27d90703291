import { readFileSync } from 'node:fs';

/**
 * How long a process was ready to run while others had the CPU, in milliseconds since it began; 0 where the system does
 * not say.
 */
export function cpuWait(pid: number): number {
  try {
    const [, waited] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waited) / 1e6;
  } catch {
    return 0;
  }
}
