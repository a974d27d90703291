import { readFileSync } from 'node:fs';

/**
 * Field of `/proc/stat` (proc_stat(5)) with the time that other virtual machines took from this machine's
 * processors.
 */
const stolenField = 7;

function processorTimes(): { readonly stolen: number; readonly all: number } | null {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    // Later fields (guest time) are already included in earlier ones.
    const times = line
      .trim()
      .split(/\s+/)
      .slice(1, stolenField + 2)
      .map(Number);
    return { stolen: times[stolenField] ?? 0, all: times.reduce((sum, time) => sum + time, 0) };
  } catch {
    return null;
  }
}

/**
 * Measures the time that other virtual machines take from this machine's processors. @returns a function that
 * makes a line for the end of a report
 */
export function watchStolenTime(): () => string {
  const begin = processorTimes();
  return () => {
    const end = processorTimes();
    if (begin === null || end === null) return 'this system does not tell what other machines took';
    const share = (end.stolen - begin.stolen) / (end.all - begin.all);
    return `other virtual machines took ${(100 * share).toFixed(1)} % of the processors meanwhile`;
  };
}
