import type { SigningKeyInfo } from '@ostiary/core/admin';
import { type Commands, present, value } from './command.ts';
import { listOf } from './lists.ts';

function rowOf({ kid, alg, createdAt, activeFrom, signing }: SigningKeyInfo): readonly string[] {
  return [kid, alg, createdAt, activeFrom, signing ? 'signs' : ''];
}

const heads = ['KEY ID', 'ALG', 'CREATED', 'ACTIVE FROM', ''];

/** Commands that list and rotate the keys that sign ID tokens. */
export const signingKeyCommands: Commands = {
  'signing-keys list': {
    about: 'the keys that relying parties see',
    example: '',
    async run({ admin }) {
      const keys = await admin.signingKeys.list();
      return { text: listOf(heads, keys.map(rowOf)), json: { keys } };
    },
  },

  'signing-keys rotate': {
    about: 'make a key that takes over; it is published at once, and signs after a delay',
    example: '--alg ES256 --activate-after 86400',
    flags: {
      alg: value('what it signs with', { oneOf: ['RS256', 'ES256'], default: 'RS256' }),
      'activate-after': value('seconds until it signs; 0 in an emergency', {
        is: 'whole number',
        default: '600',
      }),
    },
    async run({ admin }, args) {
      const alg = args.oneOf('alg', ['RS256', 'ES256']);
      const activateAfterSeconds = args.integer('activate-after');
      const key = await admin.signingKeys.rotate(present({ alg, activateAfterSeconds }));
      return { text: listOf(heads, [rowOf(key)]), json: { key } };
    },
  },
};
