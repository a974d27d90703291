import { type Commands, CommandUsageError, value } from './command.ts';
import { emptyOrList, listOf } from './lists.ts';
import { modeFlag, ownerOf } from './webhooks.ts';

/** Parses the data of an event. @throws CommandUsageError */
function dataOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandUsageError('--data must be JSON, such as \'{"message":"hello"}\'', { cause });
  }
}

/** Commands for the events of partners. */
export const eventCommands: Commands = {
  'events list': {
    about: 'the newest events of a partner, or those after a sequence number',
    example: 'kafe --after 1041',
    flags: {
      ...modeFlag,
      after: value('sequence number after which the list begins', { is: 'whole number' }),
      limit: value('rows at most, up to 500', { is: 'whole number', default: '100' }),
    },
    positionals: ['partner'],
    async run({ admin }, args) {
      const owner = await ownerOf(admin, args);
      const [after, limit] = [args.integer('after'), args.integer('limit') ?? 100];
      const events = await admin.webhooks.events(owner, { limit, ...(after !== undefined && { after }) });
      const rows = events.map(({ id, type, sequence, createdAt }) => [String(sequence), id, type, createdAt]);
      const text = await emptyOrList({
        ...{ owner, what: 'events', isFiltered: after !== undefined },
        text: rows.length === 0 ? null : listOf(['SEQUENCE', 'EVENT', 'TYPE', 'CREATED'], rows),
        countIn: async (other) => (await admin.webhooks.events(other)).length,
      });
      return { text, json: { events } };
    },
  },

  trigger: {
    about: 'send a test event to the test endpoints of a partner',
    example: 'kafe payment.completed',
    flags: { data: value('data of the event as JSON (the example of its type)') },
    positionals: ['partner', 'event type'],
    async run({ admin }, args) {
      const [partner = '', type = ''] = args.positionals;
      const event = await admin.webhooks.trigger(partner, type, dataOf(args.text('data')));
      const next = `ostiary deliveries list ${partner} --mode test --event ${event.id}`;
      return { text: `Published ${event.id} (${event.type}) in test mode.`, json: { event }, note: next };
    },
  },
};
