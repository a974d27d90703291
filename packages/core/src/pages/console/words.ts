import type { Fragment, Html } from '../html.ts';

/** What has just happened. */
export type Notice =
  | 'signed_out'
  | 'ended'
  | 'sent'
  | 'redelivered'
  | 'no_match'
  | 'disabled'
  | 'gone'
  | 'endpoint_added'
  | 'endpoint_enabled'
  | 'endpoint_disabled'
  | 'endpoint_removed';

/** Where a delivery is; `none`: no endpoint took the event. */
export type StateName = 'pending' | 'delivered' | 'dropped' | 'cancelled' | 'none';

/** Every word of the sandbox console; why attempts fail is said in `failures.ts`. */
export interface ConsoleWords {
  readonly title: string;
  readonly testMode: string;
  readonly signOut: string;
  readonly back: string;
  readonly cancel: string;
  readonly live: string;
  readonly lost: string;
  readonly reload: string;
  readonly notices: { readonly [N in Notice]: string };
  readonly signIn: {
    readonly title: string;
    readonly intro: (prefix: Fragment) => Html;
    readonly key: string;
    readonly submit: string;
    readonly refused: (prefix: Fragment) => Html;
    readonly tooMany: string;
    readonly promise: string;
  };
  readonly endpoints: {
    readonly title: string;
    readonly add: string;
    readonly emptyTitle: string;
    readonly empty: string;
    readonly enabled: string;
    readonly disabled: string;
    readonly allTypes: string;
    readonly enable: string;
    readonly disable: string;
    readonly disableHint: string;
    readonly remove: string;
    readonly removeHint: string;
    readonly removeNow: string;
    readonly removed: string;
    readonly since: (time: Fragment) => Html;
    readonly addTitle: string;
    readonly url: string;
    readonly urlHint: string;
    readonly secret: string;
    readonly secretHint: string;
    readonly types: string;
    readonly refused: string;
    readonly badUrl: string;
    readonly badSecret: string;
    readonly badTypes: string;
  };
  readonly trigger: {
    readonly title: string;
    readonly intro: string;
    readonly type: string;
    readonly send: string;
    readonly edit: string;
    readonly editTitle: string;
    readonly data: string;
    readonly dataHint: string;
    readonly refused: string;
    readonly notObject: string;
  };
  readonly events: {
    readonly title: string;
    readonly emptyTitle: string;
    readonly empty: string;
    readonly newer: string;
    readonly older: string;
    readonly body: string;
    readonly bodyHint: string;
    readonly sequence: (number: Fragment) => Html;
    readonly redeliverAll: string;
    readonly redeliverHint: string;
  };
  readonly deliveries: {
    readonly title: string;
    readonly emptyTitle: string;
    readonly emptyEvent: string;
    readonly emptyEndpoint: string;
    readonly again: string;
    readonly states: { readonly [S in StateName]: string };
    readonly count: (number: number, state: StateName) => string;
    readonly more: string;
    /** Follows counts that do not reach back to the first delivery. */
    readonly andOlder: string;
    readonly attempt: (number: Fragment, of: Fragment) => Html;
    readonly attemptBeyond: (number: Fragment) => Html;
    readonly succeeded: string;
    readonly noStatus: string;
    readonly whatToDo: string;
    readonly answer: (bytes: Fragment) => Html;
    readonly answerCut: string;
    readonly answerTo: (number: number) => string;
    readonly noAnswer: string;
    readonly next: (time: Fragment) => Html;
    readonly underWay: string;
    readonly dropped: string;
    readonly cancelled: string;
  };
  /** Said to those who hear the page, when it changes by itself. */
  readonly said: {
    readonly event: (type: string, state: string) => string;
    readonly deliveries: (states: string) => string;
    readonly endpoint: (state: string) => string;
    readonly nothing: string;
  };
}
