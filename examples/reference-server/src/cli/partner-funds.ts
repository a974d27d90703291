import { type Commands, CommandUsageError, table, value } from '@ostiary/cli';
import { type Administration, PartnerNameError } from '@ostiary/core/admin';
import type { Installation } from '../installation.ts';
import { formatMoney } from '../ledger/money.ts';
import { type Funds, ledgerCurrencies } from '../ledger/postings.ts';

async function requirePartner(admin: Administration, slug: string): Promise<void> {
  if ((await admin.partners.get(slug)) === null) throw new PartnerNameError('partner_not_found', slug);
}

const inWords = ({ HTG, USD }: Funds) => ({ HTG: formatMoney(HTG), USD: formatMoney(USD) });

/** Commands for the funding accounts of partners. */
export const partnerFundCommands: Commands<Installation> = {
  'partners fund': {
    about: 'record money of a partner that has arrived on your bank account',
    example: 'kafe --amount 1250.00 --currency HTG --reference BNK-2026-0113',
    flags: {
      amount: value('such as 1250.00', { required: true }),
      currency: value('HTG or USD', { required: true, oneOf: ledgerCurrencies }),
      reference: value('id of the money at your bank: it is recorded once, however often the command runs'),
    },
    positionals: ['slug'],
    async run({ admin, subject }, args) {
      const [slug = ''] = args.positionals;
      const amount = args.required('amount');
      const currency = args.oneOf('currency', ledgerCurrencies);
      if (currency === undefined) throw new CommandUsageError('--currency is missing');
      await requirePartner(admin, slug);
      // Copied text often has blanks around it, with which the same money would be recorded twice.
      const reference = args.text('reference')?.trim() ?? null;
      if (reference === '') throw new CommandUsageError('--reference is empty');
      const { funds: all, isRepeated } = await subject.ledger.fund(slug, amount, currency, reference);
      const funds = inWords(all);
      const has = `${slug} has ${funds[currency]} ${currency}`;
      const details = { amount, currency, reference, ...(isRepeated && { isRepeated }) };
      const act = { action: 'partner.fund', target: `partner:${slug}`, details };
      await admin.audit.record(act).catch((cause: Error) => {
        // An operator who reads only of a failure repeats the command, and without a reference the money is there twice.
        throw new Error(
          `${has}: the money was recorded, do not repeat this. Only the audit log lacks it (${cause.message})`,
          { cause },
        );
      });
      const text = isRepeated ? `${has}: this reference was recorded before.` : `${has}.`;
      return { text, json: { partner: slug, funds, isRepeated } };
    },
  },

  'partners funds': {
    about: 'funds from which a partner can pay',
    example: 'kafe',
    positionals: ['slug'],
    async run({ admin, subject }, { positionals: [slug = ''] }) {
      await requirePartner(admin, slug);
      const funds = inWords(await subject.ledger.funds(slug));
      return { text: table(Object.entries(funds)), json: { partner: slug, funds } };
    },
  },
};
