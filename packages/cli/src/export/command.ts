import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { writeFileAtomically } from '../atomic-write.ts';
import { type Commands, CommandUsageError, table, value } from '../command.ts';
import { modeFlag, ownerOf } from '../webhooks.ts';
import { verifyExport } from './verify.ts';

const formats = ['csv', 'json', 'ndjson'] as const;
const day = 'such as 2030-01-31, UTC';

/** Commands that write the exports of the partner API to a file. */
export const exportCommands: Commands = {
  export: {
    about: 'write the final transfers of a partner to a file, and verify it',
    example: 'kafe --from 2026-01-01 --to 2026-01-31 --file kafe-january.csv',
    flags: {
      from: value(`first day, ${day}`, { required: true }),
      to: value(`last day, included, ${day} (that day; at most 31 days)`),
      file: value('where to; it must not be there yet', { required: true }),
      format: value('how it is written', { oneOf: formats, default: 'csv' }),
      ...modeFlag,
    },
    positionals: ['partner'],
    async run({ admin, terminal }, args) {
      const from = args.required('from');
      const to = args.text('to') ?? from;
      const problems = Object.entries({ from, to })
        .filter(([, given]) => !/^\d{4}-\d{2}-\d{2}$/.test(given))
        .map(([flag, given]) => `--${flag} must be a day ${day}, not ${JSON.stringify(given)}`);
      if (problems.length > 0) throw new CommandUsageError(problems);
      const format = args.oneOf('format', formats) ?? 'csv';
      const file = args.required('file');
      const request = { ...(await ownerOf(admin, args)), from, to, format };
      const pieces = await admin.reconciliation.export(request, {
        onProgress: (done, of) => terminal.progress({ step: 'exporting', done, of, unit: 'rows (about)' }),
      });
      const summary = await writeFileAtomically(file, async (unfinished) => {
        await pipeline(Readable.from(pieces), createWriteStream(unfinished, { mode: 0o600 }));
        return verifyExport(unfinished, format);
      });
      const totals = summary.totals.map(({ currency, status, count, amount }) => [
        ...[currency, status, String(count), amount],
      ]);
      const closed = summary.final ? 'Every day is closed.' : 'Not every day is closed: more may be added.';
      return {
        text: [
          `Wrote ${summary.rows} rows to ${file}, and verified them. ${closed}`,
          table([...totals, ['SHA-256', summary.sha256]]),
        ].join('\n'),
        json: { file, format, from, to, ...summary },
      };
    },
  },
};
