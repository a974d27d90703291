import { describe, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import type * as inbox from '../../core/src/partner/inbox-schemas.ts';
import type * as core from '../../core/src/partner/schemas.ts';
import type * as hooks from '../../core/src/partner/webhook-schemas.ts';
import type { transferSchema } from '../../core/src/schemas/transfer.ts';
import type { readyScopes } from '../../core/src/scopes/ready-scopes.ts';
import type { scopes } from '../../core/src/scopes/scopes.ts';
import type * as sdk from '../src/index.ts';
import type { Userinfo } from '../src/oauth/index.ts';
import type * as books from '../src/reconciliation/index.ts';

// Types are compared in both directions: a field that one side gains, loses or types differently is a compile
// error below.

/** Removes `readonly`, and `undefined` from optional members, of a type at every depth. */
type Plain<T> = T extends Date | string
  ? T
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { -readonly [Name in keyof T]: Plain<Exclude<T[Name], undefined>> }
      : T;

/** Keeps only the literals of text types at every depth, without the openness for values of newer servers. */
type Literals<T> = T extends string ? (string extends T ? never : T) : never;
type ClosedText<T> = [Literals<T>] extends [never] ? T : Literals<T> | Exclude<T, string>;
type ClosedMembers<T> = T extends string
  ? T
  : T extends readonly (infer Item)[]
    ? ClosedMembers<Item>[]
    : T extends object
      ? { [Name in keyof T]: ClosedMembers<ClosedText<T[Name]>> }
      : T;

/** Type of a response according to the server's schema. */
type Server<Schema extends z.ZodType> = Plain<z.output<Schema>>;
type Sdk<T> = ClosedMembers<Plain<T>>;

/** Type of a request that the server accepts; the SDK may also pass a `Date` for a text. */
type Taken<Schema extends z.ZodType> = Plain<z.input<Schema>>;
type Sent<T> = Plain<{ [Name in keyof T]: Exclude<T[Name], Date> }>;

/** Converts numbers in a type to text, as in a query string. */
type Text<T> = { [Name in keyof T]: T[Name] extends number | undefined ? string : T[Name] };

describe('types', () => {
  it('of responses are those of the server', () => {
    expectTypeOf<Sdk<sdk.Transfer>>().toEqualTypeOf<Server<typeof transferSchema>>();
    expectTypeOf<Sdk<sdk.CursorPage<sdk.Transfer>>>().toEqualTypeOf<Server<typeof core.transferList>>();
    expectTypeOf<Sdk<sdk.User>>().toEqualTypeOf<Server<typeof core.userSchema>>();
    expectTypeOf<Sdk<sdk.Verification>>().toEqualTypeOf<Server<typeof core.verification>>();
    expectTypeOf<Sdk<sdk.SandboxPassport>>().toEqualTypeOf<Server<typeof core.sandboxPassport>>();
    expectTypeOf<Sdk<sdk.Whoami>>().toEqualTypeOf<Server<typeof core.whoamiSchema>>();
    expectTypeOf<Sdk<sdk.WebhookEndpoint>>().toEqualTypeOf<Server<typeof hooks.endpointSchema>>();
    expectTypeOf<Sdk<sdk.WebhookRemoved>>().toEqualTypeOf<Server<typeof hooks.endpointRemoved>>();
    expectTypeOf<Sdk<sdk.CursorPage<sdk.Delivery>>>().toEqualTypeOf<Server<typeof hooks.deliveryList>>();
    expectTypeOf<Sdk<sdk.Redeliveries>>().toEqualTypeOf<Server<typeof hooks.redeliveries>>();
    expectTypeOf<Sdk<sdk.Recovered>>().toEqualTypeOf<Server<typeof hooks.recovered>>();
    expectTypeOf<Sdk<sdk.EventPage>>().toEqualTypeOf<Server<typeof hooks.eventList>>();
    expectTypeOf<Sdk<sdk.SentEvent>>().toEqualTypeOf<Server<typeof hooks.sentEvent>>();
    expectTypeOf<Sdk<sdk.InboxRequest>>().toEqualTypeOf<Server<typeof inbox.inboxRequest>>();
    expectTypeOf<Sdk<sdk.AnswerCounted>>().toEqualTypeOf<Server<typeof inbox.answerTaken>>();
    expectTypeOf<Sdk<sdk.ErrorDetail>[] | undefined>().toEqualTypeOf<
      Server<typeof core.errorSchema>['details'] | undefined
    >();
  });

  it('of requests are those of the server', () => {
    expectTypeOf<Sent<sdk.PaymentRequest>>().toEqualTypeOf<Taken<typeof core.paymentBody>>();
    expectTypeOf<Sent<sdk.VerifyRequest>>().toEqualTypeOf<Taken<typeof core.verifyBody>>();
    expectTypeOf<Sent<sdk.SandboxPassportRequest>>().toEqualTypeOf<Taken<typeof core.sandboxPassportBody>>();
    expectTypeOf<Sent<sdk.RecoverRequest>>().toEqualTypeOf<Taken<typeof hooks.recoverBody>>();
    expectTypeOf<Sent<sdk.RedeliverRequest>>().toEqualTypeOf<Taken<typeof hooks.redeliverBody>>();
    expectTypeOf<Sent<sdk.SandboxEventRequest>>().toEqualTypeOf<
      Taken<ReturnType<typeof hooks.sandboxEventBody>>
    >();
    expectTypeOf<Sent<sdk.TakeRequest>>().toEqualTypeOf<Taken<typeof inbox.takeBody>>();
    expectTypeOf<Sent<sdk.AnswerRequest>>().toEqualTypeOf<Taken<typeof inbox.answerBody>>();
    // Ignores that the server requires at least one event type in the list.
    type Registration = Taken<ReturnType<typeof hooks.endpointBody>>;
    expectTypeOf<keyof sdk.WebhookRequest>().toEqualTypeOf<keyof Registration>();
    expectTypeOf<Registration>().toExtend<sdk.WebhookRequest>();
    type Changes = Taken<ReturnType<typeof hooks.endpointChanges>>;
    expectTypeOf<keyof sdk.WebhookChanges>().toEqualTypeOf<keyof Changes>();
    expectTypeOf<Changes>().toExtend<sdk.WebhookChanges>();
    expectTypeOf<Text<Sent<sdk.PaymentQuery>>>().toEqualTypeOf<Taken<typeof core.listQuery>>();
    expectTypeOf<Text<Sent<sdk.DeliveryQuery>>>().toEqualTypeOf<Taken<typeof hooks.deliveriesQuery>>();
    expectTypeOf<Text<Sent<sdk.EventQuery>>>().toEqualTypeOf<Taken<typeof hooks.eventsQuery>>();
    expectTypeOf<NonNullable<keyof books.ReconciliationRange> | 'format'>().toEqualTypeOf<
      keyof Taken<typeof core.reconciliationQuery>
    >();
    expectTypeOf<books.ReconciliationFormat>().toEqualTypeOf<
      NonNullable<Taken<typeof core.reconciliationQuery>['format']>
    >();
  });

  it('of userinfo are those of the scopes', () => {
    type Fields = {
      [Scope in keyof typeof scopes]: keyof (typeof scopes)[Scope]['fields'];
    }[keyof typeof scopes];
    type Ready = {
      [Scope in keyof typeof readyScopes]: keyof (typeof readyScopes)[Scope]['claims'];
    }[keyof typeof readyScopes];
    expectTypeOf<keyof Userinfo>().toEqualTypeOf<Fields | Ready>();
    expectTypeOf<Userinfo<'openid' | 'wallet:balance'>['htgBalance']>().toEqualTypeOf<string>();
    expectTypeOf<Userinfo<'openid' | 'profile'>['name']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Userinfo<'openid'>['name']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Userinfo<'kyc'>['kycTier']>().toEqualTypeOf<number | undefined>();
  });

  it('are strict for requests and tolerant for responses', () => {
    expectTypeOf<number>().not.toExtend<sdk.PaymentRequest['amount']>();
    expectTypeOf<'EUR'>().not.toExtend<sdk.PaymentRequest['currency']>();
    expectTypeOf<'state'>().not.toExtend<keyof sdk.PaymentQuery>();
    // Query with a day or a range.
    expectTypeOf<{ date: string; from: string; to: string }>().not.toExtend<books.ReconciliationRange>();
    expectTypeOf<{ from: string; to: string }>().toExtend<books.ReconciliationRange>();
    const newer: sdk.Transfer['status'] = 'reversed';
    expectTypeOf(newer).not.toBeAny();
  });
});
