import type { DemoFile } from '../demo-file.ts';
import type { Receiver } from '../walkthrough/receiver.ts';
import type { Report } from '../walkthrough/report.ts';
import type { Front } from './front.ts';
import type { Results } from './results.ts';
import type { ServerProcess } from './server-process.ts';

/** Everything that runs while the demo does. */
export interface Cluster {
  readonly file: DemoFile;
  readonly front: Front;
  readonly webs: readonly ServerProcess[];
  readonly workers: readonly ServerProcess[];
  readonly receiver: Receiver;
  /** Writes nothing; its checks end the demo when they do not hold. */
  readonly report: Report;
  readonly results: Results;
  readonly databaseUrl: string;
  /** The settings of every process. */
  readonly env: Readonly<Record<string, string>>;
  say(line: string): void;
}
