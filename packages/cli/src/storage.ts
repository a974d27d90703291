import { type Commands, pageFlags, pageOf, present, table, value } from './command.ts';
import { listOf } from './lists.ts';

/** Commands for the audit log, for users' access, and for the database. */
export const storageCommands: Commands = {
  'audit list': {
    about: 'what administrators did, newest first',
    example: '--target client:kafe --by ana@example.com',
    flags: {
      ...pageFlags,
      target: value('only acts on this, such as client:kafe'),
      by: value('only acts of this person or program'),
      act: value('only this kind of act, such as client.disable'),
      from: value('only acts from then on, such as 2030-01-31', { is: 'time' }),
      to: value('only acts before then', { is: 'time' }),
    },
    async run({ admin }, args) {
      const search = {
        ...{ target: args.text('target'), actor: args.text('by'), action: args.text('act') },
        ...{ from: args.time('from'), to: args.time('to') },
      };
      const { entries, next } = await admin.audit.list({ ...pageOf(args), ...present(search) });
      const rows = entries.map(({ at, actor, role, action, target: on, details }) => [
        ...[at, role === null ? actor : `${actor} (${role})`, action, on],
        Object.keys(details).length === 0 ? '' : JSON.stringify(details),
      ]);
      return { text: listOf(['AT', 'WHO', 'DID', 'TO', ''], rows, next), json: { entries, next } };
    },
  },

  'audit verify': {
    about: 'check that nothing in the audit log was changed, removed or added',
    example: '',
    flags: { head: value('a head that this command printed earlier, and that was kept elsewhere') },
    async run({ admin }, args) {
      const found = await admin.audit.verify(present({ head: args.text('head') }));
      const rows = [
        ['acts in the chain', String(found.acts)],
        ['acts from before the chain', String(found.before)],
        ['head', found.head],
      ];
      if (found.ok) return { text: `The chain is whole.\n${table(rows)}`, json: found };
      const { reason, number, id } = found.problem;
      const place = `${number === null ? '' : ` at number ${number}`}${id === null ? '' : `, act ${id}`}`;
      const text = `The audit log is not as it was written${place}: ${reason}`;
      return { text, json: found, exitCode: 1 };
    },
  },

  'access end': {
    about: 'end every consent, code and token of a user',
    example: 'usr_5b1f0c9e7d3a4826',
    positionals: ['sub'],
    question: ({ positionals: [sub] }) => `End all access to ${sub}? Every app must ask the user again.`,
    async run({ admin }, { positionals: [sub = ''] }) {
      await admin.users.end(sub);
      return { text: `Ended: no app has access to ${sub} any more.`, json: { ended: sub } };
    },
  },

  migrate: {
    about: 'bring the schema of the database up to date, and do nothing else',
    example: '',
    // Nothing to do: opening the storage has migrated it.
    run: async () => ({ text: 'The schema is up to date.', json: { migrated: true } }),
  },

  purge: {
    about: 'remove old rows now, which the worker does every ten minutes',
    example: '--yes',
    question: () => 'Remove everything that is past its retention?',
    async run({ admin, terminal }) {
      const removed = await admin.purge({
        onProgress: (done) => terminal.progress({ step: 'removing', done, of: null, unit: 'rows' }),
      });
      const rows = Object.entries(removed).map(([kind, count]) => [kind, String(count)]);
      return { text: table([['REMOVED', ''], ...rows]), json: { removed } };
    },
  },

  reseal: {
    about: 'seal all secrets with the first sealing key now, which the worker does by itself',
    example: '',
    async run({ admin, terminal }) {
      const resealed = await admin.reseal({
        onProgress: (done, of) => terminal.progress({ step: 'sealing again', done, of, unit: 'secrets' }),
      });
      const rows = [
        ['sealed again', String(resealed.sealed)],
        ['opened by no key', String(resealed.unopened)],
      ];
      return { text: table(rows), json: resealed, exitCode: resealed.unopened === 0 ? 0 : 1 };
    },
  },
};
